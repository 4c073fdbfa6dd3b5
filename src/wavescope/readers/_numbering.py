"""Numbers for the things that the rows of a profile name by their ids: processes, threads, queues, streams, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

__all__ = ["link", "numbered"]


def numbered(frames: Iterable[pl.DataFrame], keys: Sequence[str], number: str) -> pl.DataFrame:
    """One row per different value of the columns `keys`, in the order of their values, numbered from 0.

    Frames without one of the columns and rows without a value of the last key add nothing.

    Examples
    --------
    >>> import polars as pl
    >>> numbered([pl.DataFrame({"tid": [7, 3, 7]})], ["tid"], "thread").rows()
    [(0, 3), (1, 7)]
    """
    import polars as pl

    found = [frame.select(keys).unique() for frame in frames if set(keys) <= set(frame.columns)]
    if not found:
        return pl.DataFrame(schema={number: pl.UInt32, **dict.fromkeys(keys, pl.Int64)})
    every = pl.concat(found, how="vertical_relaxed").unique().drop_nulls(keys[-1]).sort(keys)
    return every.with_row_index(number)


def link(frame: pl.DataFrame, table: pl.DataFrame, keys: Sequence[str], number: str) -> pl.DataFrame:
    """`frame` with the column `number` of the row of `table` that has the same `keys`; null where there is none.

    Examples
    --------
    >>> import polars as pl
    >>> link(pl.DataFrame({"tid": [7]}), pl.DataFrame({"thread": [1], "tid": [7]}), ["tid"], "thread")["thread"][0]
    1
    """
    import polars as pl

    if not set(keys) <= set(frame.columns):
        return frame.with_columns(pl.lit(None, pl.UInt32).alias(number))
    return frame.join(table.select(number, *keys), on=list(keys), how="left", maintain_order="left")
