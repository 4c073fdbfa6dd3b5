"""Contribution of one run to the answer about some kernels: durations, latencies, shapes, curves and counters.

The dispatches are read once, in chunks; only those of kernels whose name matches stay in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from wavewright.analysis.run.calls.launches import launches_of
from wavewright.analysis.run.measures.intervals import bin_width
from wavewright.analysis.run.measures.statistics import Statistics, is_timed, statistics_of
from wavewright.analysis.run.select.choice_rules import name_pattern
from wavewright.analysis.run.select.gpus import GpuIndex, index_gpus, labelled
from wavewright.base.bounds import BINS, ROWS, bounded
from wavewright.model.run import Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import empty_frame

#: Columns of launch size and resources of a kernel.
SHAPE = (
    *(f"{extent}_{axis}" for extent in ("workgroup", "grid") for axis in "xyz"),
    *("lds_bytes", "scratch_bytes", "vgpr_count", "accum_vgpr_count", "sgpr_count"),
)
_LONGEST = ("name", "node", "gpu", "pid", "rank", "stream_id", "dispatch_id", "start_ns", "duration_ns")
_EVENT = ("process", "agent", "stream", "dispatch_id", "start_ns", "end_ns", "event", "correlation")


@dataclass(frozen=True, eq=False, repr=False)
class PartialKernels:
    """The contribution of one run; `name` is the kernel everywhere."""

    durations: Statistics
    latencies: Statistics  #: From the start of the launching call to the start of the dispatch.
    shapes: pl.DataFrame  #: One row per kernel, target and `SHAPE`: see `merged_shapes`.
    users: pl.DataFrame  #: Distinct processes, GPUs and streams.
    bins: pl.DataFrame  #: Calls and times per node and bin of `width`, a power of two: see `_bins`.
    longest: pl.DataFrame  #: The columns of `_LONGEST`.
    counters: pl.DataFrame  #: Per kernel and counter: see `_counters`.
    all_ns: int  #: Durations of all dispatches, of other kernels too.
    bin_count: int
    keep: int  #: How many of the longest dispatches of each kernel there are, at most.


@bounded(bins=BINS, keep=ROWS)
def partial_kernels(run: Run, *, name: str = "", bins: int = 60, keep: int = 20) -> PartialKernels:
    """The contribution of one run: kernels whose name contains `name`, or matches it as /regular expression/.

    `keep` is how many of the longest dispatches of each kernel are told. Raises `UsageError` when `name` is not a
    regular expression.
    """
    matching = _Matching(run, name)
    durations = _named(statistics_of(matching.pieces(), ["name"]), matching)
    events = matching.events()
    gpu_index = index_gpus(run)
    events = events.with_columns(place=gpu_index.numbers.gather(events["agent"])).drop("agent")
    return PartialKernels(
        durations=durations,
        latencies=_named(_latencies(run, events), matching),
        shapes=merged_shapes(matching.shapes),
        users=labelled(run, gpu_index, _with_text(events.select("name", "place", "process", "stream").unique())),
        bins=_bins(events, gpu_index, bins),
        longest=labelled(run, gpu_index, _longest(events, keep)).select(_LONGEST),
        counters=_counters(run, events),
        all_ns=matching.all_ns,
        bin_count=bins,
        keep=keep,
    )


def _with_text(events: pl.DataFrame) -> pl.DataFrame:
    """Events with the text of their `name`, which is then the same in all runs."""
    return events.with_columns(pl.col("name").cast(pl.String))


def _named(statistics: Statistics, matching: _Matching) -> Statistics:
    """Statistics by name instead of by number of a name."""
    names = statistics.sums.select(pl.col("name").cast(pl.UInt32))
    names = names.join(matching.codes, on="name", how="left", maintain_order="left")
    return replace(statistics, sums=statistics.sums.with_columns(name=names["text"]))


class _Matching:
    """The dispatches of the kernels in question, read once."""

    def __init__(self, run: Run, name: str) -> None:
        self.all_ns = 0
        self.shapes: list[pl.DataFrame] = []
        self._run = run
        self._pattern = name_pattern(name)
        self._is_match: dict[str | None, bool] = {}
        self._events: list[pl.DataFrame] = []
        self._codes: list[pl.DataFrame] = []
        self._targets = run.read("agents", ["agent", "target"])

    def pieces(self) -> Iterator[pl.DataFrame]:
        """`name`, `start_ns`, `end_ns` of the dispatches; other columns are collected separately."""
        length = pl.col("end_ns") - pl.col("start_ns")
        for piece in self._run.chunks("dispatches", ["name", *_EVENT, *SHAPE]):
            self.all_ns += int(piece.filter(is_timed()).select(length.sum()).item())
            chosen = piece.filter(self._is_matching(piece))
            if not chosen.height:
                continue
            timed = pl.when(is_timed()).then(length)
            shape = pl.struct(SHAPE).hash()  # one key instead of a dozen
            groups = chosen.lazy().group_by("name", "agent", shape=shape)
            sums = groups.agg(
                pl.col(SHAPE).first(),
                call_count=pl.len().cast(pl.UInt64),
                total_ns=timed.sum(),
                min_ns=timed.min(),
                max_ns=timed.max(),
            ).drop("shape")
            named = sums.with_columns(pl.col("name").cast(pl.String)).collect()
            self.shapes.append(named.join(self._targets, on="agent", how="left").drop("agent"))
            code = pl.col("name").to_physical()
            self._codes.append(chosen.select(pl.col("name").unique()).select(code, text=pl.col("name").cast(pl.String)))
            self._events.append(chosen.select("name", *_EVENT))
            yield chosen.select(code, "start_ns", "end_ns")

    @property
    def codes(self) -> pl.DataFrame:
        """`name` (number of a name) -> `text`."""
        empty = pl.DataFrame(schema={"name": pl.UInt32, "text": pl.String})
        return pl.concat([empty, *self._codes]).unique()

    def events(self) -> pl.DataFrame:
        """The dispatches that were read."""
        columns = ["name", *_EVENT]
        return pl.concat([empty_frame(RUN["dispatches"]).select(columns), *self._events])

    def _is_matching(self, piece: pl.DataFrame) -> pl.Expr:
        for text in piece.select(pl.col("name").unique().cast(pl.String)).to_series():
            if text not in self._is_match:
                self._is_match[text] = text is not None and bool(self._pattern.search(text))
        chosen = pl.Series([text for text, is_chosen in self._is_match.items() if is_chosen], dtype=pl.String)
        return pl.col("name").is_in(chosen.cast(piece.schema["name"]).implode())


def merged_shapes(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Ways in which kernels were launched, of several parts."""
    texts: dict[str, Any] = dict.fromkeys(("name", "target"), pl.String)
    sums: dict[str, Any] = {"call_count": pl.UInt64, "total_ns": pl.Int64, "min_ns": pl.Int64, "max_ns": pl.Int64}
    empty = pl.DataFrame(schema=texts | dict.fromkeys(SHAPE, pl.Int64) | sums)
    groups = pl.concat([empty, *(part.select(empty.columns) for part in parts)]).group_by("name", "target", *SHAPE)
    return groups.agg(pl.col("call_count", "total_ns").sum(), pl.col("min_ns").min(), pl.col("max_ns").max())


