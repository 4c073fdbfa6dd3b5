"""The answer about metrics of single kernels and dispatches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright.analysis.counters.values.outliers import outlier_rows
from wavewright.model.answer import Answer
from wavewright.model.schema import frame_of


@dataclass(frozen=True)
class MetricValues(Answer, package=__package__):
    """Values of metrics, one row per kernel or dispatch."""

    by: str  #: kernel or dispatch.
    target: str
    normalization: str
    rules: str  #: corrected, the reference whose rules were applied, stored, or raw: counters as they were measured.
    metrics: pl.DataFrame
    values: pl.DataFrame
    outliers: pl.DataFrame

    def named(self) -> pl.DataFrame:
        """`values` with the names and units of the metrics as names of their columns, for plots."""
        names = {}
        for row in self.metrics.iter_rows(named=True):
            unit = f" ({row['unit']})" if row["unit"] else ""
            if row["metric_id"]:
                names[row["column"]] = f"{row['column']} {row['series'] or row['name']}{unit}"
        return self.values.rename(names)


def declared(rows: pl.DataFrame) -> pl.DataFrame:
    """The declared columns of `values`; what the rows lack is null.

    Examples
    --------
    >>> declared(pl.DataFrame({"kernel": [3]})).row(0)[:2]
    (3, None)
    """
    types = MetricValues.tables["values"].dtypes
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in types.items()
    )


def answer_of(
    target: str | None,
    by: str,
    frame: pl.DataFrame,
    metrics: list[dict[str, Any]],
    *,
    normalization: str = "kernel",
    rules: str = "corrected",
) -> MetricValues:
    """The answer for `frame`, which has the columns of `values` and those of `metrics`, with the outliers in it."""
    outliers = list(outlier_rows(frame, metrics)) if by == "dispatch" else []
    outliers.sort(key=lambda row: -(row["distance"] or float("inf")))
    return MetricValues(
        by=by,
        target=target or "",
        normalization=normalization,
        rules=rules,
        metrics=frame_of(MetricValues.tables["metrics"], metrics),
        values=frame.fill_nan(None),
        outliers=frame_of(MetricValues.tables["outliers"], outliers),
    )
