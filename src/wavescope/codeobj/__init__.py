"""Code objects: ELF, kernel descriptors, source lines, disassembly, names and instruction classes."""

from wavescope.codeobj.code_object import CodeObject, Function, Kernel

__all__ = ["CodeObject", "Function", "Kernel"]
