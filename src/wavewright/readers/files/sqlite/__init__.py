"""SQLite files as columns: opened read-only, never changed, read in pieces.

The native core reads the pages of a file, many times faster than SQLite gives out rows. What it does not read (UTF-16,
tables without row ids) comes through SQLite, with the same values. Only files that cannot change are read, as they lie
there or copied; see `files`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from wavewright import _core
from wavewright.base.files import open_regular
from wavewright.base.sql import quoted
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.model.losses import Loss
from wavewright.readers.files.sqlite.files import ERRORS, OpenFile, tables_at_beginning
from wavewright.readers.files.sqlite.schema import MOST_TABLES, StoredTable, count_tables, read_tables, read_views
from wavewright.readers.files.sqlite.values import CATEGORY, INTEGER, REAL, TEXT, fitted
from wavewright.readers.files.text import SQLITE

_Types = Mapping[str, pl.DataType | type[pl.DataType]]

_Read = TypeVar("_Read")

CHUNK_ROWS = 1 << 18  #: Rows of a piece.
QUERY_ROWS = 1 << 20  #: Rows of a query.
_STEP, _QUERY_STEPS = 1_000_000, 500  #: Instructions of SQLite in a step, and steps after which a query is interrupted.
_LOOKED_AT = 64  #: So many databases of a folder are searched for a reason.
#: Type of a column -> number by which the native core knows it.
_KINDS = {pl.Int64: INTEGER, pl.Float64: REAL, pl.String: TEXT, pl.Categorical: CATEGORY}


class Database:
    """A SQLite file (or a packed file of one), for reading only.

    Raises `NotATraceError` when it is not a database, so damaged that its list of tables cannot be read, held locked by
    another process, or cannot be unpacked; `UsageError` when the file cannot be read at all.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.losses: list[Loss] = []
        self._noted: set[Loss] = set()
        self._stored: dict[str, StoredTable] = {}
        self.tables: dict[str, tuple[str, ...]] = {}  # Stored tables -> names of their columns.
        self.views: tuple[str, ...] = ()
        self._disconnect: Callable[[], object] = lambda: None
        try:
            self._file = OpenFile(path)
        except ERRORS as error:  # a log that SQLite cannot work off
            raise self._unreadable(error) from error
        try:
            self._steadily(self._load)
        except ERRORS as error:
            self.close()
            raise self._unreadable(error) from error
        except BaseException:
            self.close()
            raise

    def frame(self, table: str, columns: _Types) -> pl.DataFrame:
        """These columns of a table as Int64, Float64, String or Categorical; see `chunks`."""
        return pl.concat([pl.DataFrame(schema=dict(columns)), *self.chunks(table, columns)], rechunk=True)

    def chunks(self, table: str, columns: _Types, rows: int = CHUNK_ROWS) -> Iterator[pl.DataFrame]:
        """The rows of a stored table in the order of their row ids, in pieces of at most `rows`.

        Columns that the table lacks are null. Texts that are numbers become numbers and the other way round; any other
        value that does not fit the type asked for becomes null and is counted as a loss (`mixed_values`). A page that
        cannot be read ends the table with a loss (`unreadable_rows`).
        """
        self._reopen_if_changed()
        losses: list[Loss] = []
        is_begun = False
        for piece in self._pieces(table, columns, rows, losses):
            if self._file.has_changed():
                break
            is_begun = True
            yield piece
        if not self._file.has_changed():
            for loss in losses:
                self.lose(loss)
        elif is_begun:
            self.lose(Loss("unreadable_rows", detail=f"{table}: the file was changed while it was read"))
        else:
            yield from self.chunks(table, columns, rows)  # of a copy, which cannot change

    def query(self, sql: str, parameters: Sequence[object] = (), most: int = QUERY_ROWS) -> list[tuple[Any, ...]]:
        """The rows of a small query.

        Raises `UsageError` when it has more than `most` rows or takes far too long; `NotATraceError` when SQLite cannot
        answer it.
        """
        try:
            rows = self._steadily(lambda: self._queried(sql, parameters, most))
        except ERRORS as error:
            if str(error) == "interrupted":
                raise UsageError("a query takes too long", where=str(self.path), advice="ask for less") from error
            raise self._unreadable(error) from error
        if len(rows) > most:
            raise UsageError(f"a query has more than {most:,} rows", where=str(self.path), advice="ask for less")
        return rows

    @property
    def uri(self) -> str:
        """URI that a connection of SQLite may attach: a file at rest, until `has_changed`."""
        return self._file.uri

    def has_changed(self) -> bool:
        """True if somebody wrote to the file since it was opened."""
        return self._file.has_changed()

    def lose(self, loss: Loss) -> None:
        """Note a loss; equal ones are noted once."""
        if loss not in self._noted:
            self._noted.add(loss)
            self.losses.append(loss)

    def close(self) -> None:
        """Let go of the file."""
        self._disconnect()
        self._file.close()

    def _load(self) -> None:
        self._disconnect()
        self._connection = self._file.connect()
        self._disconnect = weakref.finalize(self, self._connection.close)
        self._stored = read_tables(self._connection)
        self.tables = {table.name: table.columns for table in self._stored.values()}
        self.views = read_views(self._connection)
        count = count_tables(self._connection)
        if count > MOST_TABLES:
            self.lose(Loss("unread_tables", count - MOST_TABLES, f"{MOST_TABLES:,} are read"))

    def _queried(self, sql: str, parameters: Sequence[object], most: int) -> list[tuple[Any, ...]]:
        steps = iter(range(_QUERY_STEPS))
        self._connection.set_progress_handler(lambda: next(steps, None) is None, _STEP)
        try:
            return self._connection.execute(sql, parameters).fetchmany(most + 1)
        finally:
            self._connection.set_progress_handler(None, 0)

    def _pieces(self, table: str, columns: _Types, rows: int, losses: list[Loss]) -> Iterator[pl.DataFrame]:
        source = self._stored.get(table)
        if source is None:
            return
        kinds = {name: _KINDS[dtype.base_type()] for name, dtype in columns.items() if name in source.columns}
        absent = [pl.lit(None, dtype).alias(name) for name, dtype in columns.items() if name not in kinds]
        pages = self._file.pages
        plan = source.plan(kinds) if pages is not None and pages.is_table(source.root) else None
        if pages is None or plan is None:
            chunks = self._rows(source, kinds, rows, losses)
        else:
            chunks = self._pages(_core.SqliteScan(pages, source.root, plan), source.name, plan, rows, losses)
        for piece in chunks:
            yield piece.with_columns(absent).select(*columns) if absent else piece

    def _pages(
        self, scan: _core.SqliteScan, table: str, plan: list[Any], rows: int, losses: list[Loss]
    ) -> Iterator[pl.DataFrame]:
        """The rows that the native core reads; the next piece is read while one is used."""
        piece = scan.next(rows)
        with ThreadPoolExecutor(1) as ahead:
            while len(piece):
                next_rows = ahead.submit(scan.next, rows)
                yield pl.DataFrame(piece)
                piece = next_rows.result()
        if scan.damage:
            losses.append(Loss("unreadable_rows", detail=f"{table}: {scan.damage}"))
        for (name, *_), count in zip(plan, scan.mixed_counts, strict=True):
            if count:
                losses.append(Loss("mixed_values", count, f"{table}.{name}"))

    def _rows(self, table: StoredTable, types: dict[str, int], rows: int, losses: list[Loss]) -> Iterator[pl.DataFrame]:
        """The rows that SQLite reads."""
        dtypes = {kind: dtype for dtype, kind in _KINDS.items()}
        names = ", ".join(quoted(name) for name in types) or "1"  # without columns, the rows are only counted
        misfit_counts = dict.fromkeys(types, 0)
        try:
            # Without an index the rows come in the order of the table itself.
            cursor = self._connection.cursor()
            cursor.execute(f"SELECT {names} FROM {quoted(table.name)} NOT INDEXED")  # noqa: S608 - quoted
            while batch := cursor.fetchmany(rows):
                columns = []
                for (name, kind), values in zip(types.items(), zip(*batch, strict=True), strict=False):
                    column, misfits = fitted(values, kind)
                    misfit_counts[name] += misfits
                    columns.append(pl.Series(name, column, dtype=dtypes[kind], strict=True))
                yield pl.DataFrame(columns) if columns else pl.DataFrame({"": [None] * len(batch)})
        except ERRORS as error:
            losses.append(Loss("unreadable_rows", detail=f"{table.name}: {error}"))
        for name, count in misfit_counts.items():
            if count:
                losses.append(Loss("mixed_values", count, f"{table.name}.{name}"))

    def _steadily(self, read: Callable[[], _Read]) -> _Read:
        """Result of `read`; when somebody writes the file meanwhile, its result on a copy of one moment."""
        self._reopen_if_changed()
        try:
            result = read()
        except ERRORS:
            if not self._file.has_changed():
                raise
        else:
            if not self._file.has_changed():
                return result
        self._reopen_if_changed()
        return read()

    def _reopen_if_changed(self) -> None:
        """Go over to a copy of one moment if the file was written since it was opened."""
        if not self._file.has_changed():
            return
        try:
            self._file.reopen()
            self._load()
        except ERRORS as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> NotATraceError:
        problem = f"not a readable SQLite database ({error})"
        return NotATraceError(problem, where=str(self.path), advice="check that the file was copied whole")


