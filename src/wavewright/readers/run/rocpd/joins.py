"""Stored rows with the columns of the rows they refer to: `event.stack_id`, `symbol.display_name`, ..."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from wavewright.readers.run.rocpd.events import event_chunks
from wavewright.readers.run.rocpd.lookup import Lookup, LookupBuilder
from wavewright.readers.run.rocpd.runs import DataType, RocpdRun, Types

#: Prefix before the dot -> column with the key, joined table, its column with the same key.
JOINS = {
    "event": ("event_id", "event", "id"),
    "track": ("track_id", "track", "id"),
    "symbol": ("kernel_id", "info_kernel_symbol", "id"),
    "pmc": ("pmc_id", "info_pmc", "id"),
    "sample": ("sample_id", "sample", "id"),
    "moment": ("event_id", "sample", "event_id"),
    "caller": ("event_id", "region", "event_id"),
}

#: Columns that a row takes from its track when its own table has none: samples; in drafts of schema 4, all rows.
OF_TRACK = ("pid", "tid", "agent_id", "queue_id", "stream_id", "name_id")


def joined_chunks(run: RocpdRun, table: str, columns: Types) -> Iterator[pl.DataFrame]:
    """These columns of a stored table in chunks; a name with a dot is a column of the row that a join leads to."""
    places = {name: _place(run, table, name) for name in columns}
    types_by_join: dict[str, dict[str, DataType]] = {"": {}}
    for name, (join, column) in places.items():
        types_by_join.setdefault(join, {})[column] = columns[name]
    table_columns = types_by_join.pop("") | {JOINS[join][0]: pl.Int64 for join in types_by_join}
    targets = {join: _Target.read(run, *JOINS[join][1:], types) for join, types in types_by_join.items()}
    for piece in run.chunks(table, table_columns):
        rows = {join: target.lookup.rows(piece[JOINS[join][0]]) for join, target in targets.items()}
        yield pl.DataFrame(
            [
                (targets[join].columns[column].gather(rows[join]).cast(columns[name]) if join else piece[column]).alias(
                    name
                )
                for name, (join, column) in places.items()
            ]
        )


def _place(run: RocpdRun, table: str, name: str) -> tuple[str, str]:
    """The join, empty for the table itself, and the column there."""
    join, dot, column = name.rpartition(".")
    if not dot and name in OF_TRACK and not run.has(table, name) and run.has(table, "track_id"):
        return "track", name
    return join, column


@dataclass(frozen=True)
class _Target:
    """Columns of a table that others refer to."""

    lookup: Lookup
    columns: dict[str, pl.Series]

    @classmethod
    def read(cls, run: RocpdRun, table: str, key: str, types: Types) -> _Target:
        builder = LookupBuilder()
        # Strings are stored once each: nearly all events have "{}" as call stack, lines and properties.
        dtypes = {name: pl.Categorical if dtype == pl.String else dtype for name, dtype in types.items()}
        parts = {name: [pl.Series(name, [], dtype)] for name, dtype in dtypes.items()}
        read: Types = {key: pl.Int64, **types}
        for piece in event_chunks(run, read) if table == "event" else run.chunks(table, read):
            builder.add(piece[key])
            for name, dtype in dtypes.items():
                parts[name].append(_copied(piece[name], dtype))
        # One column after the other, so that only one of them is there twice.
        return cls(builder.done(), {name: pl.concat(parts.pop(name), rechunk=True) for name in types})


def _copied(series: pl.Series, dtype: DataType) -> pl.Series:
    """A copy of a column, so that the other columns of its chunk can be freed."""
    return series.cast(dtype) if series.dtype in (pl.String, pl.Categorical) else series + 0
