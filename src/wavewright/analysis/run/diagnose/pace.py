"""Steps of a run by its markers, and the end of the start-up of each GPU: the part of the run that is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.measures.intervals import gaps_between, intervals, merged, time_within
from wavewright.analysis.run.select.step_ranges import step_name, steps_by_marker

_STARTUP_SHARE = 0.2  #: Start-up takes at least this share of the window, and has at most this share of the work.
_EARLY_SHARE = 0.1  #: Where no steps are known, this first share of the measured part is early.
_MOST_GAPS = 3  #: Start-up may have at most so many long gaps, one after the other.


def marked_steps(
    markers: pl.DataFrame, windows: dict[int, tuple[int, int]]
) -> dict[int, tuple[str, list[tuple[int, int]]]]:
    """The steps of each process that markers tell, with their name; `markers` have `process`."""
    steps = {}
    named = intervals(markers.with_columns(pl.col("name").cast(pl.String)).drop_nulls("name"), ["process"])
    of_process = {key[0]: frame for key, frame in named.partition_by("process", as_dict=True).items()}
    for process, (start, end) in windows.items():
        if process in of_process:
            _, chosen = steps_by_marker(of_process[process], start, end)
            if chosen.height:
                spans = list(chosen.select("start_ns", "end_ns").iter_rows())
                steps[process] = (step_name(str(chosen["name"][0])), spans)
    return steps


@dataclass(frozen=True)
class Pace:
    """The start of the measured part of one GPU."""

    place: int
    start_ns: int  #: Of its work.
    steady_ns: int  #: End of the start-up; the same as the start where there is none.
    early_ns: int  #: End of the first step, or of the first tenth.
    end_ns: int
    why: str  #: What start-up was recognised by; empty = there is none.

    @classmethod
    def of_window(cls, place: int, start_ns: int, end_ns: int) -> Pace:
        """The pace of a GPU in a chosen window: nothing is left out, and nothing is early."""
        return cls(place, start_ns, start_ns, start_ns, end_ns, "")


def pace_of(paces_by_place: Mapping[int, Pace], time: str) -> pl.Expr:
    """A time of the pace of the GPU that `place` names; null = the GPU has none."""
    times = {place: getattr(pace, time) for place, pace in paces_by_place.items()}
    return pl.col("place").replace_strict(times, default=None, return_dtype=pl.Int64)


def paces(work: pl.DataFrame, steps: dict[int, list[tuple[int, int]]]) -> Iterator[Pace]:
    """The pace of each GPU; `steps` are those of its process, in order, where known."""
    for (place,), of_gpu in work.group_by("place", maintain_order=True):
        start, end = int(of_gpu["start_ns"].min()), int(of_gpu["end_ns"].max())  # type: ignore[arg-type]
        spans = steps.get(int(place), [])
        busy = merged(of_gpu, [])
        steady, why = _after_steps(busy, start, end, spans) if len(spans) > 1 else _after_gaps(of_gpu, busy, start, end)
        later = [begin for begin, _ in spans if begin > steady][:1] if len(spans) > 1 else []
        early = max(steady, later[0]) if later else steady + int((end - steady) * _EARLY_SHARE)
        yield Pace(int(place), start, steady, early, end, why)


def _is_little(busy: pl.DataFrame, start: int, until: int) -> bool:
    """True if the GPU does little of its work before a time, copies included."""
    before = time_within(busy, pl.DataFrame({"start_ns": [start], "end_ns": [until]}), [])[0]
    return bool(before <= _STARTUP_SHARE * int((busy["end_ns"] - busy["start_ns"]).sum()))


def _after_steps(busy: pl.DataFrame, start: int, end: int, steps: list[tuple[int, int]]) -> tuple[int, str]:
    """The end of start-up and the reason (see `Pace.why`): the first step, if what is before it is long and idle."""
    first = steps[0][0]
    is_startup = first - start > _STARTUP_SHARE * (end - start) and _is_little(busy, start, first)
    return (first, "it is before the first step") if is_startup else (start, "")


def _after_gaps(work: pl.DataFrame, busy: pl.DataFrame, start: int, end: int) -> tuple[int, str]:
    """After the longest gap, if it takes much of the window, little is done before, and its launch is recorded."""
    gaps = gaps_between(work.select("interval", "start_ns", "end_ns", "launch_start_ns"), ["interval"])
    gaps = gaps.filter(pl.col("launch_start_ns").is_not_null()).sort("gap_ns", descending=True).head(100)
    steady = start
    for _ in range(_MOST_GAPS):
        longest = gaps.filter(pl.col("gap_start_ns") >= steady).head(1)
        if not longest.height or longest["gap_ns"][0] < _STARTUP_SHARE * (end - steady):
            break
        until = int(longest["gap_start_ns"][0] + longest["gap_ns"][0])
        if until >= end or not _is_little(busy, start, until):
            break
        steady = until
    return steady, "it is a long gap before the computation" if steady > start else ""
