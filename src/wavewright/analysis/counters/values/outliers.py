"""The dispatches that are not like the others of their kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

_FEWEST = 5  #: Dispatches of a kernel from which on one of them can be an outlier.
_FAR = 5.0  #: Deviations (1.4826 times the median absolute one) from the median.
_LEAST_DIFFERENCE = 0.05  #: Of the median; smaller differences are no outliers, however equal the others are.


def outlier_rows(frame: pl.DataFrame, metrics: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Durations and metrics of dispatches far from the median of their kernel, which `frame` has a row for each of.

    Examples
    --------
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
