"""Cost of each code row over all traced waves: hits, latency, stall and idle; rows of functions that were entered."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.parts import added, answers
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace

_TOTALS = ("row", "hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total")


def row_totals(trace: ThreadTrace) -> pl.DataFrame:
    """Totals of every code row that was executed, in row order.

    Columns: `row` (code.row), `hit_count` (executions), `latency_cycles_total` (sum of durations),
    `stall_cycles_total` (sum of stalls) and `idle_cycles_total` (sum of the gaps before its executions: from the
    latest end of the wave's earlier instructions, or the wave's start, to the first attempt to issue). Overlapping
    instructions have no gap. Instructions without a known PC have no row; as in AMD's writer they neither count nor
    end a gap.
    """
    return totals_and_maxima(trace).select(_TOTALS)


@once_per_trace
def totals_and_maxima(trace: ThreadTrace) -> pl.DataFrame:
    """The columns of `row_totals`, and the longest duration and stall (`latency_cycles_max`, `stall_cycles_max`)."""
    return added(answers(trace, totals_of_part), ["row"]).sort("row")


def totals_of_part(part: ThreadTrace, whole: ThreadTrace) -> pl.DataFrame:
    """Cost of each code row in a part (`parts`): the columns of `totals_and_maxima`."""
    return pl.DataFrame(_core.row_totals(part.instructions, part.waves, whole.code.height))


@once_per_trace
def entered_rows(trace: ThreadTrace) -> pl.DataFrame:
    """The code rows of every function in which at least one row was executed (PC sampling: was seen), in row order.

    Columns: `row`, `code_object`, `function`, `hit_count` (executions or samples; 0 = not executed). A code object
    holds more functions than a dispatch enters; those say nothing about it.
    """
    sampled = trace.samples.select("row", hit_count=pl.sum_horizontal(SAMPLE_COUNTS))
    executed = row_totals(trace).select("row", "hit_count")
    hits = pl.concat([executed, sampled]).group_by("row").agg(pl.col("hit_count").sum())
    rows = trace.code.select("row", "code_object", "function")
    rows = rows.join(hits, on="row", how="left", maintain_order="left").with_columns(pl.col("hit_count").fill_null(0))
    place = ["code_object", "function"]
    entered = rows.filter(pl.col("hit_count") > 0).select(place).unique()
    return rows.join(entered, on=place, how="semi", nulls_equal=True, maintain_order="left").sort("row")
