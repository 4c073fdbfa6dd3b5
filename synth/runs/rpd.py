"""Simulated runs as an RPD database with all ranks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from synth.databases import new_databases
from synth.rpd import RpdTables
from synth.runs.places import place_of
from synth.runs.rocpd import kernels_of, step_of

if TYPE_CHECKING:
    from os import PathLike

    from synth.run_events import Place
    from synth.runs.events import SimulatedRun

__all__ = ["write_rpd"]


@dataclass(frozen=True)
class _Recorded:
    place: Place


def write_rpd(run: SimulatedRun, folder: str | PathLike[str]) -> list[Path]:
    """Write `trace.rpd` into a folder, which is made if missing; as in real files it has no ranks."""
    path = Path(folder) / "trace.rpd"
    path.parent.mkdir(parents=True, exist_ok=True)
    names: dict[str, int] = {}
    places = [place_of(run, rank) for rank in range(len(run.program.ranks))]
    steps = [step_of(run, place.rank, place, names) for place in places]
    with new_databases([path]) as opened:
        tables = RpdTables(opened[path], kernels_of(names), len(places), 3)
        for place, step in zip(places, steps, strict=True):
            tables.add(_Recorded(place), step)
        tables.finish()
    return [path]
