"""Many runs as one ROCpd file: stored tables of ROCpd files are copied as they are, all others are converted."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from wavewright.base.files import open_regular
from wavewright.base.secrets import masked
from wavewright.base.sql import quoted
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written
from wavewright.export.run.rocpd import RocpdFile
from wavewright.export.run.rocpd.guids import is_guid
from wavewright.export.run.rocpd.sql_schema import VERSION, check_beside, create_tables
from wavewright.model.losses import Loss
from wavewright.model.run import Run
from wavewright.readers.files.kinds import Kind
from wavewright.readers.files.sqlite import Database
from wavewright.readers.files.text import SQLITE
from wavewright.readers.run.inputs import RunInput, open_input
from wavewright.readers.run.rocpd.environment import MASKED, rank_of, variables
from wavewright.readers.run.rocpd.layout import PREFIX, VERSIONS, stored_tables, suffix_of
from wavewright.readers.run.rocpd.mapping import TABLES
from wavewright.readers.run.rocpd.runs import RocpdRun, rocpd_runs, table_names

_OUTPUT_ERRORS = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY")  #: Starts of error names that the output causes.
_RUN_TABLES = {mapped.stored: table for table, mapped in TABLES.items()}  #: Stored table -> table of a run.


def merge_runs(
    inputs: Sequence[RunInput],
    out: str | os.PathLike[str],
    *,
    show_secrets: bool = False,
    force: bool = False,
    done: Callable[[], None] = lambda: None,
) -> Written:
    """One ROCpd file of the runs of all inputs; a run that several inputs have is taken once.

    Tables and columns that this version of wavewright does not know are copied too. Values of environment variables
    are masked unless asked for: they may hold secrets, and merged files are made to be passed on.
    """
    target = Path(out)
    check_beside(target)
    copies = {number: _DatabaseCopy(run_input) for number, run_input in enumerate(inputs) if _is_plain_rocpd(run_input)}
    while True:
        try:
            file = _merged(inputs, copies, target, show_secrets=show_secrets, force=force, done=done)
            return Written(target, dict(file.counts), file.losses)
        except _CannotCopyError as stopped:  # rows were written already: start again, and convert this input
            copies.pop(stopped.number)


class _CannotCopyError(Exception):
    """The input of this number has rows that cannot be copied."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _merged(
    inputs: Sequence[RunInput],
    copies: dict[int, _DatabaseCopy],
    target: Path,
    *,
    show_secrets: bool,
    force: bool,
    done: Callable[[], None],
) -> RocpdFile:
    versions = [run.metadata.get("schema_version", "") for copy in copies.values() for run in copy.runs]
    version = max([VERSION, *(version_read for version_read in versions if version_read in VERSIONS[1:])])
    with staged([target], force=force) as (twin,), RocpdFile.created(twin, version) as file:
        for number, run_input in enumerate(inputs):
            try:
                is_copied = number in copies and copies[number].into(file, show_secrets=show_secrets)
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorname", "").startswith(_OUTPUT_ERRORS):
                    raise
                raise _CannotCopyError(number) from error
            if not is_copied:
                source = open_input(run_input, show_secrets=show_secrets)
                file.add(Run([source]))
                file.losses += source.losses
            done()
    return file


def _is_plain_rocpd(run_input: RunInput) -> bool:
    if run_input.kind is not Kind.ROCPD:
        return False
    with open_regular(run_input.path) as stream:
        return stream.read(len(SQLITE)) == SQLITE


