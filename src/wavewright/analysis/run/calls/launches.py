"""Links from runtime calls to the GPU work that they launched, by process and correlation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.measures.event_rows import first_label
from wavewright.facts.loader import packaged
from wavewright.model.answer import Answer, once_per_run
from wavewright.model.run import Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import empty_frame

#: Domains of calls into a runtime; all other regions (markers, operators, frames) describe the application.
API_DOMAINS = ("HIP", "HSA", "RCCL", "NCCL", "CUDA", "ROCDECODE", "ROCJPEG", "RUNTIME")

#: Calls that make a stream wait for an event or a value of memory.
STREAM_WAITS = r"(?i)streamwait|stream_wait"

_KEYS = ["process", "correlation"]
_WORK = ("dispatches", "copies")
_SMALL_ARRAY = 1 << 16  #: An array of up to this many cells is used however sparse the correlations are.
#: Kind of call -> names of functions of that kind; the first that fits.
CAUSES: dict[str, str] = packaged("causes.toml", __package__)


def region_pieces(run: Run, columns: Sequence[str]) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Regions in chunks: calls into a runtime, and all others; with their `domain`."""
    is_call = pl.col("domain").is_in(API_DOMAINS).fill_null(value=False)
    for piece in run.chunks("regions", ["domain", *columns]):
        yield piece.filter(is_call), piece.filter(~is_call)


class Launches:
    """The calls that launched some work, by process and correlation.

    Each (process, correlation) of the work has a slot for the times of its call. Profilers number calls without large
    gaps, so the slot is looked up in an array; only where correlations are sparse, it is found by a join.
    """

    def __init__(self, work: pl.DataFrame) -> None:
        keys = work.select(_KEYS).drop_nulls()
        low, high = keys["correlation"].min(), keys["correlation"].max()
        self._low = int(low or 0)  # type: ignore[arg-type]
        self._width = int(high or 0) - self._low + 1  # type: ignore[arg-type]
        self._processes = int(keys["process"].max() or 0) + 1  # type: ignore[arg-type]
        cells = self._width * self._processes
        self._slots: pl.Series | pl.DataFrame  #: The slot of each cell (null = none), or a table of keys and `slot`.
        if cells <= max(_SMALL_ARRAY, 8 * keys.height):  # on average at most 8 cells for each key
            present = pl.repeat(0, cells, dtype=pl.UInt32, eager=True).scatter(self._cells(keys), 1)
            count = int(present.sum())
            numbers = present.cum_sum().cast(pl.UInt32)
            self._slots = pl.select(pl.when(pl.lit(present) == 1).then(pl.lit(numbers) - 1)).to_series()
        else:
            self._slots = keys.unique(maintain_order=True).with_row_index("slot")
            count = self._slots.height
        self.count = count
        self._starts = pl.repeat(None, count, dtype=pl.Int64, eager=True)
        self._ends = self._starts.clone()
        self._threads = pl.repeat(None, count, dtype=pl.UInt32, eager=True)

    def _cells(self, frame: pl.DataFrame) -> pl.Series:
        offset = pl.col("correlation") - self._low
        is_inside = offset.is_between(0, self._width - 1) & (pl.col("process") < self._processes)
        cell = pl.col("process").cast(pl.Int64) * self._width + offset
        return frame.select(pl.when(is_inside).then(cell)).to_series()

    def slots_of(self, frame: pl.DataFrame) -> pl.Series:
        """The number of the launch that each row belongs to, of `count`; null = none."""
        if isinstance(self._slots, pl.Series):
            return self._slots.gather(self._cells(frame))
        return frame.select(_KEYS).join(self._slots, on=_KEYS, how="left", maintain_order="left")["slot"]

    def add(self, calls: pl.DataFrame) -> None:
        """Add the calls that launched some of the work; the first of several counts."""
        launching = calls.select("start_ns", "end_ns", "thread", slot=self.slots_of(calls)).drop_nulls("slot")
        is_free = self._starts.gather(launching["slot"]).is_null()
        first = launching.filter(is_free & launching["slot"].is_first_distinct())
        self._starts.scatter(first["slot"], first["start_ns"])
        self._ends.scatter(first["slot"], first["end_ns"])
        self._threads.scatter(first["slot"], first["thread"])

    @property
    def calls(self) -> pl.DataFrame:
        """`thread` and `start_ns` of the calls so far, sorted by time."""
        calls = pl.DataFrame({"thread": self._threads, "start_ns": self._starts})
        return calls.filter(pl.col("start_ns").is_not_null()).sort("start_ns")

    def of(self, work: pl.DataFrame) -> pl.DataFrame:
        """`launch_start_ns`, `launch_end_ns` and `launch_thread` for each row; null = unknown."""
        slots = self.slots_of(work)
        times = {"launch_start_ns": self._starts.gather(slots), "launch_end_ns": self._ends.gather(slots)}
        return pl.DataFrame(times | {"launch_thread": self._threads.gather(slots)})


