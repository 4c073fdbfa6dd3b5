"""An RPD file while it is written: its strings, and rows of its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.export.run.rpd.sql_schema import METADATA, TABLES, VIEWS

if TYPE_CHECKING:
    import sqlite3

_ROWS_AT_ONCE = 1 << 14


class RpdFile:
    """The tables of one file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._ids: dict[str, dict[str, int]] = {"rocpd_string": {}, "rocpd_ustring": {}}
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
        connection.executemany("INSERT INTO rocpd_metadata (tag, value) VALUES (?, ?)", METADATA.items())

    def insert(self, table: str, frame: pl.DataFrame, *, or_ignore: bool = False) -> None:
        """Add rows; with `or_ignore` only rows with new ids."""
        names = ", ".join(f'"{name}"' for name in frame.columns)
        places = ", ".join("?" * frame.width)
        verb = "INSERT OR IGNORE" if or_ignore else "INSERT"
        statement = f"{verb} INTO {table} ({names}) VALUES ({places})"
        self.connection.executemany(statement, frame.iter_rows(buffer_size=_ROWS_AT_ONCE))

    def text_ids(self, texts: pl.Series, table: str = "rocpd_string") -> pl.Series:
        """Ids of strings (String or Categorical); null counts as the empty string."""
        filled = texts.cast(pl.String).fill_null("")
        unique = filled.unique()
        ids = pl.Series([self._text_id(text, table) for text in unique], dtype=pl.Int64)
        return filled.replace_strict(unique, ids, return_dtype=pl.Int64) if len(ids) else filled.cast(pl.Int64)

    def _text_id(self, text: str, table: str) -> int:
        ids = self._ids[table]
        if text not in ids:
            ids[text] = len(ids) + 1
            self.connection.execute(f"INSERT INTO {table} (id, string) VALUES (?, ?)", (ids[text], text))  # noqa: S608
        return ids[text]

    def finish(self) -> None:
        """Make the views."""
        for name, sql in VIEWS.items():
            self.connection.execute(f"CREATE VIEW {name} AS {sql}")
