"""Numbers as JavaScript has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["doubles"]


def doubles(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with 64-bit integers as doubles, which JavaScript's numbers are.

    Examples
    --------
    >>> import polars as pl
    >>> doubles(pl.DataFrame({"row": [1]})).dtypes
    [Float64]
    """
    import polars as pl

    return frame.with_columns(pl.col(pl.Int64, pl.UInt64).cast(pl.Float64))
