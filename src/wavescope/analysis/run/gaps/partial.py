"""The gaps of one run: their times, the work that ended them, and the calls of its thread before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.run.gpus import GPU_KEY, gpu_work, index_gpus
from wavescope.analysis.run.intervals import covered, gaps_between, intervals, merged
from wavescope.analysis.run.launches import Launches, cause_of, outermost, region_pieces, touching
from wavescope.analysis.run.waits import calls_inside, main_call
from wavescope.base.bounds import ROWS, bounded

if TYPE_CHECKING:
    from wavescope.analysis.run.gpus import GpuIndex, GpuKey
    from wavescope.model.run import Run

#: Lower bounds of the bins of the histogram.
_STEPS_NS = (0, 10_000, 20_000, 50_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
_MOST_DETAILS = 10_000


@dataclass(frozen=True)
class PartialGaps:
    """The contribution of one run."""

    gpus: pl.DataFrame
    causes: pl.DataFrame
    histogram: pl.DataFrame
    largest: pl.DataFrame
    keep: int
    is_whole: bool  #: Whether work of other runs on the same GPUs was considered, or does not matter.

    @property
    def used_gpus(self) -> frozenset[GpuKey]:
        """The GPUs that did work."""
        return frozenset(self.gpus.select(GPU_KEY).rows())


@bounded(keep=ROWS)
def partial_gaps(
    run: Run, *, by_stream: bool = False, keep: int = 100, elsewhere: pl.DataFrame | None = None
) -> PartialGaps:
    """The contribution of one run, with its `keep` longest gaps.

    `elsewhere` says when GPUs that other runs tell of too were busy in all (`partial_intervals`,
    `merged_elsewhere`): gaps are then those of all work, and each belongs to the run that ended it.
    """
    gpu_index = index_gpus(run)
    by = ["place", "process", "stream"] if by_stream else ["place"]
    more = ["thread", "correlation", "name"]
    work = gpu_work(run, gpu_index, [*more, "dispatch_id"], more).drop("is_copy")
    work = intervals(work if by_stream else work.drop("stream"), by).with_row_index("row")
    gaps, totals = _gaps(work, by), _totals(work, by)
    if elsewhere is not None and not by_stream:
        gaps, totals = _among_others(run, gpu_index, work, gaps, totals, elsewhere)
    order = {"gap_ns": True, "gap_start_ns": False, "row": False}
    longest = gaps.sort(*order, descending=[*order.values()]).head(min(keep, _MOST_DETAILS))
    regions = _Regions.of(run, work, gaps, longest["gap_start_ns"])
    gaps = _explained(gaps, regions.launches)
    calls = regions.outermost_calls()
    names = _GpuLabels.of(run, gpu_index, by_stream=by_stream)
    return PartialGaps(
        gpus=names(_sums(gaps, totals, by)),
        causes=names(_causes(gaps, calls), with_streams=False),
        histogram=names(_histogram(gaps, by)),
        largest=names(_details(longest, gaps, work, regions, calls, run)),
        keep=min(keep, _MOST_DETAILS),
        is_whole=by_stream or elsewhere is not None,
    )


def _gaps(work: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Gaps on the row of the work that ends them, with the row of the work that ended before them."""
    latest = pl.when(pl.col("end_ns") >= pl.col("end_ns").cum_max()).then(pl.col("row")).forward_fill().shift(1)
    columns = dict.fromkeys(["row", *by, "process", "thread", "correlation"])
    rows = work.select(*columns, "start_ns", "end_ns", before_row=latest.over(by))
    return gaps_between(rows, by).drop("start_ns", "end_ns")


