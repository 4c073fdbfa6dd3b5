"""Trip counts of loops, and cost and stall of an iteration."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.analysis.code.control_flow import call_rows
from wavewright.analysis.trace.code import control_flow
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.base.bounds import ITEM, bounded
from wavewright.errors import UsageError
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

_MOST_ITERATIONS = 4096  #: Iteration numbers of a loop, from its entry on, that have a row in `iterations`.
_MOST_ROWS = 1 << 16  #: Rows of `iterations`: with many loops each has fewer than `_MOST_ITERATIONS`.
_MOST_LOOPS = 1000  #: Loops that are analyzed, those with the most iterations.


def by_iteration(iterations: pl.DataFrame) -> pl.DataFrame:
    """Means of `_core.loop_iterations` by loop and iteration number (`Loops.tables["iterations"]`)."""
    most = min(_MOST_ITERATIONS, _MOST_ROWS // max(1, iterations["loop"].n_unique()))
    cycles = pl.col("cycles")
    is_longer = cycles > cycles.median().over("loop", "wave")
    return (
        iterations.lazy()
        .with_columns(is_longer=is_longer)
        .filter(pl.col("iteration") < most)
        .group_by("loop", "iteration")
        .agg(
            wave_count=pl.col("wave").n_unique().cast(pl.Int64),
            execution_count=pl.len().cast(pl.Int64),
            cycles_mean=cycles.mean(),
            cycles_min=cycles.min(),
            cycles_max=cycles.max(),
            stall_cycles_mean=pl.col("stall_cycles").mean(),
            longer_share=pl.col("is_longer").mean(),
        )
        .sort("loop", "iteration")
        .select(Loops.tables["iterations"].casts)
        .collect()
    )


def slowest_iterations(iterations: pl.DataFrame) -> pl.DataFrame:
    """The slowest iteration number of every loop: `loop`, `slowest_iteration`, `slowest_cycles_mean`, `slowest_ratio`.

    Only numbers count that at least half as many iterations have as the commonest one of the loop.
    """
    is_usual = 2 * pl.col("execution_count") >= pl.col("execution_count").max().over("loop")
    return (
        iterations.filter(is_usual)
        .with_columns(median=pl.col("cycles_mean").median().over("loop"))
        .sort("loop", "cycles_mean", "iteration", descending=[False, True, False])
        .group_by("loop", maintain_order=True)
        .agg(
            slowest_iteration=pl.col("iteration").first(),
            slowest_cycles_mean=pl.col("cycles_mean").first(),
            slowest_ratio=(pl.col("cycles_mean") / pl.col("median")).first().fill_nan(None),
        )
    )


_SUMS = ("hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total", "exposed_cycles_total")


@dataclass(frozen=True)
class Loops(Answer, package=__package__):
    """The loops of a trace, outer ones before inner ones."""

    loops: pl.DataFrame
    iterations: pl.DataFrame  #: By number, from the entry on; at most the first 4,096 of a loop.
    left_out_count: int  #: Loops beyond the thousand that were gone round most often.
    outside_cycles_share: float  #: Latency and idle of rows in no loop, of the whole trace.


def loops(trace: ThreadTrace, *, rows: pl.Series | None = None) -> Loops:
    """Trip counts and costs of every executed loop, or only of loops that contain one of `rows`."""
    spans = loop_starts(trace)
    totals = _totals(trace, spans)
    cycles = pl.sum_horizontal("latency_cycles_total", "idle_cycles_total")
    all_cycles = int(row_costs(trace).select(cycles.sum()).item())
    executed = pl.DataFrame(_core.loop_iterations(trace.instructions, spans, call_rows(trace.code)))
    iterations = by_iteration(executed)
    table = (
        spans.join(totals, on="loop", maintain_order="left")
        .join(_statistics(executed), on="loop", how="left", maintain_order="left")
        .join(slowest_iterations(iterations), on="loop", how="left", maintain_order="left")
        .join(_places(trace, spans), on="loop", how="left", maintain_order="left")
        .with_columns(cycles_share=cycles / (all_cycles or 1))
    )
    inner = table.group_by(loop="parent").agg(inner_share=pl.col("cycles_share").sum())
    table = table.join(inner, on="loop", how="left", maintain_order="left").with_columns(
        self_cycles_share=(pl.col("cycles_share") - pl.col("inner_share").fill_null(0)).clip(lower_bound=0)
    )
    in_loops = control_flow.loop_of_rows(trace).is_not_null()
    outside_rows = row_costs(trace).filter(~in_loops.gather(row_costs(trace)["row"]))
    outside = int(outside_rows.select(cycles.sum()).item())
    if rows is not None:
        chosen = rows.unique().sort()
        before = pl.col("first_row").map_batches(lambda first: chosen.search_sorted(first, "left"), pl.UInt32)
        upto = pl.col("last_row").map_batches(lambda last: chosen.search_sorted(last, "right"), pl.UInt32)
        table = table.filter(before < upto)
        iterations = iterations.filter(pl.col("loop").is_in(table["loop"].implode()))
    left_out = control_flow.loops(trace).height - spans.height
    table = table.select(Loops.tables["loops"].names)
    return Loops(table, iterations, left_out, outside / all_cycles if all_cycles else 0.0)


@once_per_trace
def loop_starts(trace: ThreadTrace) -> pl.DataFrame:
    """The loops that count here (the thousand with the most iterations), with the row that starts an iteration.

    That is the row at which most waves enter: the first one, or one that a jump from outside goes to.
    """
    loops = control_flow.loops(trace)
    spans = loops.top_k(_MOST_LOOPS, by="taken_count").sort("loop") if loops.height > _MOST_LOOPS else loops
    jumps = control_flow.taken_jumps(trace)
    source, target, count = pl.col("from_row"), pl.col("to_row"), pl.col("taken_count")
    hits = dict(row_costs(trace).select("row", "hit_count").iter_rows())
    start_rows = []
    for first, last in spans.select("first_row", "last_row").iter_rows():
        inside = source.is_between(first, last)
        back = jumps.filter(inside & (target == first))["taken_count"].sum()
        elsewhere = jumps.filter(~inside & target.is_between(first + 1, last)).group_by("to_row").agg(count.sum())
        entries = {first: hits.get(first, 0) - back, **dict(elsewhere.iter_rows())}
        start_rows.append(max(entries, key=lambda row: (entries[row], -row)))
    return spans.with_columns(start_row=pl.Series(start_rows, dtype=pl.Int32))


def _totals(trace: ThreadTrace, spans: pl.DataFrame) -> pl.DataFrame:
    """Sums over the rows of every loop, from running sums over all rows."""
    costs = trace.code.select("row").join(row_costs(trace), on="row", how="left", maintain_order="left")
    running = costs.select(pl.col(_SUMS).fill_null(0).cum_sum())
    upto = running[spans["last_row"]]
    before = pl.concat([running.clear(1).select(pl.all().fill_null(0)), running])[spans["first_row"]]
    return pl.DataFrame([spans["loop"], *((upto[name] - before[name]).alias(name) for name in _SUMS)])


def _statistics(iterations: pl.DataFrame) -> pl.DataFrame:
    """Trips and cycles of iterations of every loop, from `_core.loop_iterations`."""
    cycles, stall, trips = pl.col("cycles"), pl.col("stall_cycles"), pl.col("iteration").cast(pl.Int64) + 1
    is_first, is_last = pl.col("iteration") == 0, pl.col("is_last") == 1
    steady = ~is_first & ~is_last
    steady_share = stall.filter(steady).sum() / cycles.filter(steady).sum()
    return iterations.group_by("loop").agg(
        wave_count=pl.col("wave").n_unique().cast(pl.Int64),
        entry_count=is_last.sum().cast(pl.Int64),
        iteration_count=pl.len().cast(pl.Int64),
        trips_min=trips.filter(is_last).min(),
        trips_median=trips.filter(is_last).median(),
        trips_max=trips.filter(is_last).max(),
        iteration_cycles_min=cycles.min(),
        iteration_cycles_median=cycles.median(),
        iteration_cycles_max=cycles.max(),
        first_cycles_median=cycles.filter(is_first).median(),
        steady_cycles_median=cycles.filter(steady).median(),
        last_cycles_median=cycles.filter(is_last).median(),
        steady_stall_share=pl.when(steady.any()).then(steady_share).otherwise(stall.sum() / cycles.sum()),
    )


def _places(trace: ThreadTrace, spans: pl.DataFrame) -> pl.DataFrame:
    """Positions of the loops in the code and in the source."""
    code = trace.code.select("address", "function", "file", "line")
    places = []
    for loop, first, last in spans.select("loop", "first_row", "last_row").iter_rows():
        address, function = code.row(first)[:2]
        lines = code.slice(first, last - first + 1).drop_nulls(["file", "line"])
        files = lines["file"].value_counts(sort=True)["file"]
        file = files[0] if files.len() else None
        inside = lines.filter(pl.col("file") == pl.lit(file, pl.String))["line"]
        places.append((loop, address, function, file, inside.min(), inside.max()))
    dtypes = Loops.tables["loops"].dtypes
    names = ("loop", "address", "function", "file", "first_line", "last_line")
    return pl.DataFrame(places, {name: dtypes[name] for name in names}, orient="row")


LOOP_ITERATIONS = packaged_spec(__package__, "loop_iterations")


@bounded(wave=ITEM)
def loop_iterations(trace: ThreadTrace, wave: int) -> pl.DataFrame:
    """The iterations of all loops in one wave (`LOOP_ITERATIONS`); loops and iterations are those of `loops`.

    Raises `UsageError` when there is no such wave.
    """
    place = trace.waves.filter(pl.col("wave") == wave).select("first_instruction", "instruction_count")
    if wave < 0 or not place.height:
        raise UsageError(f"there is no wave {wave}")
    instructions = trace.instructions.slice(*place.row(0))
    spans = loop_starts(trace)
    iterations = pl.DataFrame(_core.loop_iterations(instructions, spans, _call_rows(trace)))
    starts = (
        instructions.lazy()
        .select("row", start_cycles="time_cycles")
        .join(spans.lazy().select("loop", row="start_row"), on="row")
        .sort("loop", "start_cycles", maintain_order=True)
        .with_columns(number=pl.int_range(pl.len()).over("loop"))
    )
    return (
        iterations.lazy()
        .with_columns(number=pl.int_range(pl.len()).over("loop"), is_last=pl.col("is_last") == 1)
        .with_columns(entry=((pl.col("iteration") == 0).cum_sum().over("loop") - 1).cast(pl.UInt32))
        .join(starts, on=["loop", "number"], how="left", maintain_order="left")
        .sort("loop", "number")
        .select(LOOP_ITERATIONS.names)
        .collect()
    )


@once_per_trace
def _call_rows(trace: ThreadTrace) -> pl.Series:
    return call_rows(trace.code)
