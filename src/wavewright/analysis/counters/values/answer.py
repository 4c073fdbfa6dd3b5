"""The answer about metrics of single kernels and dispatches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

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


_FEWEST = 5  #: Dispatches of a kernel from which on one of them can be an outlier.
_FAR = 5.0  #: Deviations (1.4826 times the median absolute one) from the median.
_LEAST_DIFFERENCE = 0.05  #: Of the median; smaller differences are no outliers, however equal the others are.


def outlier_rows(frame: pl.DataFrame, metrics: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Durations and metrics of dispatches far from the median of their kernel, which `frame` has a row for each of.

    >>> import polars as pl
    >>> some = {"kernel": [0] * 6, "kernel_name": ["k"] * 6, "dispatch_id": range(1, 7)}
    >>> some |= {"dispatch": range(6), "duration_ns_mean": [9, 10, 11, 9, 10, 90]}
    >>> [(row["dispatch"], row["value"]) for row in outlier_rows(pl.DataFrame(some), [])]
    [(5, 90.0)]
    """
    columns = [{"column": "duration_ns_mean", "metric_id": "", "name": "duration", "unit": "ns"}, *metrics]
    for part in frame.partition_by("kernel", maintain_order=True):
        if part.height < _FEWEST:
            continue
        for metric in columns:
            values = part[metric["column"]].cast(float).fill_null(float("nan")).to_numpy()
            if np.isfinite(values).sum() < _FEWEST:
                continue
            median = float(np.nanmedian(values))
            away = np.abs(values - median)
            deviation = 1.4826 * float(np.nanmedian(away))
            far = (away > _FAR * deviation) & (away > _LEAST_DIFFERENCE * abs(median))
            for at in np.flatnonzero(far):
                yield {
                    **{name: metric[name] for name in ("metric_id", "name", "unit")},
                    **{name: part[name][int(at)] for name in ("dispatch", "dispatch_id", "kernel_name")},
                    "value": float(values[at]),
                    "median": median,
                    "distance": float(away[at] / deviation) if deviation else None,
                }
