"""Where the steps of a run are, and where its start-up ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.run.diagnose.host import time_within
from wavescope.analysis.run.diagnose.work import COMPUTE
from wavescope.analysis.run.intervals import gaps_between, merged

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEFORE = 0.2  #: Share of the window that start-up takes at least; and of the computation that it may hold.
_LONG_STEP = 2.0
_EARLY = 0.1
_ROUNDS = 3


@dataclass(frozen=True)
class Pace:
    """The beginning of the measured part of one GPU."""

    place: int
    start_ns: int  #: Of its work.
    steady_ns: int  #: End of the start-up; the same as the start where there is none.
    early_ns: int  #: End of the first step, or of the first tenth.
    end_ns: int
    why: str  #: What start-up was recognised by; empty = there is none.


def paces(work: pl.DataFrame, steps: dict[int, list[tuple[int, int]]]) -> Iterator[Pace]:
    """The pace of each GPU; `steps` are those of its process, in order, where known."""
    for (place,), of_gpu in work.group_by("place", maintain_order=True):
        start, end = int(of_gpu["start_ns"].min()), int(of_gpu["end_ns"].max())  # type: ignore[arg-type]
        known = steps.get(int(place), [])  # type: ignore[call-overload]
        steady, why = _after_steps(start, end, known) if len(known) > 1 else _after_gaps(of_gpu, start, end)
        later = [begin for begin, _ in known if begin > steady][:1] if len(known) > 1 else []
        early = max(steady, later[0]) if later else steady + int((end - steady) * _EARLY)
        yield Pace(int(place), start, steady, early, end, why)  # type: ignore[call-overload]


def _after_steps(start: int, end: int, steps: list[tuple[int, int]]) -> tuple[int, str]:
    first, second = steps[0], steps[1]
    if first[0] - start > _BEFORE * (end - start):
        return first[0], "it is before the first step"
    lengths = sorted(stop - begin for begin, stop in steps)
    median = lengths[len(lengths) // 2]
    if len(steps) > 2 and first[1] - first[0] > _LONG_STEP * median and second[0] > start:
        return second[0], f"the first step takes {(first[1] - first[0]) / max(median, 1):.1f} times the median"
    return start, ""


def _after_gaps(work: pl.DataFrame, start: int, end: int) -> tuple[int, str]:
    """After the longest gap, if it takes much of the window and little is computed before it ends."""
    gaps = gaps_between(work.select("start_ns", "end_ns"), []).sort("gap_ns", descending=True).head(100)
    compute = merged(work.filter(pl.col("kind") == COMPUTE), [])
    total = int((compute["end_ns"] - compute["start_ns"]).sum() or 0)
    steady = start
    for _ in range(_ROUNDS):
        longest = gaps.filter(pl.col("gap_start_ns") >= steady).head(1)
        if not longest.height or longest["gap_ns"][0] < _BEFORE * (end - steady):
            break
        until = int(longest["gap_start_ns"][0] + longest["gap_ns"][0])
        before = time_within(compute, pl.DataFrame({"start_ns": [start], "end_ns": [until]}), [])[0]
        if before > _BEFORE * total or until >= end:
            break
        steady = until
    return steady, "it is a long gap before the computation" if steady > start else ""
