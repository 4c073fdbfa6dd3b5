"""Queries with SQLite, where DuckDB is not installed: an in-memory database that allows to read, and nothing else."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from wavewright.analysis.run.query.file_tables import LONGEST_VALUE, StoredNames, permit
from wavewright.analysis.run.query.result import PIECE_ROWS, Meter, QueryResult, distinct_names, refused
from wavewright.analysis.run.query.tables_in_query import STORED, loaded, named_extras, used, view_statements, words_of
from wavewright.base.sql import quoted
from wavewright.model.run import Run
from wavewright.model.run_tables import NUMBERED, RUN

_TYPES = {"Float64": "REAL", "String": "TEXT", "Categorical": "TEXT"}
_MOST_MEMORY_BYTES = 2 << 30  #: Limit of all connections of the process together; as much as DuckDB gets.
_STEPS = 100_000  #: Instructions of SQLite between two looks at the clock, and whether somebody pressed Ctrl-C.
#: Rows of the first chunk; later chunks depend on the size of earlier rows.
_FIRST_ROWS, _PIECE_BYTES = 1000, 16 << 20


def sqlite_query(run: Run, sql: str, meter: Meter, file_names: StoredNames) -> QueryResult:
    """Run one SELECT over the views and tables of a run, and over what its databases store.

    Raises `UsageError` when it is not one SELECT, or cannot be run.
    """
    connection = file_names.connect()
    # Its call also lets Python see Ctrl-C while SQLite works; an exception there interrupts the query.
    connection.set_progress_handler(lambda: not meter.has_time(), _STEPS)
    try:
        connection.execute(f"PRAGMA hard_heap_limit={_MOST_MEMORY_BYTES}")
        connection.execute("PRAGMA temp_store=MEMORY")  # what does not fit is refused, and no disk is filled
        with meter.running():
            file_names.make_relations(connection, lambda: not meter.has_time())
        _create(connection, view_statements(names := used(sql), sql, file_names.plain), names.tables)
        extras = {} if file_names and "run." not in sql.lower() else named_extras(run, sql)
        for name, frame in extras.items():
            connection.execute(f"CREATE TABLE run.{quoted(name)} ({_names(frame.columns)})")
            _insert(connection, name, frame)
        for table, columns in _needed(connection, sql).items():
            _insert(connection, table, loaded(run, table, columns))
        connection.set_authorizer(permit)
        return QueryResult("sqlite", _pieces(connection, sql, meter, file_names), file_names.notes)
    except (sqlite3.Error, MemoryError) as error:
        connection.close()
        raise _refusal(error, sql, meter, file_names) from error
    except BaseException:
        connection.close()
        raise


def _create(connection: sqlite3.Connection, views: dict[str, str], tables: tuple[str, ...]) -> None:
    connection.execute("ATTACH ':memory:' AS run")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    for name, count, function in _FUNCTIONS:
        connection.create_function(name, count, function, deterministic=True)
    for table in tables:
        plain, dtypes = STORED[table]
        declared = [
            f'"{name}" {_TYPES.get(dtype, "INTEGER")}{" PRIMARY KEY" if NUMBERED.get(table) == name else ""}'
            for name, dtype in dtypes.items()
        ]
        connection.execute(f'CREATE TABLE run."{table}" ({", ".join(declared)})')
        if plain != table:
            columns = _names(RUN[plain].names)
            connection.execute(f'CREATE VIEW run."{plain}" AS SELECT {columns} FROM "{table}"')  # noqa: S608 - ours
    for view, select in views.items():  # a view that is not temporary cannot refer to another database
        connection.execute(f"CREATE TEMP VIEW {view} AS {select}")


def _needed(connection: sqlite3.Connection, sql: str) -> dict[str, set[str]]:
    """The stored tables that a statement reads, with the columns: reported by SQLite's authorizer."""
    needed: dict[str, set[str]] = {}

    def note(action: int, table: str | None, column: str | None, schema: str | None, view: str | None) -> int:
        if action == sqlite3.SQLITE_READ and table in STORED and schema == "run":
            needed.setdefault(table, set()).add(column or "")
        return permit(action, table, column, schema, view)

    connection.set_authorizer(note)
    connection.execute(f"EXPLAIN {sql}").close()
    connection.set_authorizer(None)
    return needed


def _insert(connection: sqlite3.Connection, table: str, frame: pl.DataFrame) -> None:
    marks = ", ".join("?" * frame.width)
    statement = f"INSERT INTO run.{quoted(table)} ({_names(frame.columns)}) VALUES ({marks})"  # noqa: S608 - quoted
    for piece in frame.iter_slices(PIECE_ROWS):
        connection.executemany(statement, piece.rows())


def _pieces(connection: sqlite3.Connection, sql: str, meter: Meter, file_names: StoredNames) -> Iterator[pl.DataFrame]:
    try:
        with meter.running():
            cursor = connection.execute(sql)
            rows = cursor.fetchmany(_FIRST_ROWS)
        names = distinct_names([column[0] for column in cursor.description])
        while True:
            piece = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None, strict=False)
            yield meter.count(piece)
            row_bytes = max(1, int(piece.estimated_size()) // max(1, piece.height))
            with meter.running():
                rows = cursor.fetchmany(max(1, min(PIECE_ROWS, _PIECE_BYTES // row_bytes)))
            if not rows:
                break
    except (sqlite3.Error, MemoryError) as error:
        raise _refusal(error, sql, meter, file_names) from error
    finally:
        connection.close()


def _refusal(error: Exception, sql: str, meter: Meter, file_names: StoredNames) -> BaseException:
    if "interrupted" in str(error):
        return KeyboardInterrupt() if meter.has_time() else meter.too_long()
    if isinstance(error, MemoryError):
        return refused(f"it needs more memory than {_MOST_MEMORY_BYTES >> 30} GiB; select or sort less")
    is_other = "not authorized" in str(error) or "one statement" in str(error) or 'near "' in str(error)
    what = f"one SELECT is expected; a run can be read, not changed ({error})"
    return refused(what if is_other else str(error), sql, file_columns=file_names.columns(words_of(sql)))


def _json_string(text: Any, path: str) -> str | None:
    """The value at a path of a JSON text: a string as it is, anything else as JSON; None = there is none."""
    value = _at(text, path)
    return None if value is None else value if isinstance(value, str) else json.dumps(value)


def _json_number(text: Any, path: str) -> int | None:
    """The integer at a path of a JSON text; None = there is none, or SQLite has no integer that large."""
    try:
        number = int(_at(text, path))
    except (TypeError, ValueError):
        return None
    return number if abs(number) < 1 << 63 else None


#: Functions that the views call, with the number of their arguments.
_FUNCTIONS: tuple[tuple[str, int, Callable[..., Any]], ...] = (
    ("json_string", 2, _json_string),
    ("json_number", 2, _json_number),
    ("hexadecimal", 1, lambda number: f"0x{number % (1 << 64):x}" if isinstance(number, int) else None),
    ("square_root", 1, lambda x: math.sqrt(x) if isinstance(x, int | float) and x >= 0 else None),
)


def _at(text: Any, path: str) -> Any:
    """The value at `$.a.b` of a JSON text."""
    try:
        value = json.loads(text)
        for key in path.split(".")[1:]:
            value = value[key]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return value


def _names(columns: Any) -> str:
    return ", ".join(quoted(name) for name in columns)
