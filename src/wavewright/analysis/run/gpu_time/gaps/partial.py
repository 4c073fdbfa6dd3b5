"""Gaps of one run: their times, the work that ended them, and the calls of the thread that launched it.

A gap has two parts: until the launch of the work that ends it (what the thread did then are its causes), and from there
to the start of the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.calls.launches import STREAM_WAITS, Launches, cause_of, outermost, region_pieces, touching
from wavewright.analysis.run.gpu_time.gap_calls import calls_inside, main_call
from wavewright.analysis.run.gpu_time.gaps.stacks import stacks
from wavewright.analysis.run.measures.event_rows import first_label
from wavewright.analysis.run.measures.intervals import covered, gaps_between, intervals, merged
from wavewright.analysis.run.select.chosen import without_window
from wavewright.analysis.run.select.gpus import GPU_KEY, GpuKey, gpu_work, index_gpus, labelled
from wavewright.analysis.run.select.recording_span import recorded, windows_of_gpus, with_recordings
from wavewright.base.bounds import ROWS, bounded
from wavewright.model.run import Run

#: Lower bounds of the bins of the histogram.
LENGTHS_NS = (0, 10_000, 20_000, 50_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
_MOST_DETAILS = 10_000  #: Only so many of the longest gaps are described, however many are asked for.
_ROUNDED_NS = 1  #: Shorter times between work come from times that were rounded to nanoseconds.
_LAUNCH_NS = 1_000_000  #: Work that starts later than this after its launch had to wait in its queue.
_EVENT_NS = 100_000  #: The same where its stream was told to wait for an event: then it waited for that.


@dataclass(frozen=True, eq=False, repr=False)
class PartialGaps:
    """The contribution of one run."""

    gpus: pl.DataFrame
    causes: pl.DataFrame
    histogram: pl.DataFrame
    largest: pl.DataFrame
    keep: int
    is_whole: bool  #: Whether work of other runs on the same GPUs was considered, or does not matter.
    recorded: pl.DataFrame  #: See `recorded`.
    call_count: int  #: Recorded calls into runtimes.
    work: pl.DataFrame  #: First and last work of each process on each GPU.

    @property
    def used_gpus(self) -> frozenset[GpuKey]:
        """The GPUs that did work."""
        return frozenset(self.gpus.select(GPU_KEY).rows())


@bounded(keep=ROWS)
def partial_gaps(
    run: Run,
    *,
    by_stream: bool = False,
    keep: int = 100,
    elsewhere: pl.DataFrame | None = None,
    domains: Sequence[str] = (),
) -> PartialGaps:
    """The contribution of one run, with its `keep` longest gaps and their call stacks (of `domains`; none = all).

    `elsewhere` says when GPUs that other runs tell of too were busy in all (`busy_elsewhere`): gaps are then those of
    all work, and each belongs to the run that ended it. Gaps that a time window cuts count with their part inside; the
    work around them is known all the same.
    """
    times, windows = recorded(run), windows_of_gpus(run)
    run = without_window(run)
    gpu_index = index_gpus(run)
    by = ["place", "process", "stream"] if by_stream else ["place"]
    columns = ["thread", "correlation", "name"]
    work = gpu_work(run, gpu_index, [*columns, "dispatch_id"], columns).drop("is_copy")
    work = intervals(work if by_stream else work.drop("stream"), by).with_row_index("row")
    in_turn = with_recordings(work, gpu_index.table, times)
    gaps, totals = _gaps(in_turn, [*by, "interval"]).drop("interval"), _totals(work, by, windows)
    if elsewhere is not None and not by_stream:
        gpu_keys = gpu_index.table.select("place", *GPU_KEY)
        shared = elsewhere.join(gpu_keys, on=GPU_KEY, nulls_equal=True).drop(GPU_KEY).sort("place", "start_ns")
        gaps = _among_others(run, work, gaps, shared)
        busy_in_all = covered(_inside(shared, windows), ["place"])
        busy_ns = pl.coalesce("covered_ns", "busy_ns")
        totals = totals.join(busy_in_all, on="place", how="left").with_columns(busy_ns=busy_ns).drop("covered_ns")
    gaps = gaps.with_columns(next_start_ns=pl.col("gap_start_ns") + pl.col("gap_ns"))
    gaps = _cut(gaps, windows, "gap_start_ns", "gap_ns")
    longest = gaps.sort(-pl.col("gap_ns"), "gap_start_ns", "row").head(min(keep, _MOST_DETAILS))
    regions = _Regions.of(run, work, gaps, longest, domains)
    explained = _explained(gaps.filter(pl.col("gap_ns") > _ROUNDED_NS), work, regions)
    longest = longest.filter(pl.col("gap_ns") > _ROUNDED_NS)
    calls = regions.outermost_calls()

    def shown(rows: pl.DataFrame) -> pl.DataFrame:
        """The rows with labels; of GPUs as a whole, without process and stream."""
        if by_stream:
            return labelled(run, gpu_index, rows)
        nobody = {"pid": pl.lit(None, pl.Int64), "rank": pl.lit(None, pl.Int32), "stream_id": pl.lit(None, pl.Int64)}
        return labelled(run, gpu_index, rows.drop("process", strict=False)).with_columns(**nobody)

    largest = shown(_details(longest, explained, work, regions, calls, run))
    begins = times.group_by("machine").agg(pl.col("begin_ns").min())
    largest = largest.join(begins, on="machine", how="left", maintain_order="left")
    spans = work.group_by("place", "process").agg(pl.col("start_ns").min(), pl.col("end_ns").max())
    return PartialGaps(
        gpus=shown(_sums(gaps, totals, by)),
        causes=labelled(run, gpu_index, _causes(explained, calls)),
        histogram=shown(_histogram(explained, by)),
        largest=largest.with_columns(at_ns=pl.col("start_ns") - pl.col("begin_ns")).drop("begin_ns"),
        keep=min(keep, _MOST_DETAILS),
        is_whole=by_stream or elsewhere is not None,
        recorded=times,
        call_count=regions.call_count,
        work=labelled(run, gpu_index, spans),
    )


def _cut(frame: pl.DataFrame, windows: pl.DataFrame | None, start: str, length: str) -> pl.DataFrame:
    """The parts of the times that are inside of the windows."""
    if windows is None:
        return frame
    begin = pl.max_horizontal(start, "from_ns")
    end = pl.min_horizontal(pl.col(start) + pl.col(length), "to_ns")
    return (
        frame.join(windows, on="place", maintain_order="left")
        .with_columns(begin.alias(start), (end - begin).alias(length))
        .filter(pl.col(length) > 0)
        .drop("from_ns", "to_ns")
    )


def _gaps(work: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Gaps on the row of the work that ends them, with the row of the work that ended before them."""
    latest = pl.when(pl.col("end_ns") >= pl.col("end_ns").cum_max()).then(pl.col("row")).forward_fill().shift(1)
    columns = dict.fromkeys(["row", *by, "process", "thread", "correlation"])
    rows = work.select(*columns, "start_ns", "end_ns", previous_row=latest.over(by))
    return gaps_between(rows, by).drop("start_ns", "end_ns")


