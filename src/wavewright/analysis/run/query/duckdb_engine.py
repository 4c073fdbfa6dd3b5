"""Queries with DuckDB: its planner reports the columns to read, they are passed as Arrow, nothing is copied.

The connection is in memory, may not touch files, the network or extensions, and its settings are locked before the
query of the user is seen.
"""

from __future__ import annotations

import importlib.util
import json
import re
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from wavewright.analysis.run.query.result import QueryResult, distinct_names, refused
from wavewright.analysis.run.query.tables_in_query import STORED, loaded, named_extras, used, view_statements
from wavewright.base.sql import quoted
from wavewright.facts.loader import packaged
from wavewright.model.run_tables import RUN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import duckdb

    from wavewright.analysis.run.query.file_tables import StoredNames
    from wavewright.analysis.run.query.result import Meter
    from wavewright.model.run import Run

Result = TypeVar("Result")

_PLAN = "EXPLAIN (FORMAT JSON) "
_FACTS = packaged("duckdb.toml", __package__)
_CONFIG, _TYPES = _FACTS["config"], _FACTS["types"]
_MACROS = "; ".join(f"CREATE MACRO {head} AS {body}" for head, body in _FACTS["macros"].items())
_LOOK_SECONDS = 0.1  #: Between two looks at the clock, and whether somebody pressed Ctrl-C.
#: Rows that are fetched at once: ten vectors of DuckDB, so that a result beyond its bounds is seen early.
_BATCH_ROWS = 20_480
#: Types whose values any table can show; others (lists, structs, blobs, ...) are shown as text.
_FLAT = re.compile(
    r"(BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|HUGEINT|FLOAT|DOUBLE|DECIMAL\(.*\)|VARCHAR|DATE|TIMESTAMP.*)$"
)
_ABOUT_SCHEMA = re.compile(r"\s*(describe|desc|show|summarize)\b", re.IGNORECASE)


def duckdb_query(run: Run, sql: str, meter: Meter, file_names: StoredNames) -> QueryResult:
    """Run one SELECT over the views and tables of a run.

    Raises `UsageError` when it is not one SELECT, or cannot be run.
    """
    import duckdb

    shift = 0  # bytes before the user's statement in what DuckDB is given: its errors name places in the latter
    try:
        connection = duckdb.connect(":memory:", config=dict(_CONFIG))
        connection.execute("SET enable_progress_bar = false")  # DuckDB draws it on stdout where there is no script
        statement = _statement(connection, sql)
        shift = len(_PLAN) - len(sql[: max(0, sql.find(statement))].encode(errors="replace"))
        _create(connection, statement, named_extras(run, sql))
        needed = _needed(connection, statement)
        connection.execute("RESET disabled_optimizers")
        connection.execute("SET lock_configuration = true")
        for table, columns in needed.items():
            _load(connection, table, loaded(run, table, columns))
        shift -= len(_PLAN)
        return _run(connection, statement, meter)
    except duckdb.Error as error:
        raise refused(error, sql, shift=shift, file_columns=file_names.columns(())) from error


def relations_in(sql: str) -> set[str]:
    """The relations that a statement names; empty where DuckDB cannot read it."""
    import duckdb

    try:
        with duckdb.connect(":memory:", config=dict(_CONFIG)) as connection:
            connection.execute("SET enable_external_access = false")
            if [statement.type for statement in connection.extract_statements(sql)] != [duckdb.StatementType.SELECT]:
                return set()
            return {name.strip('"') for name in connection.get_table_names(sql)}
    except duckdb.Error:
        return set()


