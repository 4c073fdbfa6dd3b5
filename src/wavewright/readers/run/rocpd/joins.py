"""Stored rows with the columns of the rows they refer to: `event.stack_id`, `symbol.display_name`, ..."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl

from wavewright.base.toml import packaged
from wavewright.readers.run.event_rows import Lookup, LookupBuilder
from wavewright.readers.run.rocpd.runs import DataType, RocpdRun, Types

#: Prefix before the dot -> column with the key, joined table, its column with the same key.
JOINS: dict[str, tuple[str, str, str]] = packaged("reading.toml", __package__)["joins"]

#: Columns that a row takes from its track when its own table has none: samples; in drafts of schema 4, all rows.
OF_TRACK = ("pid", "tid", "agent_id", "queue_id", "stream_id", "name_id")


def joined_chunks(run: RocpdRun, table: str, columns: Types) -> Iterator[pl.DataFrame]:
    """These columns of a stored table in chunks; a name with a dot is a column of the row that a join leads to."""
    places = {name: _place(run, table, name) for name in columns}
    types_by_join: dict[str, dict[str, DataType]] = {"": {}}
    for name, (join, column) in places.items():
        types_by_join.setdefault(join, {})[column] = columns[name]
    table_columns = types_by_join.pop("") | {JOINS[join][0]: pl.Int64 for join in types_by_join}
    if types_by_join and run.is_empty(table):  # the events of a run without copies are not read for them
        return
    targets = {join: _Target.read(run, *JOINS[join][1:], types) for join, types in types_by_join.items()}
    for piece in run.chunks(table, table_columns):
        rows = {join: target.lookup.rows(piece[JOINS[join][0]]) for join, target in targets.items()}
        series = []
        for name, (join, column) in places.items():
            values = targets[join].columns[column].gather(rows[join]).cast(columns[name]) if join else piece[column]
            series.append(values.alias(name))
        yield pl.DataFrame(series)


def _place(run: RocpdRun, table: str, name: str) -> tuple[str, str]:
    """The join, empty for the table itself, and the column there."""
    join, dot, column = name.rpartition(".")
    if not dot and name in OF_TRACK and not run.has(table, name) and run.has(table, "track_id"):
        return "track", name
    return join, column


@dataclass(frozen=True, eq=False, repr=False)
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
        column_types: Types = {key: pl.Int64, **types}
        for piece in event_chunks(run, column_types) if table == "event" else run.chunks(table, column_types):
            builder.add(piece[key])
            for name, dtype in dtypes.items():
                parts[name].append(_copied(piece[name], dtype))
        # One column after the other, so that only one of them is there twice.
        return cls(builder.done(), {name: pl.concat(parts.pop(name), rechunk=True) for name in types})


def _copied(series: pl.Series, dtype: DataType) -> pl.Series:
    """A copy of a column, so that the other columns of its chunk can be freed."""
    return series.cast(dtype) if series.dtype in (pl.String, pl.Categorical) else series + 0


# --- events: the kind of call, and the names of markers, once per distinct name ---


_COMPUTED_COLUMNS = ("category", "domain", "message")
_MARKER = "MARKER"


def event_chunks(run: RocpdRun, columns: Types) -> Iterator[pl.DataFrame]:
    """These columns of the stored table `event` in chunks; `category`, `domain` and `message` are computed.

    The message is the text of a marker; null for all other calls.
    """
    computed_names = [name for name in columns if name in _COMPUTED_COLUMNS]
    needs = {name: dtype for name, dtype in columns.items() if name not in _COMPUTED_COLUMNS}
    if not computed_names:
        yield from run.chunks("event", needs)
        return
    categories = _Categories.read(run)
    has_messages = "message" in computed_names and categories.has_markers
    needs |= {"category_id": pl.Int64} | ({"extdata": pl.String} if has_messages else {})
    for piece in run.chunks("event", needs):
        rows = categories.lookup.rows(piece["category_id"])
        domains = categories.domains.gather(rows)
        no_messages = pl.Series([None], dtype=pl.Categorical).new_from_index(0, piece.height)
        messages = _messages(piece["extdata"], domains) if has_messages else no_messages
        values = {"category": categories.names.gather(rows), "domain": domains, "message": messages}
        yield piece.with_columns(values[name].alias(name) for name in computed_names).select(*columns)


@dataclass(frozen=True, eq=False, repr=False)
class _Categories:
    """The names of categories, by id."""

    lookup: Lookup
    names: pl.Series
    domains: pl.Series
    has_markers: bool

    @classmethod
    def read(cls, run: RocpdRun) -> _Categories:
        if run.has("info_category", "name"):
            texts = run.frame("info_category", {"id": pl.Int64, "name": pl.String})
        else:
            texts = run.frame("string", {"id": pl.Int64, "string": pl.String}).rename({"string": "name"})
        # rocprof-sys writes rocm_hip_api, and names of its own for what it samples.
        name = pl.col("name").str.replace("^(timer|overflow)_sampling", "sampling")
        domains = texts.select(name.str.extract("^(?:rocm_)?([^_]*)").str.to_uppercase()).to_series()
        names, has_markers = texts["name"].cast(pl.Categorical), bool((domains == _MARKER).any())
        return cls(Lookup.of(texts["id"]), names, domains.cast(pl.Categorical), has_markers)


def _messages(extdata: pl.Series, domains: pl.Series) -> pl.Series:
    """The texts of markers, null for other events; each different JSON is decoded once."""
    markers = (domains == _MARKER).arg_true()
    texts = extdata.gather(markers)
    distinct = texts.drop_nulls().unique()
    messages = pl.Series([_message(text) for text in distinct], dtype=pl.String).cast(pl.Categorical)
    rows = pl.Series([None], dtype=pl.UInt32).new_from_index(0, len(extdata))
    numbers = texts.replace_strict(distinct, range(len(distinct)), default=None, return_dtype=pl.UInt32)
    return messages.gather(rows.scatter(markers, numbers))


def _message(text: str) -> str | None:
    if '"message"' not in text:
        return None
    try:
        message = _EXTDATA.decode(text).message
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, str) else None


class _Extdata(msgspec.Struct):
    """The message of an event; other members are ignored."""

    message: Any = None


_EXTDATA = msgspec.json.Decoder(_Extdata)
