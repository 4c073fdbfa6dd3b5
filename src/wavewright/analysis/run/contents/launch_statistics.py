"""Statistics of launches: durations of the calls, delays until the work starts, queue depth, launches per step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.calls.launches import Launches, region_pieces, work_rows
from wavewright.analysis.run.measures.intervals import intervals
from wavewright.analysis.run.measures.statistics import Statistics, described, merged, statistics_of
from wavewright.analysis.run.select.identities import PROCESS, processes_of
from wavewright.analysis.run.select.step_ranges import in_steps, step_ranges
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import TableSpec, empty_frame, packaged_spec

_BINS = 60  #: Points of the curve of the queue depth.
_COUNTS = packaged_spec(__package__, "counts")


@dataclass(frozen=True, eq=False, repr=False)
class PartialLaunchStatistics:
    """The contribution of one run."""

    counts: pl.DataFrame  #: Columns of `_COUNTS`.
    calls: Statistics  #: Durations of launching calls, by function.
    delays: Statistics  #: From the end of a launching call to the start of its first work, by function.
    processes: pl.DataFrame  #: The columns of `LaunchStatistics.processes` but `unknown_share`, and `process`.
    depths: pl.DataFrame  #: The columns of `LaunchStatistics.depths`, and `process`.
    call_count: int  #: Recorded calls into runtimes.


@dataclass(frozen=True, eq=False)
class LaunchStatistics(Answer, package=__package__):
    """Launches of GPU work."""

    call_count: int  #: Recorded calls into runtimes.
    functions: pl.DataFrame
    processes: pl.DataFrame
    depths: pl.DataFrame


def partial_launch_statistics(run: Run, marker: str | None = None) -> PartialLaunchStatistics:
    """The contribution of one run; `marker` is the range that is a step, if not found."""
    work, slots = _work(run)
    calls, call_count = _launching(run, slots)
    launches = _first_work(work, calls)
    identities = processes_of(run)
    spans = work.group_by("process").agg(pl.col("start_ns").min(), pl.col("end_ns").max()).sort("process")
    unknown = pl.col("slot").is_null() | ~pl.col("slot").is_in(calls["slot"].implode())
    duration = pl.col("end_ns") - pl.col("start_ns")
    counts = work.group_by("process").agg(
        work_count=pl.len().cast(pl.Int64),
        unknown_count=unknown.sum().cast(pl.Int64),
        unknown_ns=duration.filter(unknown).sum(),
    )
    depths, shares = _depths(launches, spans)
    launch_counts = launches.group_by("process").agg(launch_count=pl.len().cast(pl.Int64))
    processes = counts
    for columns in (launch_counts, shares, _per_step(run, spans, launches, marker)):
        processes = processes.join(columns, on="process", how="left")
    names = [name for name in LaunchStatistics.tables["processes"].names if name not in (*PROCESS, "unknown_share")]
    delays = launches.select("function", start_ns=pl.min_horizontal("call_end_ns", "first_ns"), end_ns="first_ns")
    return PartialLaunchStatistics(
        counts=_counts(launches),
        calls=statistics_of([launches.select("function", start_ns="call_ns", end_ns="call_end_ns")], ["function"]),
        delays=statistics_of([delays], ["function"]),
        processes=processes.sort("process").select("process", *names).join(identities, on="process", how="left"),
        depths=depths.join(identities, on="process", how="left", maintain_order="left"),
        call_count=call_count,
    )


def combine_launch_statistics(partials: Sequence[PartialLaunchStatistics]) -> LaunchStatistics:
    """The combined result of all runs."""
    tables = LaunchStatistics.tables
    counts = pl.concat([empty_frame(_COUNTS), *(part.counts for part in partials)])
    functions = counts.group_by("function").agg(pl.exclude("function").sum())
    for prefix, statistics, columns in (
        ("call", [part.calls for part in partials], ("median_ns", "total_ns")),
        ("delay", [part.delays for part in partials], ("mean_ns", "median_ns", "p95_ns", "max_ns")),
    ):
        times = described(merged(statistics, ["function"]))
        times = times.select(pl.col("function").cast(pl.String), **{f"{prefix}_{name}": name for name in columns})
        functions = functions.join(times, on="function", how="left")
    share = pl.when(pl.col("work_count") > 0).then(pl.col("unknown_count") / pl.col("work_count"))
    processes = _together(tables["processes"], [part.processes.with_columns(unknown_share=share) for part in partials])
    processes = processes.with_columns(pl.col("launch_count", "step_count").fill_null(0))
    return LaunchStatistics(
        call_count=sum(part.call_count for part in partials),
        functions=functions.sort(-pl.col("launch_count"), "function").select(tables["functions"].casts),
        processes=processes.sort("rank", *PROCESS, nulls_last=True),
        depths=_together(tables["depths"], [part.depths for part in partials]).sort(
            "rank", *PROCESS, "start_ns", nulls_last=True
        ),
    )


def launch_statistics(run: Run, marker: str | None = None) -> LaunchStatistics:
    """Launches of the GPU work of a run."""
    return combine_launch_statistics([partial_launch_statistics(part, marker) for part in run.parts])


def _together(spec: TableSpec, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([empty_frame(spec), *(frame.select(spec.casts) for frame in frames)])


def _work(run: Run) -> tuple[pl.DataFrame, Launches]:
    """Dispatches and copies with possible times: `process`, `start_ns`, `end_ns`, `slot` of their launch."""
    rows = work_rows(run, ["process", "correlation", "start_ns", "end_ns"])
    work = intervals(rows.filter(pl.col("process").is_not_null()), ["process"])
    slots = Launches(work)
    return work.with_columns(slot=slots.slots_of(work).cast(pl.Int64)), slots


def _launching(run: Run, slots: Launches) -> tuple[pl.DataFrame, int]:
    """The first call of each slot: `slot`, `function`, `call_ns`, `call_end_ns`; and how many calls there are."""
    schema = {"slot": pl.Int64, "function": pl.String, "call_ns": pl.Int64, "call_end_ns": pl.Int64}
    pieces, call_count = [pl.DataFrame(schema=schema)], 0
    for calls, _ in region_pieces(run, ["process", "correlation", "name", "start_ns", "end_ns"]):
        call_count += calls.height
        placed = calls.with_columns(slot=slots.slots_of(calls).cast(pl.Int64))
        launching = placed.filter(pl.col("slot").is_not_null() & (pl.col("end_ns") >= pl.col("start_ns")))
        function = pl.col("name").cast(pl.String).fill_null("?")
        pieces.append(launching.select("slot", function=function, call_ns="start_ns", call_end_ns="end_ns"))
    return pl.concat(pieces).unique("slot", keep="first", maintain_order=True), call_count


def _first_work(work: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """One row per launch: its call, process, the start of its first work, and how much work it launched."""
    launched = work.filter(pl.col("slot").is_not_null())
    groups = launched.group_by("slot", maintain_order=True)
    rows = groups.agg(pl.col("process").first(), first_ns=pl.col("start_ns").min(), work_count=pl.len().cast(pl.Int64))
    return rows.join(calls, on="slot", maintain_order="left")


def _counts(launches: pl.DataFrame) -> pl.DataFrame:
    counts = launches.group_by("function").agg(
        launch_count=pl.len(),
        graph_count=(pl.col("work_count") > 1).sum(),
        work_count=pl.col("work_count").sum(),
        early_count=(pl.col("first_ns") < pl.col("call_end_ns")).sum(),
    )
    return counts.select(_COUNTS.casts)


def _depths(launches: pl.DataFrame, spans: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The curve of the queue depth of each process, and its mean, largest value and share of 0."""
    curve = {"process": pl.UInt32, "start_ns": pl.Int64, "depth_mean": pl.Float64, "depth_max": pl.Int64}
    share = {"process": pl.UInt32, "depth_mean": pl.Float64, "depth_max": pl.Int64, "empty_share": pl.Float64}
    curves: list[tuple[int, int, float, int]] = []
    shares: list[tuple[int, float, int, float]] = []
    of_process = launches.partition_by("process", as_dict=True)
    for process, first, last in spans.iter_rows():
        if (process,) not in of_process or last <= first:
            continue
        span, width = last - first, -(-(last - first) // _BINS)  # rounded up
        waiting = of_process[process,].lazy().filter(pl.col("call_ns") <= pl.col("first_ns"))
        edges = pl.LazyFrame({"time": pl.int_range(0, span, width, eager=True)})
        edges = edges.with_columns(change=pl.lit(0, pl.Int64))
        changes = [
            waiting.select(time=pl.col(name).clip(first, last) - first, change=pl.lit(change, pl.Int64))
            for name, change in (("call_ns", 1), ("first_ns", -1))
        ]
        times = pl.concat([edges, *changes]).sort("time")
        until = pl.col("time").shift(-1, fill_value=span)
        depths = times.select("time", depth=pl.col("change").cum_sum(), ns=until - pl.col("time"))
        bins = (
            depths.filter(pl.col("ns") > 0)
            .group_by(pl.col("time") // width)
            .agg(
                (pl.col("depth") * pl.col("ns")).sum(),
                pl.col("ns").sum(),
                depth_max=pl.col("depth").max(),
                empty=pl.col("ns").filter(pl.col("depth") == 0).sum(),
            )
            .sort("time")
            .collect()
        )
        mean_depth, empty_share = bins["depth"].sum() / span, bins["empty"].sum() / span
        shares.append((process, mean_depth, max(bins["depth_max"].to_list()), empty_share))
        curves.extend((process, first + bin_ * width, area / ns, top) for bin_, area, ns, top, _ in bins.iter_rows())
    return pl.DataFrame(curves, schema=curve, orient="row"), pl.DataFrame(shares, schema=share, orient="row")


def _per_step(run: Run, spans: pl.DataFrame, launches: pl.DataFrame, marker: str | None) -> pl.DataFrame:
    """Per process: steps, and the median of launches and calls that start in one."""
    steps = step_ranges(run, spans, marker).steps.with_row_index("step")

    def started(events: pl.DataFrame) -> pl.DataFrame:
        return in_steps(events, steps).group_by("step").agg(count=pl.len())

    calls_of_pieces = (calls for calls, _ in region_pieces(run, ["process", "start_ns"]))
    pieces = [started(calls.select("process", at_ns="start_ns")) for calls in calls_of_pieces]
    calls = pl.concat([pl.DataFrame(schema={"step": pl.UInt32, "count": pl.UInt32}), *pieces])
    counts = {
        "calls_per_step": calls.group_by("step").agg(pl.col("count").sum()),
        "launches_per_step": started(launches.select("process", at_ns="call_ns")),
    }
    for name, rows in counts.items():
        steps = steps.join(rows.rename({"count": name}), on="step", how="left").with_columns(pl.col(name).fill_null(0))
    medians = [pl.col(name).median() for name in counts]
    return steps.group_by("process").agg(pl.len().cast(pl.Int64).alias("step_count"), *medians)
