"""Rows of one SELECT over a store: the tables `captures` and `quantities`, in a database that can only be read."""

from __future__ import annotations

import sqlite3
import time

import polars as pl

from wavewright.base.sql import quoted
from wavewright.errors import UsageError
from wavewright.model.baseline import OF_CAPTURE, OF_QUANTITY, STORE_ROWS
from wavewright.readers.files.sqlite.permits import is_reading

TABLES = {"captures": OF_CAPTURE, "quantities": ("capture", *OF_QUANTITY)}
_SQL_TYPES = {"Int64": "INTEGER", "Float64": "REAL", "String": "TEXT"}
_MOST_ROWS = 1_000_000  #: A query that gives more is refused.
_MOST_SECONDS = 120.0  #: A query that takes longer is stopped.
_LONGEST_VALUE = 10_000_000  #: Bytes of a string or blob that SQLite makes.
_STEPS = 100_000  #: Instructions of SQLite between two looks at the clock.


def store_query(rows: pl.DataFrame, sql: str) -> pl.DataFrame:
    """The rows of one SELECT.

    Raises `UsageError` when it is not one SELECT, cannot be run, takes too long or gives too much.
    """
    connection = sqlite3.connect(":memory:")
    try:
        for table, columns in TABLES.items():
            frame = rows.select(columns)
            _fill(connection, table, frame.unique("capture", maintain_order=True) if table == "captures" else frame)
        return _rows(connection, sql)
    except (sqlite3.Error, sqlite3.Warning) as error:
        tables = "; ".join(f"{table}: {', '.join(columns)}" for table, columns in TABLES.items())
        raise UsageError(f"the query was refused: {error}", advice=f"columns of {tables}") from error
    finally:
        connection.close()


def _fill(connection: sqlite3.Connection, table: str, frame: pl.DataFrame) -> None:
    types = {column.name: _SQL_TYPES[column.dtype] for column in STORE_ROWS.columns}
    columns = ", ".join(f"{quoted(name)} {types[name]}" for name in frame.columns)
    connection.execute(f"CREATE TABLE {table} ({columns})")
    marks = ", ".join("?" * frame.width)
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", frame.iter_rows())  # noqa: S608 - ours


def _rows(connection: sqlite3.Connection, sql: str) -> pl.DataFrame:
    def permit(action: int, _: str | None, function: str | None, *__: object) -> int:
        return sqlite3.SQLITE_OK if is_reading(action, function) else sqlite3.SQLITE_DENY

    deadline = time.monotonic() + _MOST_SECONDS
    connection.set_authorizer(permit)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    cursor = connection.execute(sql)
    if cursor.description is None:
        raise UsageError("only a SELECT can be asked", advice="for example: SELECT * FROM captures")
    records = cursor.fetchmany(_MOST_ROWS + 1)
    if len(records) > _MOST_ROWS:
        raise UsageError(f"the query gives more than {_MOST_ROWS:,} rows", advice="use WHERE, GROUP BY or LIMIT")
    names: list[str] = []
    for number, column in enumerate(cursor.description):
        names.append(column[0] if column[0] not in names else f"{column[0]}_{number}")
    # Not strict: a column of SQLite may have values of several types.
    return pl.DataFrame(records, schema=names, orient="row", infer_schema_length=None, strict=False)
