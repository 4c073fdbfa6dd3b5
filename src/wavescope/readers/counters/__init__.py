"""Hardware counters per dispatch, from the files of every generation of AMD's profilers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wavescope.errors import UsageError
from wavescope.model.counter_set import CounterSet, System
from wavescope.readers.counters._assembled import assembled
from wavescope.readers.counters._ceilings import read_ceilings
from wavescope.readers.counters._execution import wide_pass
from wavescope.readers.counters._long import is_long, long_passes
from wavescope.readers.counters._system import first_rows, system_of_rows
from wavescope.readers.counters._table import read_table

if TYPE_CHECKING:
    import os

    from wavescope.model.losses import Loss
    from wavescope.readers.counters._execution import Pass

__all__ = ["open_counters"]


def open_counters(path: str | os.PathLike[str]) -> CounterSet:
    """Open a capture of hardware counters; all files below a folder are passes over the same program.

    Passes are joined by dispatch and never added up. What is missing, damaged or cannot be true is a row of `losses`.

    Raises
    ------
    UsageError
        When the path does not exist, or the folder holds several captures.
    NotATraceError
        When there are no counters.

    Examples
    --------
    >>> open_counters("/nowhere")
    Traceback (most recent call last):
    wavescope.errors.UsageError: /nowhere: no such file or folder
    """
    place = Path(path)
    if not place.exists():
        what = "no such file or folder"
        raise UsageError(what, where=str(place))
    losses: list[Loss] = []
    folder = place if place.is_dir() else place.parent
    passes: list[Pass] = []
    for file in _files(place):
        passes += _passes_of(file, losses)
    about = folder / "sysinfo.csv"
    rows = first_rows(about, 1)
    system = system_of_rows(rows[0], about.name) if rows else System()
    ceilings = folder / "roofline.csv"
    return assembled(
        passes, system, losses, path=str(place), ceilings=read_ceilings(ceilings) if ceilings.is_file() else None
    )


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    joined = [file for name in ("pmc_perf.csv", "pmc_perf.csv.gz") if (file := place / name).is_file()][:1]
    levels = sorted(file for pattern in ("SQ*.csv", "SQ*.csv.gz") for file in place.rglob(pattern))
    times = [file for file in [place / "timestamps.csv"] if file.is_file()]
    return joined + levels + times


def _passes_of(file: Path, losses: list[Loss]) -> list[Pass]:
    table = read_table(file)
    losses += table.losses
    name = file.name.split(".csv", 1)[0]
    if is_long(table):
        return long_passes(table, name, losses)
    return [wide_pass(table, name, is_joined=name == "pmc_perf", losses=losses)]