class _DatabaseCopy:
    """A ROCpd file whose stored tables are copied."""

    def __init__(self, run_input: RunInput) -> None:
        self.path = run_input.path
        with closing(Database(run_input.path)) as database:
            self.runs = rocpd_runs(database)
            self.names = table_names(database)
            self.columns = database.tables

    def into(self, file: RocpdFile, *, show_secrets: bool) -> bool:
        """Copy all runs that `file` does not have; False = they must be converted instead."""
        if not all(self._is_copyable(run, file.version) for run in self.runs):
            return False
        new = [run for run in self.runs if run.guid not in file.guids]
        with closing(Database(self.path)) as database, _attached(file.connection, database):
            for run in new:
                file.counts += self._copy(run, file, show_secrets=show_secrets)
            if database.has_changed():
                raise sqlite3.DatabaseError("somebody wrote the file while it was copied")
        file.guids += [run.guid for run in new]
        file.losses += [Loss("duplicate_run", detail=run.guid) for run in self.runs if run not in new]
        return True

    def _is_copyable(self, run: RocpdRun, version: str) -> bool:
        """True if the run has tables of its own with all required columns."""
        if run.only_guid is not None or not is_guid(run.guid) or run.suffix != suffix_of(run.guid):
            return False
        for name, table in stored_tables(version).items():
            columns = self.columns.get(PREFIX + name + run.suffix)
            names = {column.name for column in table.columns if column.is_required and column.default is None}
            if columns is not None and not names - {"guid"} <= set(columns):
                return False
        return run.has("info_process")

    def _copy(self, run: RocpdRun, file: RocpdFile, *, show_secrets: bool) -> Counter[str]:
        connection = file.connection
        create_tables(connection, run.guid, file.version)
        layout = stored_tables(file.version)
        counts: Counter[str] = Counter()
        for name, stored_names in self.names.items():
            stored = PREFIX + name + run.suffix
            if stored not in stored_names or name == "metadata":
                continue
            if name not in layout:
                self._create_unknown(stored, connection)
                file.more_tables.setdefault((name, self.columns[stored]), []).append(stored)
            copied_columns = [
                column for column in self.columns[stored] if name not in layout or column in layout[name].names
            ]
            columns = ", ".join(map(quoted, copied_columns))
            cursor = connection.execute(
                f"INSERT INTO main.{quoted(stored)} ({columns}) SELECT {columns} FROM source.{quoted(stored)}"  # noqa: S608
            )
            counts[_RUN_TABLES.get(name, "")] += cursor.rowcount
            lost = [column for column in self.columns[stored] if column not in copied_columns]
            if lost and cursor.rowcount:
                detail = f"{stored}: {', '.join(lost)}"
                file.losses.append(Loss("not_in_format", cursor.rowcount, detail))
        del counts[""]  # rows of stored tables that are not tables of a run
        if not show_secrets:
            _mask_environment(connection, PREFIX + "info_process" + run.suffix)
            for name, column in (("info_process", "command"), ("arg", "value")):
                _mask_texts(connection, PREFIX + name + run.suffix, column)
        return counts

    def _create_unknown(self, table: str, connection: sqlite3.Connection) -> None:
        """A table of a draft or a later version, without constraints."""
        columns = ", ".join(quoted(column) for column in self.columns[table])
        connection.execute(f"CREATE TABLE {quoted(table)} ({columns})")


@contextmanager
def _attached(connection: sqlite3.Connection, database: Database) -> Iterator[None]:
    """Attach `database` as the schema `source`, for reading; SQLite does that only outside of transactions."""
    connection.execute("COMMIT")
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("ATTACH DATABASE ? AS source", (database.uri,))
    connection.execute("BEGIN")
    yield
    connection.execute("COMMIT")
    connection.execute("DETACH DATABASE source")
    connection.execute("BEGIN")


def _mask_texts(connection: sqlite3.Connection, table: str, column: str) -> None:
    """A column of texts without their secrets, as `model.without_secrets` shows it."""
    connection.create_function("hidden", 1, lambda text: masked(text) if isinstance(text, str) else text)
    connection.execute(f"UPDATE main.{quoted(table)} SET {column} = hidden({column})")  # noqa: S608


def _mask_environment(connection: sqlite3.Connection, table: str) -> None:
    """Environment variables without their values, except for the rank."""
    for number, text in connection.execute(f"SELECT id, environment FROM main.{quoted(table)}").fetchall():  # noqa: S608
        environment = variables(text if isinstance(text, str) else None)
        rank = rank_of(environment)
        masked_environment = {
            name: value if rank is not None and rank_of({name: value}) == rank else MASKED
            for name, value in environment.items()
        }
        connection.execute(
            f"UPDATE main.{quoted(table)} SET environment = ? WHERE id = ?",  # noqa: S608
            (json.dumps(masked_environment), number),
        )