def without_launch(*, has_calls: bool) -> str:
    """Words for the launch of work that no recorded call is known to have launched."""
    return "not linked to a call" if has_calls else "not recorded"


def work_rows(run: Run, columns: Sequence[str]) -> pl.DataFrame:
    """These columns of dispatches and of copies, one below the other."""
    empty = empty_frame(RUN["dispatches"]).select(columns)
    return pl.concat([empty, *(piece.select(columns) for table in _WORK for piece in run.chunks(table, columns))])


def launches_of(run: Run, work: pl.DataFrame) -> Launches:
    """The calls that launched some work of a run; of a run that is cached, they are found once for all of its work."""
    return _cached_launches(run) if run.is_kept else _find_launches(run, work)


@once_per_run
def _cached_launches(run: Run) -> Launches:
    return _find_launches(run, work_rows(run, _KEYS))


def _find_launches(run: Run, work: pl.DataFrame) -> Launches:
    launches = Launches(work)
    for calls, _ in region_pieces(run, ["thread", *_KEYS, "start_ns", "end_ns"]) if launches.count else ():
        launches.add(calls)
    return launches


def outermost(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls of every `thread` that no earlier call encloses, sorted; overlapping starts are cut."""
    ordered = calls.sort("thread", "start_ns", "end_ns", descending=[False, False, True], maintain_order=True)
    reached = pl.col("end_ns").cum_max().shift(1).over("thread").fill_null(pl.col("start_ns"))
    ordered = ordered.with_columns(pl.max_horizontal("start_ns", reached).alias("start_ns"))
    return ordered.filter(pl.col("end_ns") > pl.col("start_ns"))


def touching(regions: pl.DataFrame, intervals: pl.DataFrame) -> pl.DataFrame:
    """The regions that share some time with one of the `intervals`, which are sorted and do not overlap."""
    ended_before = intervals["end_ns"].search_sorted(regions["start_ns"], side="right")
    started_before_end = intervals["start_ns"].search_sorted(regions["end_ns"], side="left")
    return regions.filter(started_before_end > ended_before)


def cause_of(name: pl.Expr) -> pl.Expr:
    """The kind of a call, from the name of its function."""
    kinds = ((cause, name.str.contains(pattern)) for cause, pattern in CAUSES.items())
    return first_label(*kinds, otherwise="other call")


@dataclass(frozen=True, eq=False)
class LaunchFlows(Answer, package=__package__):
    """Calls and the GPU work that they launched."""

    flows: pl.DataFrame
    unknown_count: int  #: Dispatches and copies whose launch is not among the calls.


def launch_flows(run: Run) -> LaunchFlows:
    """The launches of a run."""
    rows = ((run.read(table, _KEYS).with_row_index("work"), pl.lit(table == "copies")) for table in _WORK)
    work = pl.concat(frame.with_columns(is_copy=is_copy) for frame, is_copy in rows)
    is_known = pl.col("correlation").is_not_null() & (pl.col("correlation") != 0)
    known_work = work.filter(is_known)
    launches = Launches(known_work)
    first_calls: list[pl.DataFrame] = [pl.DataFrame(schema={"region": pl.UInt32, "slot": pl.UInt32})]
    count = 0
    for piece in run.chunks("regions", _KEYS):
        calls = piece.with_row_index("region", count).filter(is_known)
        slots = launches.slots_of(calls).cast(pl.UInt32).alias("slot")
        matches = calls.select("region", slots).drop_nulls("slot")
        first_calls.append(matches.unique("slot", keep="first", maintain_order=True))
        count += piece.height
    regions = pl.concat(first_calls).unique("slot", keep="first", maintain_order=True)
    slots = launches.slots_of(known_work).cast(pl.UInt32).alias("slot")
    flows = known_work.with_columns(slots).join(regions, on="slot", maintain_order="left")
    return LaunchFlows(flows.select(LaunchFlows.tables["flows"].names), work.height - flows.height)