def _latencies(run: Run, events: pl.DataFrame) -> Statistics:
    """Time from the start of the launching call to the start of the dispatch; negative times are left out."""
    code = pl.col("name").to_physical()
    waits = events.select(code, end_ns="start_ns")
    waits = waits.hstack(launches_of(run, events).of(events).select(start_ns="launch_start_ns"))
    return statistics_of([waits.filter(pl.col("start_ns") <= pl.col("end_ns"))], ["name"])


def _bins(events: pl.DataFrame, gpu_index: GpuIndex, count: int) -> pl.DataFrame:
    """Calls per kernel and time bin, of every node on its own clock."""
    length = pl.col("end_ns") - pl.col("start_ns")
    timed = events.filter(is_timed()).select("name", "place", "start_ns", "end_ns")
    curves = []
    machines = timed.select("place").unique().join(gpu_index.table, on="place", how="left", nulls_equal=True)
    for (machine,), of_machine in machines.group_by("machine"):
        node_events = timed.filter(pl.col("place").is_in(of_machine["place"].implode(), nulls_equal=True))
        begin, end = node_events["start_ns"].min(), node_events["start_ns"].max()
        width = bin_width(begin, end + 1, count)  # type: ignore[arg-type,operator]  # not empty: numbers
        sums = node_events.group_by("name", bin=pl.col("start_ns") // width).agg(
            call_count=pl.len().cast(pl.UInt64), total_ns=length.sum(), min_ns=length.min(), max_ns=length.max()
        )
        texts = pl.col("name").cast(pl.String)
        curves.append(sums.with_columns(texts, machine=pl.lit(machine, pl.String), width=pl.lit(width, pl.Int64)))
    columns: dict[str, Any] = dict.fromkeys(("bin", "total_ns", "min_ns", "max_ns", "width"), pl.Int64)
    empty = pl.DataFrame(schema={"name": pl.String, "machine": pl.String, "call_count": pl.UInt64} | columns)
    return pl.concat([empty, *(part.select(empty.columns) for part in curves)])


def _longest(events: pl.DataFrame, keep: int) -> pl.DataFrame:
    """The longest dispatches of each kernel."""
    timed = events.with_row_index("row").filter(is_timed())
    length = (pl.col("end_ns") - pl.col("start_ns")).alias("duration_ns")
    ordered = timed.select("row", "name", length).sort("duration_ns", descending=True, maintain_order=True)
    chosen = ordered.group_by("name", maintain_order=True).head(keep)
    return _with_text(events[chosen["row"]]).with_columns(chosen["duration_ns"])


def _counters(run: Run, events: pl.DataFrame) -> pl.DataFrame:
    """Hardware counters per kernel: their values summed over instances, then over dispatches."""
    keys = ["process", "event"]
    named = events.select("name", *keys).drop_nulls()
    sums = [
        piece.join(named, on=keys).group_by(*keys, "counter", "name").agg(pl.col("value").sum())
        for piece in run.chunks("counters", [*keys, "counter", "value"])
    ]
    titles = run.read("counter_info", ["counter", "name"]).rename({"name": "counter_name"})
    schema = {
        "process": pl.UInt32,
        "event": pl.Int64,
        "counter": pl.UInt32,
        "name": pl.Categorical,
        "value": pl.Float64,
    }
    per_dispatch = pl.concat([pl.DataFrame(schema=schema), *sums]).group_by(*keys, "counter", "name")
    return (
        per_dispatch.agg(pl.col("value").sum())
        .join(titles, on="counter", how="left")
        .group_by(pl.col("name").cast(pl.String), counter="counter_name")
        .agg(
            dispatch_count=pl.len().cast(pl.UInt64),
            value_sum=pl.col("value").sort().sum(),  # one order: the sum does not depend on that of the rows
            value_min=pl.col("value").min(),
            value_max=pl.col("value").max(),
        )
    )
