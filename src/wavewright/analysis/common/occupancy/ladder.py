"""From the waves that fit to the most that the hardware holds: what has to shrink for each wave more."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wavewright.analysis.common.occupancy.limits import Resources, Step, limits
from wavewright.facts.gpus.facts import Arch

_MOST_RUNGS = 64  # no hardware holds more waves per SIMD


@dataclass(frozen=True)
class Rung:
    """A number of waves per SIMD, and the most that a wave or workgroup may have for it; None = no obstacle so far."""

    waves_per_simd: int
    vgprs_at_most: int | None = None  #: Of the file of a SIMD: with accumulation registers where the file is unified.
    sgprs_at_most: int | None = None
    lds_bytes_at_most: int | None = None


def ladder(arch: Arch, resources: Resources, *, wgp_mode: bool = True) -> tuple[Rung, ...]:
    """The rungs above what fits now, each after all steps of those below it.

    Raises `UsageError` when no wave can have these resources.

    >>> from wavewright.analysis.common.occupancy.limits import Resources
    >>> from wavewright.facts import gpus
    >>> [(rung.waves_per_simd, rung.vgprs_at_most) for rung in ladder(gpus.of("gfx942"), Resources(vgprs=140))]
    [(4, 128), (5, 96), (6, 80), (7, 72), (8, 64)]
    """
    rungs: list[Rung] = []
    most: dict[str, int] = {}
    for _ in range(_MOST_RUNGS):
        answer = limits(arch, resources, wgp_mode=wgp_mode)
        if answer.next_waves_per_simd is None:
            break
        for step in answer.steps:
            most[step.resource] = step.at_most
            resources = _reduced(resources, step)
        if not answer.steps or min(most.values()) <= 0:  # another workgroup size would be needed
            break
        rungs.append(Rung(answer.next_waves_per_simd, most.get("VGPR"), most.get("SGPR"), most.get("LDS")))
    return tuple(rungs)


def _reduced(resources: Resources, step: Step) -> Resources:
    if step.resource == "VGPR":
        return replace(resources, vgprs=step.at_most, agprs=0)
    if step.resource == "SGPR":
        return replace(resources, sgprs=step.at_most)
    return replace(resources, lds_bytes=step.at_most)
