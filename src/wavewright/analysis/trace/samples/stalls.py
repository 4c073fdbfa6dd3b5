"""Why sampled waves did not issue: reasons with their share of all samples, and the rows they are at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavewright.analysis.common.noise import share_bounds
from wavewright.analysis.trace.samples.causes import ISSUED, causes_of_samples
from wavewright.analysis.trace.samples.scope import SampleScope, scope_of
from wavewright.model.answer import Answer
from wavewright.model.schema import TableSpec, table_spec

if TYPE_CHECKING:
    from wavewright.model.trace import ThreadTrace

_SHARES = """
    sample_count  Int64    -  | samples
    share         Float64  -  | of all samples
    share_min     Float64  -  | lower end of the interval that holds the true share in 95 of 100 recordings
    share_max     Float64  -  | upper end
"""


@dataclass(frozen=True)
class SampleStalls(Answer):
    """Why sampled waves did not issue, the most frequent cause first."""

    definition: ClassVar[str] = (
        "A cause is the reason that the hardware recorded for a wave that did not issue; a wait is named by its "
        "counters, a stalled pipe by its instruction. Arbiter loss means that another wave issued instead. Shares are "
        "of all samples of the trace, with Wilson's 95 % interval; samples of one moment count as one observation."
    )
    tables: ClassVar[dict[str, TableSpec]] = {
        "causes": table_spec(
            "causes",
            "one cause, the most frequent first",
            f"""
            cause    String  -  | its name
            meaning  String  -  | what it means
            {_SHARES}
            row_count  Int64   -  | code rows it was seen at
            top_row    Int32   -  | the code row with the most of these samples
            """,
        ),
        "by_row": table_spec(
            "by_row",
            "one cause at one code row, the most frequent first",
            f"""
            row      Int32    -  | code.row
            address  UInt64?  -  | code.address
            text     String   -  | code.text
            file     String?  -  | code.file
            line     UInt32?  -  | code.line
            cause    String   -  | its name
            {_SHARES}
            """,
        ),
    }

    scope: SampleScope
    causes: pl.DataFrame
    by_row: pl.DataFrame


def sample_stalls(trace: ThreadTrace, *, rows: pl.Series | None = None) -> SampleStalls:
    """The causes of samples that were not issued; `rows` = only those at these code rows, as shares of all."""
    scope, _ = scope_of(trace)
    stalled = causes_of_samples(trace).filter(pl.col("cause") != ISSUED.name, pl.col("count") > 0)
    if rows is not None:
        stalled = stalled.filter(pl.col("row").is_in(rows.implode()))
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
    frame = counts.with_columns(
        pl.Series("share", shares, pl.Float64),
        pl.Series("share_min", [low for low, _ in bounds], pl.Float64),
        pl.Series("share_max", [high for _, high in bounds], pl.Float64),
    )
    return frame.select(pl.col(column.name).cast(getattr(pl, column.dtype)) for column in spec.columns)
