"""Columns of a `Run` from stored columns of one run: row numbers, strings, checked times."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import polars as pl

from wavewright.readers.run.event_rows import Lookup, sound_ends
from wavewright.readers.run.rocpd.mapping import End, First, Json, MappedRow, Origin, Stored, Text
from wavewright.readers.run.rocpd.runs import DataType, RocpdRun


class RunColumns:
    """Makes columns for the rows of one run.

    `before` says how many rows the runs before it have of each numbered table.
    """

    def __init__(self, run: RocpdRun, before: Mapping[str, int]) -> None:
        self.run = run
        self.before = before
        self._lookups: dict[str, Lookup] = {}  #: By the name of the table.

    def needs(self, origin: Origin, dtype: DataType) -> dict[str, DataType]:
        """The stored columns that a column needs, with the types to read."""
        match origin:
            case Stored(column):
                return {column: pl.Int64 if dtype == pl.Boolean else dtype}
            case Text(column):
                return {column: pl.Int64}
            case MappedRow(_, column):
                return {} if self._is_single(origin) else {column: pl.Int64}
            case Json(column):
                return {column: pl.String}
            case End(begin, end):
                return {begin: pl.Int64, end: pl.Int64}
            case First(first, other):
                return self.needs(first, dtype) | self.needs(other, dtype)

    def column(self, origin: Origin, piece: pl.DataFrame, dtype: DataType, losses: Counter[str]) -> pl.Series:
        """The column for the rows of `piece`; counts unsound values in `losses`, by kind."""
        match origin:
            case Stored(column):
                return piece[column].cast(dtype)
            case Text(column):
                lookup, texts = self._texts
                return texts.gather(_rows(lookup, piece[column], losses))
            case MappedRow(table, column):
                first = pl.Series([self.before[table]], dtype=pl.UInt32)
                if self._is_single(origin):
                    return first.new_from_index(0, piece.height)
                return _rows(self._lookup(table), piece[column], losses) + first
            case Json(column, key, factor):
                return pl.Series([_number(text, key, factor) for text in piece[column]], dtype=dtype)
            case End(begin, end):
                ends, unsound = sound_ends(piece[begin], piece[end])
                losses.update(unsound)
                return ends
            case First(first_origin, other):
                both = [self.column(part, piece, dtype, losses) for part in (first_origin, other)]
                return pl.select(pl.coalesce(both)).to_series()

    def numbers(self, table: str, ids: pl.Series) -> pl.Series:
        """The numbers of the rows of `table` with these ids; null where there is none."""
        return self._lookup(table).rows(ids) + pl.Series([self.before[table]], dtype=pl.UInt32)

    def _lookup(self, table: str) -> Lookup:
        if table not in self._lookups:
            self._lookups[table] = Lookup.of(self.run.frame(table, {"id": pl.Int64})["id"])
        return self._lookups[table]

    def _is_single(self, origin: MappedRow) -> bool:
        """True if rows without a process can only belong to one."""
        return origin.table == "info_process" and "." in origin.column and self._lookup(origin.table).count == 1

    @cached_property
    def _texts(self) -> tuple[Lookup, pl.Series]:
        texts = self.run.frame("string", {"id": pl.Int64, "string": pl.Categorical})
        return Lookup.of(texts["id"]), texts["string"]


def _rows(lookup: Lookup, keys: pl.Series, losses: Counter[str]) -> pl.Series:
    rows = lookup.rows(keys)
    losses["dangling_rows"] += rows.null_count() - keys.null_count()
    return rows


def _number(text: str | None, key: str, factor: int) -> int | None:
    """The integer at a key of a JSON object; None when there is none."""
    try:
        value: Any = json.loads(text or "{}")[key]
    except (ValueError, LookupError, TypeError):
        return None
    return value * factor if type(value) is int and abs(value) < 1 << 48 else None
