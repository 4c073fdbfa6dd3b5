"""GPU targets: the numbers that ELF headers use for them, and the families whose instructions they share."""

from __future__ import annotations

import re

from wavewright.base.toml import packaged

#: EF_AMDGPU_MACH, the low byte of `e_flags` -> target.
TARGET_OF_MACH: dict[int, str] = {number: target for target, number in packaged("targets.toml", __package__).items()}
#: Families with one instruction set and one table of instruction classes each.
FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250")
_NUMBERED = re.compile(r"gfx(9|1[0-2])([0-9a-f])([0-9a-f])\b")
_GENERIC = re.compile(r"gfx(9|1[0-2])(-[0-9]+)?-generic\b")


def family_of(target: str) -> str | None:
    """Family of a target or target id, None for a target outside the known generations.

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
