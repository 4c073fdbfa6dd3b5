"""Functions that the trace entered, and their executed rows."""

from __future__ import annotations

import polars as pl

from wavewright.model.answer import once_per_trace
from wavewright.model.executions import is_execution
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace


@once_per_trace
def entered_rows(trace: ThreadTrace) -> pl.DataFrame:
    """The code rows of every function in which at least one row was executed (PC sampling: was seen), in row order.

    Columns: `row`, `code_object`, `function`, `hit_count` (executions or samples; 0 = not executed). A code object
    holds more functions than a dispatch enters; those say nothing about it.
    """
    executed = (
        trace.instructions.lazy()
        .filter(is_execution() & (pl.col("row") >= 0))
        .group_by("row")
        .agg(seen=pl.len().cast(pl.Int64))
    )
    sampled = trace.samples.lazy().select("row", seen=pl.sum_horizontal(SAMPLE_COUNTS))
    hits = pl.concat([executed, sampled]).group_by("row").agg(hit_count=pl.col("seen").sum())
    rows = (
        trace.code.lazy()
        .select("row", "code_object", "function")
        .join(hits, on="row", how="left", maintain_order="left")
        .with_columns(pl.col("hit_count").fill_null(0))
        .collect(engine="streaming")
    )
    place = ["code_object", "function"]
    entered = rows.filter(pl.col("hit_count") > 0).select(place).unique()
    return rows.join(entered, on=place, how="semi", nulls_equal=True, maintain_order="left").sort("row")
