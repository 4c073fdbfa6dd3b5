"""Code objects: ELF, kernel descriptors, source lines, disassembly, names and instruction classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavescope.codeobj.code_object import CodeObject, Function, Kernel

__all__ = ["CodeObject", "Function", "Kernel"]


def __getattr__(name: str) -> object:
    """Instruction classes are often wanted without ELF and DWARF, whose readers take long to import."""
    if name not in __all__:
        what = f"module 'wavescope.codeobj' has no attribute {name!r}"
        raise AttributeError(what)
    from wavescope.codeobj import code_object

    value: object = getattr(code_object, name)
    globals()[name] = value
    return value
