"""PC samples by instruction, source line, file, function, block or loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavescope.analysis.trace.costs.hotspots import unit_totals, units_of_rows
from wavescope.model.answer import Answer
from wavescope.model.schema import TableSpec, table_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.model.trace import ThreadTrace

_TOTALS = ("sample_count", "issued_count", "stalled_count")


@dataclass(frozen=True)
class SampleHotspots(Answer):
    """PC samples of units of the code, the most frequent first."""

    definition: ClassVar[str] = (
        "A sample is one look at what a wave is about to execute: either the instruction is issued, or it is stalled "
        "for a reason. Every sampled code row belongs to exactly one unit. Shares are of all samples."
    )
    tables: ClassVar[dict[str, TableSpec]] = {
        "units": table_spec(
            "units",
            "one unit (instruction, line, ...)",
            """
            unit           String   -  | its name; null = rows that belong to none
            first_row      Int32    -  | first sampled code.row in it
            address        UInt64   -  | code.address of that row
            text           String   -  | code.text of its most sampled row
            file           String?  -  | source file of its most sampled row, as attributed
            line           UInt32?  -  | source line of its most sampled row
            row_count      Int64    -  | sampled code rows in it
            sample_count   Int64    -  | how often waves were sampled here
            issued_count   Int64    -  | samples in which the instruction was issued
            stalled_count  Int64    -  | samples in which it was not issued
            sample_share   Float64  -  | of all samples
            reason         String   -  | most frequent reason of stalls (SAMPLE_REASONS); null = none
            reason_count   Int64?   -  | samples with that reason
            """,
        ),
        "reasons": table_spec(
            "reasons",
            "one reason of stalls, the most frequent first",
            """
            reason  String   -  | why (SAMPLE_REASONS)
            count   Int64    -  | samples
            share   Float64  -  | of all samples
            """,
        ),
    }

    by: str
    attribution: str
    sample_count: int
    issued_count: int
    stalled_count: int
    reasons: pl.DataFrame
    units: pl.DataFrame


def sample_hotspots(
    trace: ThreadTrace,
    *,
    rows: pl.Series | None = None,
    by: str = "instruction",
    attribution: str = "innermost",
    mine: Sequence[str] = (),
) -> SampleHotspots:
    """Samples of each unit of the code; `by` as in `hotspots`, where a kernel is the same as a function."""
    samples = trace.samples.with_columns(sample_count=pl.col("issued_count") + pl.col("stalled_count"))
    samples = samples.filter(pl.col("sample_count") > 0).sort("row")
    total = int(samples["sample_count"].sum())
    reasons = trace.sample_reasons
    if rows is not None:
        samples, reasons = (frame.filter(pl.col("row").is_in(rows.implode())) for frame in (samples, reasons))
    sources = units_of_rows(trace, "function" if by == "kernel" else by, attribution, mine)
    units = unit_totals(trace, samples, sources, _TOTALS, "sample_count")
    top = _top_reason(reasons.join(sources.select("row", "unit"), on="row", how="left"))
    units = units.join(top, on="unit", how="left", nulls_equal=True, maintain_order="left")
    totals = samples.select(pl.col(_TOTALS).sum()).row(0, named=True)
    return SampleHotspots(
        by=by,
        attribution=attribution,
        **totals,
        reasons=reasons.group_by("reason")
        .agg(pl.col("count").sum())
        .filter(pl.col("count") > 0)
        .sort("count", "reason", descending=[True, False])
        .with_columns(share=pl.col("count") / (total or 1)),
        units=units.with_columns(sample_share=pl.col("sample_count") / (total or 1)).select(
            pl.col(column.name).cast(getattr(pl, column.dtype)) for column in SampleHotspots.tables["units"].columns
        ),
    )


def _top_reason(reasons: pl.DataFrame) -> pl.DataFrame:
    """The most frequent reason of every unit."""
    return (
        reasons.group_by("unit", "reason")
        .agg(reason_count=pl.col("count").sum())
        .filter(pl.col("reason_count") > 0)
        .sort("reason_count", "reason", descending=[True, False])
        .unique("unit", keep="first", maintain_order=True)
    )
