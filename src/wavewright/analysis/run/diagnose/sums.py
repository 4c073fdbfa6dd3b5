"""Sums of columns of integers as numbers of Python."""

from __future__ import annotations

import polars as pl


def total(values: pl.Series) -> float:
    """The sum of a column of numbers.

    >>> import polars as pl
    >>> total(pl.Series([1, 2]))
    3.0
    """
    return float(values.sum())
