"""Buckets of durations: values that agree in their first nine binary digits are one, read as its middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["BUCKETS", "QUANTILE_ERROR", "bucket_number", "bucket_value", "bucket_width"]

_KEPT_BITS = 9
_PER_OCTAVE = 1 << (_KEPT_BITS - 1)
BUCKETS = 64 * _PER_OCTAVE
"""Buckets have numbers below this."""
QUANTILE_ERROR = 2.0**-_KEPT_BITS
"""Largest error of a value that is read as the middle of its bucket, as a share of it."""


def bucket_number(value: str) -> pl.Expr:
    """The number of the bucket of a value, from 0; values below 512 have one each.

    Examples
    --------
    >>> import polars as pl
    >>> pl.DataFrame({"ns": [7, 511, 512, 513, 514]}).select(bucket_number("ns")).to_series().to_list()
    [7, 511, 512, 512, 513]
    """
    import polars as pl

    bits = _dropped_bits(value)
    return (bits * _PER_OCTAVE + pl.col(value) // _power(bits)).alias(value)


def bucket_value(number: pl.Expr) -> pl.Expr:
    """The smallest value of a bucket.

    Examples
    --------
    >>> import polars as pl
    >>> pl.DataFrame({"number": [7, 512, 513]}).select(bucket_value(pl.col("number"))).to_series().to_list()
    [7, 512, 514]
    """
    bits = (number // _PER_OCTAVE - 1).clip(0, None)
    return (number - bits * _PER_OCTAVE) * _power(bits)


def bucket_width(value: str) -> pl.Expr:
    """How many values are in the bucket of a value.

    Examples
    --------
    >>> import polars as pl
    >>> pl.DataFrame({"ns": [7, 512, 5000]}).select(bucket_width("ns")).to_series().to_list()
    [1, 2, 16]
    """
    return _power(_dropped_bits(value))


def _dropped_bits(value: str) -> pl.Expr:
    """How many of the last binary digits of a value do not matter to its bucket."""
    import polars as pl

    return (64 - _KEPT_BITS - pl.col(value).bitwise_leading_zeros().cast(pl.Int64)).clip(0, None)


def _power(bits: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.lit(pl.Series([1 << n for n in range(63)], dtype=pl.Int64)).gather(bits)
