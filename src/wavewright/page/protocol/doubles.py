"""Numbers as JavaScript has them."""

from __future__ import annotations

import polars as pl


def doubles(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with 64-bit integers as doubles, which JavaScript's numbers are.

    Examples
    --------
    >>> import polars as pl
    >>> doubles(pl.DataFrame({"row": [1]})).dtypes
    [Float64]
    """
    return frame.with_columns(pl.col(pl.Int64, pl.UInt64).cast(pl.Float64))
