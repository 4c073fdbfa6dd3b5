"""Statistics of values over dispatches, row by row; missing values are left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Spread:
    """One number per row of values; NaN = no value."""

    count: Any  #: Values that are known.
    mean: Any
    deviation: Any  #: Of a sample; one value has none.
    minimum: Any
    q1: Any
    median: Any
    q3: Any
    maximum: Any

    def only_median(self, rows: Any) -> Spread:
        """The same without the other statistics of some rows.

        Examples
        --------
        >>> found = spread_of([[1.0, 3.0]]).only_median([True])
        >>> found.median.tolist(), found.mean.tolist()
        ([2.0], [nan])
        """
        others = ("mean", "deviation", "minimum", "q1", "q3", "maximum")
        return replace(self, **{name: np.where(rows, np.nan, getattr(self, name)) for name in others})


def spread_of(values: Any) -> Spread:
    """Statistics along the last axis; quartiles are interpolated between the two nearest values.

    Examples
    --------
    >>> found = spread_of([[4.0, float("nan"), 1.0, 2.0]])
    >>> found.count.tolist(), found.median.tolist(), found.q1.tolist()
    ([3], [2.0], [1.5])
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64), axis=-1)  # NaN comes last
    has_value = ~np.isnan(ordered)
    count = has_value.sum(axis=-1)
    if ordered.shape[-1] == 0:
        blank = np.full(ordered.shape[:-1], np.nan)
        return Spread(count, blank, blank, blank, blank, blank, blank, blank)
    with np.errstate(all="ignore"):
        apart = np.where(has_value, ordered, 0.0)
        mean = apart.sum(axis=-1) / np.where(count, count, np.nan)
        apart -= mean[..., None]  # in place: there may be many values
        apart[~has_value] = 0.0
        apart *= apart
        deviation = np.sqrt(apart.sum(axis=-1) / np.where(count > 1, count - 1, np.nan))
        last = np.maximum(count - 1, 0)

        def at(position: Any) -> Any:
            return np.take_along_axis(ordered, position[..., None], axis=-1)[..., 0]

        def quantile(share: float) -> Any:
            place = share * last
            below = np.floor(place).astype(np.int64)
            low, high, between = at(below), at(np.minimum(below + 1, last)), place - below
            return np.where(between < 0.5, low + (high - low) * between, high - (high - low) * (1 - between))

        middle = (at(last // 2) + at((last + 1) // 2)) / 2
        lowest = ordered[..., 0].copy()  # no view: it would keep all values
        return Spread(count, mean, deviation, lowest, quantile(0.25), middle, quantile(0.75), at(last))
