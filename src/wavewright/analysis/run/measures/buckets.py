"""Buckets of durations: values that agree in their first nine binary digits are one, read as its middle.

The native core puts values into buckets (wavewright::bucket_floor).
"""

from __future__ import annotations

import polars as pl

_KEPT_BITS = 9
#: Largest error of a value that is read as the middle of its bucket, as a share of it.
QUANTILE_ERROR = 2.0**-_KEPT_BITS


def bucket_width(value: str) -> pl.Expr:
    """Number of values in the bucket of a value.

    Examples
    --------
    >>> import polars as pl
    >>> pl.DataFrame({"ns": [7, 512, 5000]}).select(bucket_width("ns")).to_series().to_list()
    [1, 2, 16]
    """
    dropped_bits = (64 - _KEPT_BITS - pl.col(value).bitwise_leading_zeros().cast(pl.Int64)).clip(0, None)
    return pl.lit(pl.Series([1 << n for n in range(63)], dtype=pl.Int64)).gather(dropped_bits)
