"""Simulated runs for tests: simulated once, written in the formats, opened."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from synth.runs import SimulatedRun, planted, simulate, write_csv, write_kineto, write_rocpd, write_rpd
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from synth.runs import Planted
    from wavewright.model.run import Run

FORMS: dict[str, Callable[[SimulatedRun, Path], list[Path]]] = {
    "rocpd": write_rocpd,
    "kineto": write_kineto,
    "rpd": write_rpd,
    "csv": write_csv,
}


@lru_cache(maxsize=16)
def simulated(cause: str, seed: int, ranks: int = 8) -> tuple[SimulatedRun, SimulatedRun]:
    """A run with the cause and its twin without."""
    pair: Planted = planted(cause, seed, ranks)
    return simulate(pair.program), simulate(pair.twin)


def opened(run: SimulatedRun, folder: Path, form: str) -> Run:
    """A run after it was written and read."""
    FORMS[form](run, folder)
    return open_run(folder)
