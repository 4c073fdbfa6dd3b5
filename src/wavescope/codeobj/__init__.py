"""Code objects: ELF, kernel descriptors, source lines, disassembly, names and instruction classes."""

from __future__ import annotations
