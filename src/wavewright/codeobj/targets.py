"""GPU targets: the numbers that ELF headers use for them, and the families whose instructions they share."""

from __future__ import annotations

import re

#: EF_AMDGPU_MACH, the low byte of `e_flags` -> target (AMDGPUUsage of LLVM, "ELF Header").
TARGET_OF_MACH: dict[int, str] = {
    0x28: "gfx801",  # up to gfx810 only LLVM disassembles, and nothing decodes traces
    0x29: "gfx802",
    0x2A: "gfx803",
    0x2B: "gfx810",
    0x2C: "gfx900",
    0x2D: "gfx902",
    0x2E: "gfx904",
    0x2F: "gfx906",
    0x30: "gfx908",
    0x31: "gfx909",
    0x32: "gfx90c",
    0x33: "gfx1010",
    0x34: "gfx1011",
    0x35: "gfx1012",
    0x36: "gfx1030",
    0x37: "gfx1031",
    0x38: "gfx1032",
    0x39: "gfx1033",
    0x3C: "gfx805",
    0x3D: "gfx1035",
    0x3E: "gfx1034",
    0x3F: "gfx90a",
    0x41: "gfx1100",
    0x42: "gfx1013",
    0x43: "gfx1150",
    0x44: "gfx1103",
    0x45: "gfx1036",
    0x46: "gfx1101",
    0x47: "gfx1102",
    0x48: "gfx1200",
    0x49: "gfx1250",
    0x4A: "gfx1151",
    0x4C: "gfx942",
    0x4E: "gfx1201",
    0x4F: "gfx950",
    0x51: "gfx9-generic",
    0x52: "gfx10-1-generic",
    0x53: "gfx10-3-generic",
    0x54: "gfx11-generic",
    0x55: "gfx1152",
    0x58: "gfx1153",
    0x59: "gfx12-generic",
    0x5A: "gfx1251",
    0x5F: "gfx9-4-generic",
}

#: Families with one instruction set and one table of instruction classes each.
FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250")

_NUMBERED = re.compile(r"gfx(9|1[0-2])([0-9a-f])([0-9a-f])\b")
_GENERIC = re.compile(r"gfx(9|1[0-2])(-[0-9]+)?-generic\b")


def family_of(target: str) -> str | None:
    """Family of a target or target id, None for a target outside the known generations.

    Examples
    --------
    >>> family_of("gfx942"), family_of("gfx1030"), family_of("gfx1201"), family_of("gfx1251"), family_of("gfx803")
    ('gfx9', 'gfx10', 'gfx12', 'gfx1250', None)
    """
    match = _NUMBERED.match(target)
    if match:
        major, minor = match[1], match[2]
        return "gfx1250" if (major, minor) == ("12", "5") else f"gfx{major}"
    generic = _GENERIC.match(target)
    if generic:
        return "gfx1250" if (generic[1], generic[2]) == ("12", "-5") else f"gfx{generic[1]}"
    return None
