"""The code with the cost of each row in cycles or PC samples, and the rows that wait for each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from wavewright.analysis.code.control_flow import blocks
from wavewright.analysis.trace.code.attribution import LANE_SUMS, with_lane_sums
from wavewright.analysis.trace.code.control_flow import LOOPS, loops, taken_jumps
from wavewright.analysis.trace.costs.row_costs import ROW_SUMS, row_costs
from wavewright.analysis.trace.parts import added, pieces_of_waves
from wavewright.analysis.trace.selection import Selection, at_rows, select
from wavewright.analysis.trace.waits.stall_rows import stall_rows
from wavewright.base.bounds import ITEM, bounded
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.executions import is_execution
from wavewright.model.schema import SAMPLE_COUNTS, TableSpec
from wavewright.model.trace import ThreadTrace
from wavewright.readers.trace.waits import match_waits


@dataclass(frozen=True)
class IsaListing(Answer, package=__package__):
    """The code with its costs, its waits and its taken branches."""

    tables: ClassVar[Mapping[str, TableSpec]] = {"loops": LOOPS}

    wave: int | None  #: The one wave that was looked at; None = all chosen waves.
    iteration: int | None  #: The execution (from 0) whose costs are given; None = all.
    rows: pl.DataFrame
    arrows: pl.DataFrame
    branches: pl.DataFrame
    loops: pl.DataFrame


@dataclass(frozen=True)
class SampleListing(Answer, package=__package__):
    """The code with its samples."""

    sample_count: int
    stalled_count: int
    rows: pl.DataFrame


@bounded(wave=ITEM, iteration=ITEM)
def isa_listing(
    trace: ThreadTrace,
    *,
    rows: pl.Series | None = None,
    wave: int | None = None,
    iteration: int | None = None,
    lane_sums: pl.DataFrame | None = None,
) -> IsaListing:
    """The code with what each row cost, which rows it waited for, and where branches went.

    Raises `UsageError` when there is no such wave, or no row was executed so often in it; when lanes are asked for one
    iteration.

    `rows` = only these rows, and arrows and branches that start or end in them. `wave` = only this wave, `iteration`
    only the n-th execution (from 0) of each row in it, or in the wave with the most instructions. `lane_sums` is what
    `lanes.answer.lane_sums` says about the trace, to show it as well.
    """
    if iteration is not None and lane_sums is not None:
        raise UsageError("lanes are added up over all executions", advice="leave out --iteration or --lanes")
    if iteration is not None and wave is None:
        by_length = trace.waves.sort("instruction_count", descending=True, maintain_order=True)
        if not by_length.height:
            raise UsageError("there is no wave whose iterations could be looked at", where=trace.source.path)
        wave = int(by_length["wave"][0])
    chosen = trace if wave is None else select(trace, Selection(waves=(wave,)))
    costs = _costs(chosen) if iteration is None else _costs_of_iteration(chosen, iteration)
    code = trace.code.join(blocks(trace.code, taken_jumps(trace)).by_row, on="row", how="left", maintain_order="left")
    arrows, executed_loops = wait_arrows(chosen), loops(chosen)
    branches = taken_jumps(chosen).select("from_row", "to_row", count="taken_count")
    if rows is not None:
        arrows = arrows.filter(pl.any_horizontal(pl.col("wait_row", "producer_row").is_in(rows.implode())))
        branches = branches.filter(pl.any_horizontal(pl.col("from_row", "to_row").is_in(rows.implode())))
    listed = with_lane_sums(_listed(code, costs, rows), lane_sums)
    return IsaListing(wave, iteration, listed.select(IsaListing.tables["rows"].names), arrows, branches, executed_loops)


def _listed(code: pl.DataFrame, costs: pl.DataFrame, rows: pl.Series | None) -> pl.DataFrame:
    """All code rows, or the chosen ones, with their costs; those never executed cost nothing."""
    names = [name for name in IsaListing.tables["rows"].names if name not in LANE_SUMS]
    totals = [name for name in names if name.endswith("_total")]
    chosen = code.lazy() if rows is None else code.lazy().filter(pl.col("row").is_in(rows.implode()))
    executed = pl.col("hit_count") > 0
    return (
        chosen.select(names[: names.index("hit_count")])
        .join(costs.lazy(), on="row", how="left")
        .with_columns(pl.col("hit_count").fill_null(0))
        .with_columns(
            *(pl.when(executed).then(name).otherwise(0).alias(name) for name in totals),
            latency_cycles_mean=pl.when(executed).then(pl.col("latency_cycles_total") / pl.col("hit_count")),
        )
        .sort("row")
        .select(names)
        .collect()
    )


def _costs(trace: ThreadTrace) -> pl.DataFrame:
    """Costs of the executed rows, and the class that their stall is mostly of."""
    largest = stall_rows(trace).filter(pl.col("stall_cycles_total") > 0).group_by("row", maintain_order=True)
    return row_costs(trace).join(largest.agg(stall_class=pl.col("class").first()), on="row", how="left")


def _costs_of_iteration(trace: ThreadTrace, iteration: int) -> pl.DataFrame:
    """Costs of the n-th execution of each row; the trace has one wave."""
    number = is_execution().cast(pl.Int64).cum_sum().over("row")  # two records of a barrier are one execution
    records = trace.instructions.with_columns(number=number).filter(pl.col("row") >= 0)
    execution_count = records.select(pl.col("number").max().fill_null(0)).item()
    if iteration >= execution_count:
        what = f"no row has an execution {iteration} in wave {trace.waves['wave'][0]}"
        no_row = "choose another wave: its instructions have no known row"
        advice = f"executions 0 to {execution_count - 1}" if execution_count else no_row
        raise UsageError(what, where=trace.source.path, advice=advice)
    end = pl.col("time_cycles") + pl.col("duration_cycles")
    start: int = trace.waves["start_cycles"][0]
    return (
        records.lazy()
        .with_columns(free_from=pl.max_horizontal(end.cum_max().shift(1), pl.lit(start)))
        .filter(pl.col("number") == iteration + 1)
        .group_by("row", maintain_order=True)
        .agg(
            hit_count=pl.lit(1, pl.Int64),
            latency_cycles_total=pl.col("duration_cycles").cast(pl.Int64).sum(),
            latency_cycles_max=pl.col("duration_cycles").max(),
            stall_cycles_total=pl.col("stall_cycles").cast(pl.Int64).sum(),
            stall_cycles_max=pl.col("stall_cycles").max(),
            idle_cycles_total=(pl.col("time_cycles") - pl.col("free_from")).clip(lower_bound=0).sum(),
            stall_class=pl.lit(None, pl.String),
            **{name: pl.lit(None, pl.Int64) for name in ROW_SUMS if name.startswith("exposed_")},
        )
        .collect()
    )


def sample_listing(trace: ThreadTrace, *, rows: pl.Series | None = None) -> SampleListing:
    """The code with how often each row was sampled; `rows` = only these code rows."""
    names = SampleListing.tables["rows"].names
    code = at_rows(trace.code, rows)
    count = pl.col("count")
    reasons = (
        trace.sample_reasons.filter(count > 0)
        .sort("count", "reason", descending=[True, False])
        .group_by("row", maintain_order=True)
        .agg(pl.col("reason").first(), reason_share=count.first() / count.sum())
    )
    listed = (
        code.select(names[:8])
        .join(trace.samples, on="row", how="left", maintain_order="left")
        .join(reasons, on="row", how="left", maintain_order="left")
        .with_columns(pl.col(SAMPLE_COUNTS).fill_null(0))
        .select(names)
    )
    stalled = int(listed["stalled_count"].sum())
    return SampleListing(sum(int(listed[name].sum()) for name in SAMPLE_COUNTS), stalled, listed)


def wait_arrows(trace: ThreadTrace) -> pl.DataFrame:
    """The arrows of `isa_listing` alone: which rows waited for which, through which counter, and how often."""
    keys = ["wait_row", "producer_row", "counter"]
    pieces = (piece.rename({"row": "wait_row"}) for piece in matched_waits(trace))
    pieces = (piece.filter(pl.col("wait_row") >= 0, pl.col("producer_row") >= 0) for piece in pieces)
    return added([piece.group_by(keys).agg(count=pl.len().cast(pl.Int64)) for piece in pieces], keys).sort(keys)


def matched_waits(trace: ThreadTrace) -> Iterator[pl.DataFrame]:
    """Pieces of `trace.waits`, which is large: some whole waves each, whose positions count from the piece's start."""
    if _has_waits_table(trace):
        yield trace.waits
        return
    for piece in pieces_of_waves(trace, "wave", "row"):
        yield match_waits(piece, trace.code, trace.gfxip)


def waits_of_wave(trace: ThreadTrace, wave: int, first: int, count: int) -> pl.DataFrame:
    """Rows of `trace.waits` of a wave with `count` instructions; positions count from the `first` of them."""
    if _has_waits_table(trace):
        positions = pl.col("instruction", "producer").cast(pl.Int64) - first
        return trace.waits.filter(pl.col("wave") == wave).with_columns(positions)
    return match_waits(trace.instructions.slice(first, count), trace.code, trace.gfxip)


def _has_waits_table(trace: ThreadTrace) -> bool:
    """True where the table is there, or follows from more than the instructions of the trace."""
    is_made = "waits" in trace.tables or "waits" not in trace.lazy_tables
    return is_made or trace.part_of is not None or trace.source.format != "raw capture"
