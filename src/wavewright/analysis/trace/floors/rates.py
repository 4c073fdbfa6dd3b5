"""Least cycles of each pipe for an instruction, with the evidence: the fastest that hardware was seen to do.

A floor must hold on every GPU of the generation, so where a rate is not certain the faster one counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from wavewright.analysis.trace.pipes import base_clock
from wavewright.codeobj.targets import family_of
from wavewright.facts import gpus
from wavewright.facts.lanes.rule_facts import CONFIDENCES

#: Categories (`model.schema.CATEGORIES`) -> the pipe that issues them. Waits, padding and messages need no pipe.
PIPE_OF_CATEGORY: Final = {
    "VALU": "VALU",
    "SALU": "SCALAR",
    "SMEM": "SCALAR",
    "VMEM": "VMEM issue",
    "FLAT": "VMEM issue",
    "LDS": "LDS issue",
    "JUMP": "BRANCH",
    "NEXT": "BRANCH",
}
#: Every pipe that has a floor: those of waves and SIMDs first, then those that the SIMDs of a CU share.
PIPES: Final = ("issue", "VALU", "MATRIX", "SCALAR", "VMEM issue", "LDS issue", "BRANCH", "LDS", "L1")
#: Of these, the pipes whose time depends on the addresses of lanes.
LANE_PIPES: Final = ("LDS", "L1")
#: On these the scalar pipe takes arithmetic and loads one at a time; later SIMDs may issue both at once.
_ONE_SCALAR_PORT: Final = 9
_LDS_HALVES: Final = 2  #: Of a workgroup processor (gfx10 and later).


@dataclass(frozen=True)
class Rate:
    """Best rate of a pipe."""

    per_step: int  #: Instructions that it takes at once.
    confidence: str  #: One of CONFIDENCES.
    evidence: str


def counts_scalar_loads(gfxip: int) -> bool:
    """True if scalar loads take the port of scalar arithmetic."""
    return gfxip == _ONE_SCALAR_PORT


def takes_declared_cycles(pipe: str, gfxip: int) -> bool:
    """True if an instruction occupies the pipe for its declared cycles; slow vector instructions of RDNA run beside."""
    return pipe == "MATRIX" or (pipe == "VALU" and gfxip == _ONE_SCALAR_PORT)


def lds_units(gfxip: int) -> int:
    """LDS pipes behind the SIMDs that a trace calls a CU."""
    return 1 if gfxip == _ONE_SCALAR_PORT else _LDS_HALVES


def rate_of(pipe: str, gfxip: int, targets: tuple[str, ...]) -> Rate:
    """The rate of a pipe of waves and SIMDs; `targets` = those that the GPU may be, none = not known.

    >>> rate_of("VALU", 9, ("gfx942",)).per_step, rate_of("VALU", 9, ("gfx90a",)).per_step
    (2, 1)
    """
    clock = "cycle" if base_clock(gfxip) == 1 else f"{base_clock(gfxip)} cycles"
    if pipe == "issue":
        return Rate(1, "published", f"a wave issues one instruction in {clock}; waits and padding are not counted")
    if pipe == "MATRIX":
        return Rate(1, "published", "cycles by LLVM's schedule model and the GPU's peak rates")
    if pipe == "VALU" and (most := _valu_issues_max(gfxip, targets)) > 1:
        evidence = f"a SIMD takes vector instructions of {most} waves in {clock} (traces of MI300X and MI350X)"
        return Rate(most, "published", evidence)
    return Rate(1, "published", f"a SIMD issues one instruction to a pipe in {clock}")


def _valu_issues_max(gfxip: int, targets: tuple[str, ...]) -> int:
    """Of the targets that the GPU may be, of its generation where none is known, the most: a floor must hold."""
    possible = targets or [target for target in gpus.TARGETS if family_of(target) == f"gfx{gfxip}"]
    return max((gpus.of(target).valu_issues_max for target in possible), default=1)


def weakest(confidences: list[str]) -> str:
    """The weakest of some confidences."""
    return max(confidences, key=CONFIDENCES.index)
