"""PC samples by instruction, source line, file, function, block or loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.costs.hotspots import unit_totals, units_of_rows
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace

_TOTALS = ("sample_count", *SAMPLE_COUNTS)


@dataclass(frozen=True)
class SampleHotspots(Answer, package=__package__):
    """PC samples of units of the code, the most frequent first."""

    by: str
    attribution: str
    sample_count: int
    issued_count: int
    stalled_count: int
    unknown_count: int
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
    """Samples of each unit of the code; `by` as in `hotspots`, where a kernel is the same as a function.

    Raises `UsageError` when blocks or loops are asked for and only the sampled instructions are known.
    """
    _check_code(trace, by)
    samples = trace.samples.with_columns(sample_count=pl.sum_horizontal(SAMPLE_COUNTS))
    samples = samples.filter(pl.col("sample_count") > 0).sort("row")
    total = int(samples["sample_count"].sum())
    reasons = trace.sample_reasons
    if rows is not None:
        samples, reasons = (frame.filter(pl.col("row").is_in(rows.implode())) for frame in (samples, reasons))
    sources = units_of_rows(trace, "function" if by == "kernel" else by, attribution, mine)
    if by == "kernel":
        sources = _with_signatures(trace, sources)
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


def _check_code(trace: ThreadTrace, by: str) -> None:
    """Blocks and loops need the instructions between the sampled ones."""
    if by in ("block", "loop") and trace.code.height and trace.code["size"].null_count() == trace.code.height:
        what = f"only the sampled instructions are known, so there is no {by} to count by"
        advice = "record with --output-format json, and put the code objects into the folder of the samples"
        raise UsageError(what, where=trace.source.path, advice=advice)


def _with_signatures(trace: ThreadTrace, sources: pl.DataFrame) -> pl.DataFrame:
    """Units that are called as the kernels are in other answers."""
    names = trace.kernels.select(unit="name", signature="demangled").unique("unit", keep="first")
    named = sources.join(names, on="unit", how="left", maintain_order="left")
    return named.with_columns(unit=pl.coalesce("signature", "unit")).drop("signature")


def _top_reason(reasons: pl.DataFrame) -> pl.DataFrame:
    """The most frequent reason of every unit."""
    return (
        reasons.group_by("unit", "reason")
        .agg(reason_count=pl.col("count").sum())
        .filter(pl.col("reason_count") > 0)
        .sort("reason_count", "reason", descending=[True, False])
        .unique("unit", keep="first", maintain_order=True)
    )