def _inside(work: pl.DataFrame, windows: pl.DataFrame | None) -> pl.DataFrame:
    """The parts of work that are inside of the windows."""
    if windows is None:
        return work
    lasting = work.with_columns(length_ns=pl.col("end_ns") - pl.col("start_ns"))
    cut = _cut(lasting, windows, "start_ns", "length_ns")
    return cut.with_columns(end_ns=pl.col("start_ns") + pl.col("length_ns")).drop("length_ns")


def _totals(work: pl.DataFrame, by: list[str], windows: pl.DataFrame | None) -> pl.DataFrame:
    """First and last work and the time with work of every GPU or stream, inside of its window."""
    inside = _inside(work, windows)
    spans = inside.group_by(by).agg(pl.col("start_ns").min(), pl.col("end_ns").max())
    busy = covered(inside, by).rename({"covered_ns": "busy_ns"})
    return (
        work.select(by)
        .unique(maintain_order=True)
        .join(spans, on=by, how="left", nulls_equal=True, maintain_order="left")
        .join(busy, on=by, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(pl.col("busy_ns").fill_null(0))
    )


def _among_others(run: Run, work: pl.DataFrame, gaps: pl.DataFrame, shared: pl.DataFrame) -> pl.DataFrame:
    """The gaps; of GPUs that other runs use (`shared`: when they were busy), those that work of this run ended."""
    pids = run.read("processes", ["process", "pid"])
    key = ["place", "start_ns", "pid"]
    own_work = work.join(pids, on="process", how="left", maintain_order="left")
    own_work = own_work.unique(key, keep="first", maintain_order=True)
    ended = gaps_between(shared, ["place", "interval"]).drop("end_ns", "interval").join(own_work, on=key)
    ends = work.select(previous_row="row", previous_end_ns="end_ns")
    previous = gaps.select("row", "previous_row").join(ends, on="previous_row", how="left")
    is_own = pl.col("previous_end_ns") == pl.col("gap_start_ns")
    whole = ended.join(previous, on="row", how="left").with_columns(previous_row=pl.when(is_own).then("previous_row"))
    is_shared = pl.col("place").is_in(shared["place"].unique().to_list())
    return pl.concat([gaps.filter(~is_shared), whole.select(gaps.columns)])


@dataclass(frozen=True, eq=False, repr=False)
class _Regions:
    """Calls of threads that explain gaps."""

    launches: Launches
    calls: list[pl.DataFrame]  #: Calls into a runtime at the time of any gap, in chunks.
    contexts: list[pl.DataFrame]  #: Markers, operators and frames that can last half of one of the longest gaps.
    stream_waits: list[pl.DataFrame]  #: Calls that make a stream wait.
    call_count: int

    @classmethod
    def of(
        cls, run: Run, work: pl.DataFrame, gaps: pl.DataFrame, longest: pl.DataFrame, domains: Sequence[str]
    ) -> _Regions:
        idle, long_idle = (_idle_times(frame) for frame in (gaps, longest))
        half = int(longest["gap_ns"].min() or 0) // 2  # type: ignore[arg-type]
        launches, call_count = Launches(work), 0
        columns = ["thread", "name", "start_ns", "end_ns"]
        empty = pl.DataFrame(schema=dict(zip(columns, (pl.UInt32, pl.Categorical, pl.Int64, pl.Int64), strict=True)))
        calls, contexts, waits = [empty], [empty], [empty]
        upper_domains = [domain.upper() for domain in domains]
        extra_columns = ["process", "correlation", *(["category"] if upper_domains else [])]
        for in_runtime, others in region_pieces(run, [*columns, *extra_columns]):
            launches.add(in_runtime)
            call_count += in_runtime.height
            timed = in_runtime.select(columns)
            calls.append(touching(timed, idle).drop_nulls())
            names = timed["name"].unique()
            names = names.filter(names.cast(pl.String).str.contains(STREAM_WAITS).fill_null(value=False))
            waits.append(timed.filter(pl.col("name").is_in(names.implode())).drop_nulls())
            if upper_domains:
                is_chosen = pl.col("domain", "category").cast(pl.String).str.to_uppercase().is_in(upper_domains)
                others = others.filter(pl.any_horizontal(is_chosen.fill_null(value=False)))
            lasting = others.filter(pl.col("end_ns") - pl.col("start_ns") >= half)
            contexts.append(touching(lasting.select(columns), long_idle).drop_nulls())
        return cls(launches, calls, contexts, waits, call_count)

    def outermost_calls(self) -> pl.DataFrame:
        """The calls that no other call of their thread encloses."""
        return outermost(pl.concat(self.calls))


def _idle_times(gaps: pl.DataFrame) -> pl.DataFrame:
    """The time of all gaps, merged."""
    idle = gaps.select(start_ns="gap_start_ns", end_ns=pl.col("gap_start_ns") + pl.col("gap_ns"))
    return merged(intervals(idle, []), [])


def _explained(gaps: pl.DataFrame, work: pl.DataFrame, regions: _Regions) -> pl.DataFrame:
    """Gaps in parts: `wait_ns` until the work that ends them was launched, and `lag_ns` from then on.

    `lag` is the cause of that part: the launch itself, a stream that waits for an event, or other work in the queue.
    Of work that was launched before the gap began, `lag_ns` is all; `is_known` tells it from work without a launch.
    A call that has not returned may still load code or wait for memory: nothing is in a queue before its first work.
    """
    end = pl.col("gap_start_ns") + pl.col("gap_ns")
    called = pl.col("launch_start_ns").clip(pl.col("gap_start_ns"), end)
    is_late = pl.col("launch_start_ns") > pl.col("gap_start_ns")
    delay = pl.col("next_start_ns") - pl.col("launch_start_ns")
    launched = gaps.hstack(regions.launches.of(gaps)).with_columns(
        is_known=pl.col("launch_start_ns").is_not_null(),
        wait_ns=pl.when(is_late).then(called - pl.col("gap_start_ns")).otherwise(0),
        launch_thread=pl.coalesce("launch_thread", "thread"),
    )
    in_call_ns = pl.min_horizontal("launch_end_ns", "next_start_ns") - called
    launched_work = work.select("row", "start_ns", slot=regions.launches.slots_of(work)).drop_nulls("slot")
    first_rows = launched_work.sort("start_ns", "row").unique("slot", keep="first")["row"]
    is_in_call = pl.col("row").is_in(first_rows.implode()) & (in_call_ns * 2 >= end - called)
    has_event = _waits_for_event(launched, regions) & (pl.min_horizontal(delay, "gap_ns") > _EVENT_NS)
    is_launch = is_in_call | (is_late & (delay <= _LAUNCH_NS))
    lag = first_label(("stream wait", has_event), ("launch", is_launch), otherwise="queued")
    lag_ns = pl.when("is_known").then(pl.col("gap_ns") - pl.col("wait_ns")).otherwise(0)
    return launched.with_columns(lag=lag, lag_ns=lag_ns)


def _waits_for_event(gaps: pl.DataFrame, regions: _Regions) -> pl.Expr:
    """True if the thread told a stream to wait after its previous launch and before the one that ended the gap."""
    waits = pl.concat(regions.stream_waits)
    if not waits.height or not gaps.height:
        return pl.lit(value=False)
    points = gaps.select("launch_start_ns", thread="launch_thread", row=pl.int_range(pl.len(), dtype=pl.UInt32))
    points = points.sort("launch_start_ns", nulls_last=True)
    for name, calls in (("waited_ns", waits), ("earlier_ns", regions.launches.calls)):
        times = calls.select("thread", pl.col("start_ns").alias(name)).sort(name)
        points = points.join_asof(
            times,
            left_on="launch_start_ns",
            right_on=name,
            by="thread",
            allow_exact_matches=False,
            coalesce=False,
            check_sortedness=False,
        )
    is_after = pl.col("waited_ns") > pl.col("earlier_ns").fill_null(-(1 << 62))  # none: before all
    return pl.lit(points.sort("row").select(is_after.fill_null(value=False)).to_series())


def _waits(gaps: pl.DataFrame) -> pl.DataFrame:
    """The parts of gaps before the launch: `place`, `thread`, `start_ns`, `end_ns`."""
    end_ns = pl.col("gap_start_ns") + pl.col("wait_ns")
    return gaps.select("place", thread="launch_thread", start_ns="gap_start_ns", end_ns=end_ns)


def _causes(gaps: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """`place`, `cause`, `function`, `call_count`, `wait_ns`; adds up to the gaps."""
    inside = calls_inside(_waits(gaps.filter(pl.col("wait_ns") > 0)), calls).select(
        "place",
        cause=cause_of(pl.col("name").cast(pl.String)),
        function=pl.col("name").cast(pl.String),
        call_count=pl.col("call_count").cast(pl.UInt64),
        wait_ns="inside_ns",
    )
    has_lag = pl.col("is_known") & (pl.col("lag_ns") > 0)
    conditions = {
        "host code": (pl.col("wait_ns") > 0, "wait_ns"),
        **{lag: (has_lag & (pl.col("lag") == lag), "lag_ns") for lag in ("launch", "stream wait", "queued")},
        "unknown": (~pl.col("is_known"), "gap_ns"),
    }
    parts = [
        gaps.filter(is_part)
        .group_by("place")
        .agg(call_count=pl.len().cast(pl.UInt64), wait_ns=pl.col(length).sum())
        .with_columns(cause=pl.lit(cause), function=pl.lit(None, pl.String))
        .select(inside.columns)
        for cause, (is_part, length) in conditions.items()
    ]
    in_calls = inside.group_by("place").agg(in_calls=pl.col("wait_ns").sum())
    outside_ns = pl.col("wait_ns") - pl.col("in_calls").fill_null(0)
    parts[0] = parts[0].join(in_calls, on="place", how="left").with_columns(wait_ns=outside_ns).drop("in_calls")
    return pl.concat([inside, *parts])


def _histogram(gaps: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    edges = pl.Series(LENGTHS_NS, dtype=pl.Int64)
    step = edges.gather(edges.search_sorted(gaps["gap_ns"], side="right") - 1)
    groups = gaps.with_columns(from_ns=step).group_by(*by, "from_ns")
    return groups.agg(gap_count=pl.len().cast(pl.UInt64), gap_ns=pl.col("gap_ns").sum())


def _sums(gaps: pl.DataFrame, totals: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    is_gap = pl.col("gap_ns") > _ROUNDED_NS
    sums = gaps.group_by(by).agg(
        gap_count=is_gap.sum().cast(pl.UInt64),
        gap_ns=pl.col("gap_ns").filter(is_gap).sum(),
        gap_max_ns=pl.col("gap_ns").filter(is_gap).max(),
        rounding_ns=pl.col("gap_ns").filter(~is_gap).sum(),
    )
    totals = totals.join(sums, on=by, how="left", nulls_equal=True)
    return totals.with_columns(pl.col("gap_count", "gap_ns", "gap_max_ns", "rounding_ns").fill_null(0))


def _details(
    longest: pl.DataFrame, gaps: pl.DataFrame, work: pl.DataFrame, regions: _Regions, calls: pl.DataFrame, run: Run
) -> pl.DataFrame:
    """The longest gaps with all details."""
    chosen = longest.select("row").join(gaps, on="row", maintain_order="left")
    threads = run.read("threads", ["thread", "tid"])
    end_ns = pl.col("gap_start_ns") + pl.col("gap_ns")
    spans = chosen.select(thread="launch_thread", start_ns="gap_start_ns", end_ns=end_ns)
    before_launch = main_call(_waits(chosen), calls).rename({"call": "wait_call", "call_ns": "wait_call_ns"})
    parts = [chosen, before_launch, main_call(spans, calls), stacks(spans, pl.concat(regions.contexts))]
    rows = (
        pl.concat(parts, how="horizontal")
        .with_columns(
            work["dispatch_id"].gather(chosen["row"]),
            next=work["name"].gather(chosen["row"]).cast(pl.String),
            previous=work["name"].gather(chosen["previous_row"]).cast(pl.String),
        )
        .join(threads.rename({"thread": "launch_thread"}), on="launch_thread", how="left", maintain_order="left")
        .with_columns(queue_depth=_queue_depths(chosen, work, regions.launches))
    )
    by = [column for column in ("place", "process", "stream") if column in longest.columns]
    rows = rows.with_columns(cause=_largest_cause())
    is_call = ~pl.col("cause").is_in(["launch", "stream wait", "queued", "unknown", "host code"])
    return rows.select(
        *by,
        pl.col("gap_ns", "previous", "next", "dispatch_id", "tid", "queue_depth", "context", "stack", "cause"),
        start_ns="gap_start_ns",
        launch_at_ns=pl.col("launch_start_ns") - pl.col("gap_start_ns"),
        launch_ns=pl.col("next_start_ns") - pl.col("launch_start_ns"),
        function=pl.when(is_call).then("wait_call").otherwise("call"),
        function_ns=pl.when(is_call).then("wait_call_ns").otherwise("call_ns"),
    )


def _largest_cause() -> pl.Expr:
    """The cause of the largest part of a gap."""
    is_call = (pl.col("wait_call_ns") * 2 >= pl.col("wait_ns")) & pl.col("wait_call").is_not_null()
    cause = pl.when(~pl.col("is_known")).then(pl.lit("unknown")).when(pl.col("lag_ns") >= pl.col("wait_ns")).then("lag")
    return cause.when(is_call).then(cause_of(pl.col("wait_call"))).otherwise(pl.lit("host code"))


def _queue_depths(chosen: pl.DataFrame, work: pl.DataFrame, launches: Launches) -> pl.Series:
    """Work of its GPU that was launched but not started at the start of each gap; null = launches are unknown."""
    depths = pl.Series("queue_depth", [None] * chosen.height, dtype=pl.Int64)
    rows = chosen.select("place", "gap_start_ns").with_row_index("gap")
    for (place,), gpu_gaps in rows.group_by("place", maintain_order=True):
        of_gpu = work.filter(pl.col("place") == place).select("process", "correlation", "start_ns")
        issued_ns = launches.of(of_gpu)["launch_start_ns"]
        is_recorded = issued_ns.is_not_null()
        if is_recorded.any():
            issued = issued_ns.filter(is_recorded).sort().search_sorted(gpu_gaps["gap_start_ns"], side="right")
            begun = of_gpu["start_ns"].filter(is_recorded).sort().search_sorted(gpu_gaps["gap_start_ns"], side="left")
            depths = depths.scatter(gpu_gaps["gap"], issued.cast(pl.Int64) - begun.cast(pl.Int64))
    return depths
