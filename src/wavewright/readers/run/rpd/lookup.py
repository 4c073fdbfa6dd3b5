"""Rows found by their ids, without a hash table: the ids of a database are sorted, or are sorted once."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from wavewright.readers.files.sqlite import Database


class Keyed:
    """A table by its id."""

    def __init__(self, frame: pl.DataFrame, key: str) -> None:
        frame = frame.drop_nulls(key)
        if not frame[key].is_sorted():
            frame = frame.sort(key, maintain_order=True)
        if (frame[key].diff() == 0).any():
            frame = frame.unique(key, keep="first", maintain_order=True)
        self.keys, self.frame = frame[key], frame

    def rows(self, ids: pl.Series) -> pl.Series:
        """The row of every id; null where there is none."""
        if not self.keys.len():
            return pl.Series(ids.name, [None], dtype=pl.UInt32).new_from_index(0, ids.len())
        last = self.keys.len() - 1
        lowest = self.keys[0]
        are_dense = self.keys[last] - lowest == last  # as SQLite numbers rows: no search
        at = ids - lowest if are_dense else self.keys.search_sorted(ids, side="left")
        at = at.clip(0, last)
        keys = self.keys.gather(at)
        return pl.select(pl.when((keys == ids).fill_null(value=False)).then(at.cast(pl.UInt32))).to_series()

    def take(self, column: str, keys: pl.Series) -> pl.Series:
        """A column's value for every id; null where there is none."""
        return self.frame[column].gather(self.rows(keys))


def keyed(database: Database, table: str, key: str, columns: Mapping[str, pl.DataType | type[pl.DataType]]) -> Keyed:
    """Columns of a stored table, by its id."""
    return Keyed(database.frame(table, {key: pl.Int64, **columns}), key)