def _totals(work: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    spans = work.group_by(by).agg(pl.col("start_ns").min(), pl.col("end_ns").max())
    return spans.join(covered(work, by).rename({"covered_ns": "busy_ns"}), on=by, nulls_equal=True)


def _among_others(
    run: Run,
    gpu_index: GpuIndex,
    work: pl.DataFrame,
    gaps: pl.DataFrame,
    totals: pl.DataFrame,
    elsewhere: pl.DataFrame,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Gaps and totals where GPUs are shared: gaps of all work that work of this run ended."""
    numbers = gpu_index.table.select("place", *GPU_KEY)
    shared = elsewhere.join(numbers, on=GPU_KEY, nulls_equal=True).drop(GPU_KEY).sort("place", "start_ns")
    pids = run.read("processes", ["process", "pid"])
    own_work = work.join(pids, on="process", how="left", maintain_order="left").unique(
        ["place", "start_ns", "pid"], keep="first", maintain_order=True
    )
    ended = gaps_between(shared, ["place"]).drop("end_ns").join(own_work, on=["place", "start_ns", "pid"])
    is_own = pl.col("before_end_ns") == pl.col("gap_start_ns")
    before = gaps.select("row", "before_row").join(
        work.select(before_row="row", before_end_ns="end_ns"), on="before_row", how="left"
    )
    whole = (
        ended.join(before, on="row", how="left")
        .with_columns(before_row=pl.when(is_own).then("before_row"))
        .select(gaps.columns)
    )
    spent = covered(shared, ["place"]).rename({"covered_ns": "busy_ns"})
    apart = pl.col("place").is_in(shared["place"].unique().to_list())
    return (
        pl.concat([gaps.filter(~apart), whole]),
        totals.join(spent, on="place", how="left", suffix="_in_all")
        .with_columns(busy_ns=pl.coalesce("busy_ns_in_all", "busy_ns"))
        .drop("busy_ns_in_all"),
    )


@dataclass(frozen=True)
class _Regions:
    """Calls of threads that explain gaps."""

    launches: Launches
    calls: list[pl.DataFrame]  #: Calls into a runtime at the time of any gap, in chunks.
    contexts: list[pl.DataFrame]  #: Markers and operators that are open at one of the moments in question.

    @classmethod
    def of(cls, run: Run, work: pl.DataFrame, gaps: pl.DataFrame, moments: pl.Series) -> _Regions:
        idle = gaps.select(start_ns="gap_start_ns", end_ns=pl.col("gap_start_ns") + pl.col("gap_ns"))
        idle = merged(intervals(idle, []), [])
        times, launches = moments.sort(), Launches(work)
        columns = ["thread", "name", "start_ns", "end_ns"]
        empty = pl.DataFrame(schema=dict(zip(columns, (pl.UInt32, pl.Categorical, pl.Int64, pl.Int64), strict=True)))
        calls, contexts = [empty], [empty]
        for in_runtime, others in region_pieces(run, [*columns, "process", "correlation"]):
            launches.add(in_runtime)
            calls.append(touching(in_runtime.select(columns), idle).drop_nulls())
            first, last = (times.search_sorted(others[name], side="left") for name in ("start_ns", "end_ns"))
            contexts.append(others.select(columns).filter(first < last))
        return cls(launches, calls, contexts)

    def outermost_calls(self) -> pl.DataFrame:
        """The calls that no other call of their thread encloses."""
        return outermost(pl.concat(self.calls))


def _explained(gaps: pl.DataFrame, launches: Launches) -> pl.DataFrame:
    """Gaps with the thread that launched what ended them, and how long they waited for it: `wait_ns`, then `launch_ns`.

    Work that was launched before the gap began has neither; `is_known` tells it from work without a launch.
    """
    end = pl.col("gap_start_ns") + pl.col("gap_ns")
    called = pl.col("launch_start_ns").clip(pl.col("gap_start_ns"), end)
    is_late = pl.col("launch_start_ns") > pl.col("gap_start_ns")
    return gaps.hstack(launches.of(gaps)).with_columns(
        is_known=pl.col("launch_start_ns").is_not_null(),
        wait_ns=pl.when(is_late).then(called - pl.col("gap_start_ns")).otherwise(0),
        launch_ns=pl.when(is_late).then(end - called).otherwise(0),
        launch_thread=pl.coalesce("launch_thread", "thread"),
    )


def _waits(gaps: pl.DataFrame) -> pl.DataFrame:
    """The parts of gaps before the launch: `place`, `thread`, `start_ns`, `end_ns`."""
    return gaps.select(
        "place", thread="launch_thread", start_ns="gap_start_ns", end_ns=pl.col("gap_start_ns") + pl.col("wait_ns")
    )


def _causes(gaps: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """`place`, `cause`, `function`, `call_count`, `wait_ns`; adds up to the gaps."""
    inside = calls_inside(_waits(gaps.filter(pl.col("wait_ns") > 0)), calls).select(
        "place",
        cause=cause_of(pl.col("name").cast(pl.String)),
        function=pl.col("name").cast(pl.String),
        call_count=pl.col("call_count").cast(pl.UInt64),
        wait_ns="inside_ns",
    )
    is_queued = pl.col("is_known") & (pl.col("wait_ns") == 0) & (pl.col("launch_ns") == 0)
    rest = {
        "host code": (pl.col("wait_ns") > 0, pl.col("wait_ns")),
        "launch": (pl.col("launch_ns") > 0, pl.col("launch_ns")),
        "queued": (is_queued, pl.col("gap_ns")),
        "unknown": (~pl.col("is_known"), pl.col("gap_ns")),
    }
    parts = [
        gaps.filter(is_part)
        .group_by("place")
        .agg(call_count=pl.len().cast(pl.UInt64), wait_ns=length.sum())
        .select(
            "place", pl.lit(cause).alias("cause"), pl.lit(None, pl.String).alias("function"), "call_count", "wait_ns"
        )
        for cause, (is_part, length) in rest.items()
    ]
    in_calls = inside.group_by("place").agg(in_calls=pl.col("wait_ns").sum())
    parts[0] = (
        parts[0]
        .join(in_calls, on="place", how="left")
        .with_columns(wait_ns=pl.col("wait_ns") - pl.col("in_calls").fill_null(0))
        .drop("in_calls")
    )
    return pl.concat([inside, *parts])


def _histogram(gaps: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    step = pl.lit(0, pl.Int64)
    for edge in _STEPS_NS[1:]:
        step = pl.when(pl.col("gap_ns") >= edge).then(pl.lit(edge, pl.Int64)).otherwise(step)
    groups = gaps.with_columns(from_ns=step).group_by(*by, "from_ns")
    return groups.agg(gap_count=pl.len().cast(pl.UInt64), gap_ns=pl.col("gap_ns").sum())


def _sums(gaps: pl.DataFrame, totals: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    sums = gaps.group_by(by).agg(
        gap_count=pl.len().cast(pl.UInt64), gap_ns=pl.col("gap_ns").sum(), gap_max_ns=pl.col("gap_ns").max()
    )
    return totals.join(sums, on=by, how="left", nulls_equal=True).with_columns(
        pl.col("gap_count", "gap_ns", "gap_max_ns").fill_null(0)
    )


def _details(
    longest: pl.DataFrame,
    gaps: pl.DataFrame,
    work: pl.DataFrame,
    regions: _Regions,
    calls: pl.DataFrame,
    run: Run,
) -> pl.DataFrame:
    """The longest gaps with all details."""
    chosen = longest.select("row").join(gaps, on="row", maintain_order="left")
    threads = run.read("threads", ["thread", "tid"])
    rows = (
        pl.concat([chosen, main_call(_waits(chosen), calls, pl.concat(regions.contexts))], how="horizontal")
        .with_columns(
            work["dispatch_id"].gather(chosen["row"]),
            after=work["name"].gather(chosen["row"]).cast(pl.String),
            before=work["name"].gather(chosen["before_row"]).cast(pl.String),
        )
        .join(threads.rename({"thread": "launch_thread"}), on="launch_thread", how="left", maintain_order="left")
        .with_columns(queue_depth=_queue_depths(chosen, work, regions.launches))
    )
    by = [column for column in ("place", "process", "stream") if column in longest.columns]
    end = pl.col("gap_start_ns") + pl.col("gap_ns")
    return rows.select(
        *by,
        "gap_ns",
        "before",
        "after",
        "dispatch_id",
        "tid",
        "queue_depth",
        "context",
        start_ns="gap_start_ns",
        launch_ns=end - pl.col("launch_start_ns"),
        cause=_largest_cause(),
        function="call",
        function_ns="call_ns",
    )


def _largest_cause() -> pl.Expr:
    """The cause of the largest part of a gap."""
    is_queued = (pl.col("wait_ns") == 0) & (pl.col("launch_ns") == 0)
    is_call = pl.col("call_ns") * 2 >= pl.col("wait_ns")
    return (
        pl.when(~pl.col("is_known"))
        .then(pl.lit("unknown"))
        .when(is_queued)
        .then(pl.lit("queued"))
        .when(pl.col("launch_ns") >= pl.col("wait_ns"))
        .then(pl.lit("launch"))
        .when(is_call & pl.col("call").is_not_null())
        .then(cause_of(pl.col("call")))
        .otherwise(pl.lit("host code"))
    )


def _queue_depths(chosen: pl.DataFrame, work: pl.DataFrame, launches: Launches) -> pl.Series:
    """Work of its GPU that was launched but not started at the start of each gap; null = launches are unknown."""
    depths = pl.Series("queue_depth", [None] * chosen.height, dtype=pl.Int64)
    rows = chosen.select("place", "gap_start_ns").with_row_index("at")
    for (place,), gpu_gaps in rows.group_by("place", maintain_order=True):
        of_gpu = work.filter(pl.col("place") == place).select("process", "correlation", "start_ns")
        issued_ns = launches.of(of_gpu)["launch_start_ns"]
        is_recorded = issued_ns.is_not_null()
        if is_recorded.any():
            issued = issued_ns.filter(is_recorded).sort().search_sorted(gpu_gaps["gap_start_ns"], side="right")
            begun = of_gpu["start_ns"].filter(is_recorded).sort().search_sorted(gpu_gaps["gap_start_ns"], side="left")
            depths = depths.scatter(gpu_gaps["at"], issued.cast(pl.Int64) - begun.cast(pl.Int64))
    return depths


@dataclass(frozen=True)
class _GpuLabels:
    """Replace numbers of GPUs, processes and streams by their labels."""

    gpus: pl.DataFrame
    processes: pl.DataFrame
    streams: pl.DataFrame
    by_stream: bool

    @classmethod
    def of(cls, run: Run, gpu_index: GpuIndex, *, by_stream: bool) -> _GpuLabels:
        return cls(
            gpu_index.table.select("place", *GPU_KEY, "node", "gpu"),
            run.read("processes", ["process", "pid", "rank"]),
            run.read("streams", ["stream", "stream_id"]),
            by_stream,
        )

    def __call__(self, frame: pl.DataFrame, *, with_streams: bool = True) -> pl.DataFrame:
        named = frame.join(self.gpus, on="place", maintain_order="left").drop("place")
        if not with_streams:
            return named
        if not self.by_stream:
            return named.with_columns(
                pid=pl.lit(None, pl.Int64), rank=pl.lit(None, pl.Int32), stream_id=pl.lit(None, pl.Int64)
            ).drop("process", strict=False)
        return (
            named.join(self.processes, on="process", how="left", maintain_order="left")
            .join(self.streams, on="stream", how="left", maintain_order="left")
            .drop("process", "stream")
        )
