"""Why sampled waves did not issue: reasons with their share of all samples, and the rows they are at."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.noise import share_bounds
from wavewright.analysis.trace.samples.causes import ISSUED, SampleScope, causes_of_samples, scope_of
from wavewright.analysis.trace.selection import at_rows
from wavewright.model.answer import Answer
from wavewright.model.schema import TableSpec
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class SampleStalls(Answer, package=__package__):
    """Why sampled waves did not issue, the most frequent cause first."""

    scope: SampleScope
    causes: pl.DataFrame
    by_row: pl.DataFrame


def sample_stalls(trace: ThreadTrace, *, rows: pl.Series | None = None) -> SampleStalls:
    """The causes of samples that were not issued; `rows` = only those at these code rows, as shares of all."""
    scope, _ = scope_of(trace)
    stalled = causes_of_samples(trace).filter(pl.col("cause") != ISSUED.name, pl.col("count") > 0)
    stalled = at_rows(stalled, rows)
    by_row = (
        stalled.group_by("row", "cause")
        .agg(sample_count=pl.col("count").sum())
        .join(trace.code.select("row", "address", "text", "file", "line"), on="row", how="left")
        .sort("sample_count", "row", "cause", descending=[True, False, False])
    )
    causes = (
        stalled.sort("count", "row", descending=[True, False])
        .group_by("cause", maintain_order=True)
        .agg(
            pl.col("meaning").first(),
            sample_count=pl.col("count").sum(),
            row_count=pl.col("row").n_unique(),
            top_row=pl.col("row").first(),
        )
        .sort("sample_count", "cause", descending=[True, False])
    )
    tables = SampleStalls.tables
    return SampleStalls(scope, _typed(tables["causes"], causes, scope), _typed(tables["by_row"], by_row, scope))


def _typed(spec: TableSpec, counts: pl.DataFrame, scope: SampleScope) -> pl.DataFrame:
    """The declared columns, shares with their bounds among them."""
    total, independent = scope.sample_count or 1, scope.independent_count
    shares = [count / total for count in counts["sample_count"].to_list()]
    bounds = [share_bounds(share, independent) for share in shares]
    columns = {"share": shares, "share_min": [low for low, _ in bounds], "share_max": [high for _, high in bounds]}
    frame = counts.with_columns(pl.Series(name, values, pl.Float64) for name, values in columns.items())
    return frame.select(spec.casts)