def table_names(path: Path) -> frozenset[str]:
    """Names of the stored tables. A packed file is not unpacked further than they need.

    Raises `NotATraceError, UsageError` as `Database`.
    """
    names = tables_at_beginning(path)
    if names is not None:
        return names
    with closing(Database(path)) as database:
        return frozenset(database.tables)


def why_unreadable(path: Path) -> str:
    """Reason why a database cannot be read, or the first such one of a folder, with advice; empty when it can."""
    if path.is_dir():
        files = islice((file for file in sorted(path.iterdir()) if _is_database(file)), _LOOKED_AT)
        return next((f"{file.name}: {reason}" for file in files if (reason := why_unreadable(file))), "")
    try:
        table_names(path)
    except WavewrightError as error:
        return "; ".join(part for part in (error.what, error.advice) if part)
    return ""


def _is_database(file: Path) -> bool:
    with suppress(OSError), open_regular(file) as stream:
        return stream.read(len(SQLITE)) == SQLITE
    return False


# --- tables and columns that a reader asks for and a file lacks: what they would say is missing, so that is said ---
def note_missing(
    database: Database,
    columns: Mapping[str, Collection[str]],
    tables: Collection[str] = (),
    *,
    owner: str = "the file",
    suffix: str = "",
) -> None:
    """Note what a database lacks as losses (`missing_tables`, `missing_columns`).

    It must have `tables`, and of those that it has, the `columns`. The sentence calls it `owner`, and leaves out the
    `suffix` that the names of all its tables have.
    """
    absent = [name.removesuffix(suffix) for name in tables if name not in database.tables]
    if absent:
        database.lose(Loss("missing_tables", len(absent), f"{owner} lacks {', '.join(absent)}"))
    for table, names in columns.items():
        if table in database.tables:
            missing_names = [name for name in names if name not in database.tables[table]]
            if missing_names:
                database.lose(Loss("missing_columns", len(missing_names), f"{table} lacks {', '.join(missing_names)}"))
