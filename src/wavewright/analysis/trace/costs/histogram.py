"""Cycles along the code, by category of instruction."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.pipes import MATRIX, PIPES, pipes_of_rows
from wavewright.analysis.trace.selection import traced_waves
from wavewright.base.bounds import ENGINE, ITEM, Bounds, bounded, check_range
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.schema import CATEGORIES
from wavewright.model.trace import ThreadTrace

MAX_BINS = 100
_KINDS = 16  #: Cells per row in the core's table (kRowKinds of wave_sums.hpp), those of unknown rows in front.


@dataclass(frozen=True)
class RowHistogram(Answer, package=__package__):
    """Cycles per bin of code rows, by category."""

    bins: pl.DataFrame
    first_row: int
    last_row: int  #: -1 = there is no code.
    rows_per_bin: int
    bin_count: int
    cycles_total: int  #: Of all bins.
    unknown_cycles_total: int  #: Cycles of instructions with an unknown row: they are in no bin.


@bounded(bins=Bounds(1, MAX_BINS), first_row=ITEM, last_row=ITEM, se=ENGINE)
def row_histogram(
    trace: ThreadTrace, *, bins: int = 32, first_row: int = 0, last_row: int | None = None, se: int | None = None
) -> RowHistogram:
    """Cycles in at most `bins` equal bins of the rows from `first_row` to `last_row` (default: the last).

    `se` keeps one shader engine. Raises `UsageError` when there are too many bins or none, or a range ends before it
    starts.
    """
    check_range(first_row, last_row, "rows")
    end_row = int(trace.code["row"].max()) if trace.code.height else -1  # type: ignore[arg-type]
    first = min(max(first_row, 0), max(end_row, 0))
    last = min(end_row, max(first, end_row if last_row is None else last_row))
    per_bin = max(1, -(-(last - first + 1) // bins))
    sums = _sums(trace, se)
    inside = sums.filter(pl.col("row").is_between(first, last))
    number = ((pl.col("row") - first) // per_bin).cast(pl.UInt32)
    per_category = inside.group_by(number.alias("bin"), "kind").agg(pl.col("cycles", "count").sum()).sort("bin", "kind")
    start = (pl.col("bin").cast(pl.Int32) * per_bin + first).cast(pl.Int32)
    names = CATEGORIES | {MATRIX: "MATRIX"}
    return RowHistogram(
        bins=per_category.select(
            "bin",
            first_row=start,
            last_row=pl.min_horizontal(start + (per_bin - 1), pl.lit(last)).cast(pl.Int32),
            category=pl.col("kind").replace_strict(names, default="NONE", return_dtype=pl.String),
            cycles_total="cycles",
            execution_count=pl.col("count").cast(pl.Int64),
        ),
        first_row=first,
        last_row=last,
        rows_per_bin=per_bin,
        bin_count=-(-(last - first + 1) // per_bin),
        cycles_total=int(inside["cycles"].sum()),
        unknown_cycles_total=int(sums.filter(pl.col("row") < 0)["cycles"].sum()),
    )


@once_per_trace
def _sums(trace: ThreadTrace, se: int | None) -> pl.DataFrame:
    """Cycles and executions per row and category: `row`, `kind`, `cycles`, `count`; row -1 = unknown."""
    of_engine = pl.lit(value=True) if se is None else pl.col("se") == se
    placed = traced_waves(trace).select(
        track=pl.when(of_engine).then(0).otherwise(_core.NO_TRACK).cast(pl.UInt32),
        time=pl.lit(0, pl.Int64),
        first="first_instruction",
        count="instruction_count",
    )
    is_matrix = (pipes_of_rows(trace.code) == list(PIPES).index("MATRIX")).cast(pl.UInt8)
    sums = pl.DataFrame(_core.row_cycles(placed, trace.instructions, is_matrix, trace.code.height))
    cell = pl.int_range(pl.len(), dtype=pl.Int32)
    cells = sums.select(row=cell // _KINDS - 1, kind=(cell % _KINDS).cast(pl.UInt8), cycles="cycles", count="count")
    return cells.filter(pl.col("count") > 0)
