"""The SQLite file of a ROCpd database: its creation, and its tables and plain views by the declared layout."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from wavewright.base.sql import quoted
from wavewright.errors import OutputError, UsageError
from wavewright.facts.loader import packaged_text
from wavewright.readers.run.rocpd.layout import PREFIX, StoredColumn, StoredTable, stored_tables, suffix_of

_VIEW = re.compile(r"^-- VIEW (\w+)\n(.+?);$", re.MULTILINE | re.DOTALL)

#: View -> its SELECT.
VIEWS: dict[str, str] = dict(_VIEW.findall(packaged_text("views.sql", package=__package__)))


VERSION = "3.0.3"  #: Version of the schema that is written: the first that can store all of a `Run`.

_TERMS = 100  #: Tables of one UNION: SQLite allows 500, and every level of nesting multiplies.


def create_tables(connection: sqlite3.Connection, guid: str, version: str = VERSION) -> None:
    """Make the empty tables of one run, and its metadata."""
    for table in stored_tables(version).values():
        connection.execute(_table_sql(table, guid))
    parts = zip(("major", "minor", "patch"), version.split("."), strict=True)
    rows = {"schema_version": version, **{f"schema_version_{name}": part for name, part in parts}}
    rows |= {"uuid": suffix_of(guid), "guid": guid}
    connection.executemany(insert_sql("metadata", guid, ["tag", "value"]), rows.items())


def create_views(connection: sqlite3.Connection, tables: Mapping[str, Sequence[str]]) -> None:
    """Make the plain view of each table in `tables` over its stored tables, and the views that AMD's tools use."""
    for name, stored in tables.items():
        connection.execute(f"CREATE VIEW {quoted(PREFIX + name)} AS {_union([quoted(table) for table in stored])}")
    for name, sql in VIEWS.items():
        connection.execute(f"CREATE VIEW {quoted(name)} AS {sql}")


def insert_sql(table: str, guid: str, columns: Sequence[str]) -> str:
    """A statement that adds a row to a stored table of a run."""
    names = ", ".join(map(quoted, columns))
    places = ", ".join("?" * len(columns))
    return f"INSERT INTO {quoted(PREFIX + table + suffix_of(guid))} ({names}) VALUES ({places})"  # noqa: S608 - quoted


def _union(tables: Sequence[str]) -> str:
    terms = [f"SELECT * FROM {table}" for table in tables]  # noqa: S608 - quoted
    while len(terms) > _TERMS:
        groups = [terms[first : first + _TERMS] for first in range(0, len(terms), _TERMS)]
        terms = [f"SELECT * FROM ({' UNION ALL '.join(group)})" for group in groups]  # noqa: S608 - quoted
    return " UNION ALL ".join(terms)


def _table_sql(table: StoredTable, guid: str) -> str:
    suffix = suffix_of(guid)
    lines = [_column_sql(column, guid) for column in table.columns]
    lines += [
        f"FOREIGN KEY ({quoted(column.name)}) "
        f"REFERENCES {quoted(PREFIX + column.target + suffix)} (id) ON UPDATE CASCADE"
        for column in table.columns
        if column.target
    ]
    return f"CREATE TABLE {quoted(PREFIX + table.name + suffix)} ({', '.join(lines)})"


def _column_sql(column: StoredColumn, guid: str) -> str:
    if column.name == "id":
        return '"id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT'
    parts = [quoted(column.name), column.type]
    default = text_sql(guid) if column.name == "guid" else column.default
    parts += [f"DEFAULT {default}"] if default is not None else []
    parts += ["NOT NULL"] if column.is_required else []
    parts += ["UNIQUE"] if column.is_unique else []
    if column.choices:
        parts.append(f"CHECK ({quoted(column.name)} IN ({', '.join(map(text_sql, column.choices))}))")
    return " ".join(parts)


def text_sql(text: str) -> str:
    """A string as SQL."""
    return "'" + text.replace("'", "''") + "'"


def check_beside(target: Path) -> None:
    """Refuse an output next to the log or the journal of another database: SQLite would apply it to this one.

    Raises `UsageError` when there is one.
    """
    for ending in ("-journal", "-wal"):
        if os.path.lexists(leftover := target.with_name(target.name + ending)):
            problem = f"{leftover.name} is next to the output; SQLite would apply it to the new database"
            raise UsageError(problem, where=str(target), advice="move it away, or choose another path")


@contextmanager
def new_database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a new file, inside a transaction that ends with the block.

    The file is renamed when it is complete: until then nobody reads it, so it needs neither journal nor flushes. Raises
    `WavewrightError` when the file cannot be written.
    """
    try:
        with closing(sqlite3.connect(path.absolute().as_uri(), isolation_level=None, uri=True)) as connection:
            connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN")
            yield connection
            connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        problem = f"cannot write the output: {error}"
        raise OutputError(problem, where=path.name, advice="check free space and permissions") from error