def _statement(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    import duckdb

    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise refused("one SELECT is expected; a run can be read, not changed")
    return statements[0].query.rstrip().rstrip(";")


class _Stream:
    """A frame that shows its Arrow stream only: DuckDB would import pyarrow for a polars frame."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def _create(connection: duckdb.DuckDBPyConnection, statement: str, extras: dict[str, pl.DataFrame]) -> None:
    """The views and the empty tables that a statement may name, out of reach of everything else."""
    names = used(statement)
    connection.execute("SET enable_external_access = false; CREATE SCHEMA run; " + _MACROS)
    for table in names.tables:
        plain, dtypes = STORED[table]
        columns = ", ".join(f'"{name}" {_TYPES[dtype]}' for name, dtype in dtypes.items())
        connection.execute(f'CREATE TABLE run."{table}" ({columns})')
        if plain != table:
            listed = ", ".join(f'"{name}"' for name in RUN[plain].names)
            connection.execute(f'CREATE VIEW run."{plain}" AS SELECT {listed} FROM run."{table}"')  # noqa: S608 - ours
    for view, select in view_statements(names, statement).items():
        connection.execute(f"CREATE VIEW {view} AS {select}")
    for name, frame in extras.items():
        connection.register(f"loaded_{name}", _Stream(frame))
        for view in (f"run.{quoted(name)}", f"main.{quoted(name)}"):  # a view of ours keeps its name
            connection.execute(f"CREATE VIEW IF NOT EXISTS {view} AS SELECT * FROM {quoted(f'loaded_{name}')}")  # noqa: S608
    # Other optimizers would see that the tables are empty, and read nothing.
    rules = [name for (name,) in connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()]
    connection.execute(f"SET disabled_optimizers = '{','.join(name for name in rules if name != 'unused_columns')}'")


def _needed(connection: duckdb.DuckDBPyConnection, statement: str) -> dict[str, set[str]]:
    """The stored tables that a statement reads, with the columns: planned on empty tables."""
    if _ABOUT_SCHEMA.match(statement):
        return {}
    plan = connection.execute(_PLAN + statement).fetchall()[0][1]
    needed: dict[str, set[str]] = {}
    for root in json.loads(plan):
        _collect(root, needed)
    return needed


def _collect(node: dict[str, Any], needed: dict[str, set[str]]) -> None:
    info = node.get("extra_info") or {}
    table = str(info.get("Table", "")).rpartition(".")[2]
    if table in STORED:
        projections = info.get("Projections", [])
        needed.setdefault(table, set()).update([projections] if isinstance(projections, str) else projections)
    for child in node.get("children", ()):
        _collect(child, needed)


def _load(connection: duckdb.DuckDBPyConnection, table: str, frame: pl.DataFrame) -> None:
    """Put the rows in the place of an empty table; columns that were not loaded are null."""
    connection.register(f"loaded_{table}", _Stream(frame))
    columns = ", ".join(
        f'"{name}"' if name in frame.columns else f'CAST(NULL AS {_TYPES[dtype]}) AS "{name}"'
        for name, dtype in STORED[table].columns.items()
    )
    connection.execute(f'DROP TABLE run."{table}"')
    connection.execute(f'CREATE VIEW run."{table}" AS SELECT {columns} FROM loaded_{table}')  # noqa: S608 - ours


def _run(connection: duckdb.DuckDBPyConnection, statement: str, meter: Meter) -> QueryResult:
    relation = connection.sql(statement)
    names = distinct_names(relation.columns)
    kinds = [str(kind) for kind in relation.types]
    if names != relation.columns or not all(map(_FLAT.match, kinds)):
        columns = [
            quoted(name) if _FLAT.match(kind) else f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}"
            for name, kind in zip(names, kinds, strict=True)
        ]
        listed = ", ".join(map(quoted, names))
        statement = f"SELECT {', '.join(columns)} FROM ({statement}\n) AS result({listed})"  # noqa: S608 - ours
    batches = _arrow_batches if importlib.util.find_spec("pyarrow") else _row_batches
    pieces = _pieces(connection, batches(connection, statement, meter), meter)
    first = next(pieces)  # errors of the engine come before anything is written
    return QueryResult("duckdb", chain([first], pieces))


def _pieces(
    connection: duckdb.DuckDBPyConnection, batches: Iterator[pl.DataFrame], meter: Meter
) -> Iterator[pl.DataFrame]:
    """The rows as they come, so that a result of any size needs little memory."""
    import duckdb

    try:
        for batch in batches:
            yield meter.count(_plain(batch))
    except duckdb.Error as error:
        raise refused(error) from error
    finally:
        connection.close()


def _arrow_batches(connection: duckdb.DuckDBPyConnection, statement: str, meter: Meter) -> Iterator[pl.DataFrame]:
    relation = connection.sql(statement)
    reader = _interruptible(connection, lambda: relation.to_arrow_reader(_BATCH_ROWS), meter)
    yield pl.DataFrame(pl.from_arrow(reader.schema.empty_table()))
    while (batch := _interruptible(connection, lambda: next(reader, None), meter)) is not None:
        yield pl.DataFrame(pl.from_arrow(batch))


def _row_batches(connection: duckdb.DuckDBPyConnection, statement: str, meter: Meter) -> Iterator[pl.DataFrame]:
    """Without pyarrow, which alone takes batches of Arrow: rows, and their types from the empty result."""
    empty = pl.DataFrame(_Stream(connection.sql(f"SELECT * FROM ({statement}\n) LIMIT 0")))  # noqa: S608 - ours
    yield empty
    cursor = _interruptible(connection, lambda: connection.execute(statement), meter)
    while rows := _interruptible(connection, lambda: cursor.fetchmany(_BATCH_ROWS), meter):
        yield pl.DataFrame(rows, schema=empty.schema, orient="row", strict=False)


def _interruptible(connection: duckdb.DuckDBPyConnection, task: Callable[[], Result], meter: Meter) -> Result:
    """Run a task in a thread, so that Ctrl-C and the clock reach Python, which can stop it."""
    with ThreadPoolExecutor(1) as pool, meter.running():
        running = pool.submit(task)
        try:
            while not wait([running], timeout=_LOOK_SECONDS).done:
                if not meter.has_time():
                    connection.interrupt()
                    raise meter.too_long()
        except KeyboardInterrupt:
            connection.interrupt()
            raise
        return running.result()


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Decimals (DuckDB's sums of integers) as integers where they fit, else as floating-point numbers."""
    columns = []
    for name, dtype in frame.schema.items():
        if isinstance(dtype, pl.Decimal):
            number = frame[name].cast(pl.Float64 if dtype.scale else pl.Int64, strict=False)
            columns.append(number if number.null_count() == frame[name].null_count() else frame[name])
    return frame.with_columns(columns)
