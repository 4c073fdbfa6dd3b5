"""Writes one run of a ROCpd file: interned strings, ids, and stand-ins for rows that must exist."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import Any

import polars as pl

from wavewright.export.run.event_ids import EventIds
from wavewright.export.run.rocpd.sql_schema import VERSION, create_tables, insert_sql
from wavewright.facts.loader import packaged
from wavewright.readers.run.rocpd.layout import StoredColumn, stored_tables

_LAYOUT = stored_tables(VERSION)
_ROWS_AT_ONCE = 1 << 14
#: Table -> a row for references that the schema demands and the recording does not have.
_STAND_INS: dict[str, dict[str, Any]] = packaged("rows.toml", __package__)["stand_ins"]
#: Columns that the schema does not demand, but without which AMD's views leave the row out.
_DEMANDED = {("kernel_dispatch", "region_name_id")} | {
    (table, "tid") for table in ("kernel_dispatch", "memory_copy", "memory_allocate")
}


class RunWriter:
    """The tables of one run, and the ids written to them."""

    def __init__(self, connection: sqlite3.Connection, guid: str, version: str = VERSION) -> None:
        self.guid = guid
        self.place: dict[str, Any] = {}  # nid and pid of the run's first process: where stand-ins belong.
        self.highest: Counter[str] = Counter()  # Stored table -> its highest id so far.
        self.events: EventIds
        # (name, registers) -> id of a kernel symbol that was made up for dispatches without one.
        self.symbols: dict[tuple[Any, ...], int] = {}
        self.tracks: dict[tuple[Any, ...], int] = {}  # (thread, name) -> id of the track of such samples.
        self.sample_times: list[pl.DataFrame] = []  # time_ns and id of the samples, for streamed counters.
        self._connection = connection
        self._strings: dict[str | None, int] = {}
        self._stand_ins: dict[tuple[Any, ...], int] = {}
        create_tables(connection, guid, version)

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        """Add rows to a stored table."""
        statement = insert_sql(table, self.guid, frame.columns)
        self._connection.executemany(statement, frame.iter_rows(buffer_size=_ROWS_AT_ONCE))

    def insert_row(self, table: str, **row: Any) -> int:
        """Add one row with a new id."""
        self.highest[table] += 1
        row["id"] = self.highest[table]
        self._connection.execute(insert_sql(table, self.guid, list(row)), list(row.values()))
        return self.highest[table]

    def text_ids(self, texts: pl.Series) -> pl.Series:
        """The ids of strings (String or Categorical) in the table of strings; null stays null."""
        unique = texts.unique().drop_nulls()
        ids = [self.text_id(text) for text in unique.cast(pl.String)]
        if not ids:
            return pl.Series([None], dtype=pl.Int64).new_from_index(0, len(texts))
        return texts.replace_strict(unique, pl.Series(ids, dtype=pl.Int64), default=None, return_dtype=pl.Int64)

    def text_id(self, text: str) -> int:
        """The id of one string."""
        if text not in self._strings:
            self._strings[text] = self.insert_row("string", string=text)
        return self._strings[text]

    def sample_ids(self, times: pl.Series) -> pl.Series:
        """A sample at each of the times; missing ones are added."""
        empty = pl.DataFrame(schema={"time_ns": pl.Int64, "sample": pl.Int64})
        samples = pl.concat([empty, *self.sample_times]).unique("time_ns", keep="first")
        new_times = times.drop_nulls().unique().sort().to_frame("time_ns").join(samples, on="time_ns", how="anti")
        if new_times.height:
            track = self.insert_row("track", **self.place, name_id=self.text_id("counters"))
            first = self.highest["sample"] + 1
            self.highest["sample"] += new_times.height
            new = new_times.with_columns(pl.int_range(first, first + new_times.height).alias("sample"))
            self.insert("sample", new.select(id="sample", track_id=pl.lit(track), timestamp="time_ns"))
            samples = pl.concat([samples, new])
        self.sample_times = [samples]
        return times.to_frame("time_ns").join(samples, on="time_ns", how="left", maintain_order="left")["sample"]

    def stand_in(self, table: str, **facts: Any) -> int:
        """The id of the stand-in row with these facts."""
        key = (table, *facts.items())
        if key not in self._stand_ins:
            row = _STAND_INS[table] | facts
            for column in _LAYOUT[table].columns:
                if column.is_required and column.target:
                    row[column.name] = self._filler(column)
            self._stand_ins[key] = self.insert_row(table, **row)
        return self._stand_ins[key]

    def filled(self, table: str, values: dict[str, pl.Series], height: int) -> pl.DataFrame:
        """Columns of a stored table with a value wherever one is demanded, and without values that are not allowed."""
        columns: list[pl.Series] = []
        for column in _LAYOUT[table].columns:
            series = values.get(column.name)
            if series is not None and column.choices:
                texts = series.cast(pl.String)
                series = texts.set(~texts.is_in(column.choices).fill_null(value=True), None)
            is_needed = column.is_required or (table, column.name) in _DEMANDED
            if is_needed and column.name not in ("id", "guid"):
                if series is None and column.default is None:
                    series = pl.Series([self._filler(column)]).new_from_index(0, height)
                elif series is not None and series.null_count():
                    texts = series.cast(pl.String) if series.dtype == pl.Categorical else series
                    series = texts.fill_null(self._filler(column))
            if series is not None:
                columns.append(series.alias(column.name))
        return pl.DataFrame(columns)

    def _filler(self, column: StoredColumn) -> Any:
        if column.name in self.place:
            return self.place[column.name]
        if column.target == "string":
            return self.text_id("")
        if column.target:
            return self.stand_in(column.target)
        return {"JSONB": "{}", "TEXT": ""}.get(column.type, 0)
