"""Tables and views that databases store, for queries under their own names, with their own columns and ids.

SQLite reads them, as their authors mean them. Views of the connection stand before the stored tables and hide secrets;
nothing else reaches the texts of the file. Of several files the relations that a statement names are copied, with a
column that names the file.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from wavewright.analysis.run.contents.views import VIEWS
from wavewright.analysis.run.query.tables_in_query import OUR_PREFIX, words_of
from wavewright.base.secrets import MASK, masked
from wavewright.base.shown import shown
from wavewright.base.sql import quoted
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.run import Run
from wavewright.readers.files.sqlite import Database
from wavewright.readers.files.sqlite.permits import is_reading
from wavewright.readers.run.database_tables import plain_name

#: Views of RPD that have a name of ours with other columns, ids or units; in RPD files the name is RPD's (ADR 0038).
OF_RPD = ("api", "op", "busy", "ktop", "top", "kernel", "copy", "copyop")
FILE_PREFIX = "stored_"  #: Prefix of what files store; `OUR_PREFIX` is that of our views.
_SQLITE_PREFIX = "sqlite_"  #: Prefix of the tables of SQLite itself: sqlite_master, sqlite_sequence.
_FILE = "file"  #: Column that names the file of a row, where a run has several.
#: The beginning of a view as SQLite keeps it, up to its columns or AS.
_HEAD = re.compile(r"""\s*CREATE\s+VIEW\s+(?:"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`|'[^']*'|\w+)""", re.IGNORECASE)
_LEAF = "columns of "  #: Prefix of the views that alone may read stored tables.
_ENVIRONMENT = "environment"
_STEPS = 100_000  #: Instructions of SQLite between two looks at the clock.
LONGEST_VALUE = 100_000_000  #: Bytes of a value that a statement may make.


@dataclass(frozen=True)
class DatabaseTables:
    """A database of a run, and what it stores, by name in small letters."""

    label: str
    database: Database
    relations: Mapping[str, tuple[str, ...]]  #: The name in a query -> the stored tables or the view it is made of.
    format: str
    hides_secrets: bool

    def connect(self) -> sqlite3.Connection:
        """A connection that cannot change the file."""
        self.database.query("SELECT 1")  # copies a file that somebody began to write
        connection = sqlite3.connect(self.database.uri, uri=True, check_same_thread=False)
        connection.text_factory = lambda text: text.decode(errors="replace")
        for setting in ("trusted_schema=OFF", "cell_size_check=ON"):
            connection.execute(f"PRAGMA {setting}")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.create_function("masked_text", 1, _masked_text, deterministic=True)
        return connection

    def prepare(self, connection: sqlite3.Connection, names: Mapping[str, str]) -> None:
        """Make the relations `names` (name in the query -> stored name) and those that they are made of."""
        needed_names, queue = set[str](), set(names.values())
        views = {name.lower(): str(sql) for name, sql in self._view_texts()}
        while queue:
            needed_names |= queue
            stored = {part.lower() for name in queue for part in self.relations[name]}
            words = stored.union(*(words_of(views.get(name, "")) for name in queue))
            queue = (words & self.relations.keys()) - needed_names
        tables = {part for name in needed_names if name not in views for part in self.relations[name]}
        for table in tables:
            self._make_leaf(connection, table)
        for name in needed_names - {table.lower() for table in tables}:
            parts = (f"SELECT * FROM {quoted(part)}" for part in self.relations[name])  # noqa: S608 - quoted
            body = _HEAD.sub("", views[name], 1) if name in views else f"AS {' UNION ALL '.join(parts)}"
            connection.execute(f"CREATE TEMP VIEW {quoted(name)} {body}")
        for name, stored_name in names.items():
            if name != stored_name:
                connection.execute(f"CREATE TEMP VIEW {quoted(name)} AS SELECT * FROM {quoted(stored_name)}")  # noqa: S608

    def _view_texts(self) -> list[tuple[Any, ...]]:
        return self.database.query("SELECT name, sql FROM sqlite_master WHERE type = 'view' AND sql IS NOT NULL")

    def _make_leaf(self, connection: sqlite3.Connection, table: str) -> None:
        columns = ", ".join(self._column(*column) for column in declared_columns(self.database, table))
        leaf = quoted(f"{_LEAF}{table}")
        connection.execute(f"CREATE TEMP VIEW {leaf} AS SELECT {columns} FROM main.{quoted(table)}")  # noqa: S608
        connection.execute(f"CREATE TEMP VIEW {quoted(table)} AS SELECT * FROM {leaf}")  # noqa: S608 - quoted

    def _column(self, name: str, kind: str) -> str:
        column = quoted(name)
        if not self.hides_secrets or re.search("INT|REAL|FLOA|DOUB", kind):
            return column
        if name.lower() == _ENVIRONMENT:
            return f"CASE WHEN {column} IS NOT NULL THEN '{MASK}' END AS {column}"
        text = f"masked_text(CAST({column} AS BLOB))"  # as bytes: not every text of a file is one
        return f"CASE WHEN typeof({column}) = 'text' THEN {text} ELSE {column} END AS {column}"


@lru_cache(1 << 16)
def _masked_text(text: bytes) -> str:
    return masked(text.decode(errors="replace"))


def declared_columns(database: Database, relation: str) -> list[tuple[str, str]]:
    """Names and types of the columns of a table or view, as SQLite sees them; none where it cannot tell."""
    text = "'" + relation.replace("'", "''") + "'"
    rows: list[tuple[Any, ...]] = []
    with suppress(WavewrightError):  # a view of nothing that is there
        rows = database.query(f"SELECT name, upper(type) FROM pragma_table_info({text})")  # noqa: S608 - quoted
    return [(str(name), str(kind)) for name, kind in rows]


def stored_files(run: Run) -> list[DatabaseTables]:
    """The databases among the files of a run; a run cut to a selection has none."""
    databases = [
        (source, database)
        for source in run.origins
        if isinstance(database := getattr(source, "database", None), Database)
    ]
    names = [PurePath(source.path).name for source, _ in databases]
    return [
        DatabaseTables(
            shown(name if names.count(name) == 1 else source.path),
            database,
            _relations(database),
            source.format,
            getattr(source, "hides_secrets", False),
        )
        for name, (source, database) in zip(names, databases, strict=True)
    ]


def _relations(database: Database) -> dict[str, tuple[str, ...]]:
    relations: dict[str, tuple[str, ...]] = {}
    for table in database.tables:
        if table.startswith(_SQLITE_PREFIX):
            continue
        plain = plain_name(table).lower()
        relations[table.lower()] = (table,)
        if plain != table.lower():
            relations[plain] = (*relations.get(plain, ()), table)
    return relations | {view.lower(): (view,) for view in database.views}


@dataclass(frozen=True)
class StoredNames:
    """The names in a statement that mean what files store."""

    files: tuple[DatabaseTables, ...] = ()
    plain: tuple[str, ...] = ()  #: Under their own name.
    aliases: tuple[str, ...] = ()  #: With `FILE_PREFIX` before it.
    is_about_schema: bool = False
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.plain or self.aliases or self.is_about_schema)

    @property
    def by_name(self) -> dict[str, str]:
        """The relations: name in the statement -> name in the files."""
        return {name: name for name in self.plain} | {f"{FILE_PREFIX}{name}": name for name in self.aliases}

    def connect(self) -> sqlite3.Connection:
        """A connection that can change no file; the first file is its main database, if the statement needs one."""
        return self.files[0].connect() if self else sqlite3.connect(":memory:", check_same_thread=False)

    def make_relations(self, connection: sqlite3.Connection, look: Callable[[], bool]) -> None:
        """Make what the statement names; `look`, called meanwhile, ends it when true."""
        if len(self.files) == 1:
            self.files[0].prepare(connection, self.by_name)
            return
        for name, stored_name in self.by_name.items():
            columns: dict[str, str] = {}
            for file in self.files:
                if stored_name in file.relations:
                    _copy(file, stored_name, connection, quoted(name), columns, look)

    def columns(self, words: Iterable[str]) -> dict[str, list[str]]:
        """The relations of the files, with the columns of those that are named."""
        words_and_aliases = {*words, *self.aliases}
        return {
            name: [column for column, _ in declared_columns(file.database, parts[0])]
            if name in words_and_aliases
            else []
            for file in reversed(self.files)
            for name, parts in file.relations.items()
        }


def _copy(
    file: DatabaseTables,
    stored: str,
    connection: sqlite3.Connection,
    name: str,
    columns: dict[str, str],
    look: Callable[[], bool],
) -> None:
    """Put the rows of a relation of one file into the temporary table `name`; `columns` are those that it has."""
    source = file.connect()
    try:
        source.set_progress_handler(look, _STEPS)
        file.prepare(source, {stored: stored})
        source.set_authorizer(permit)
        rows = source.execute(f"SELECT * FROM {quoted(stored)}")  # noqa: S608 - quoted
        own_names = {column[0].lower(): quoted(column[0]) for column in rows.description}
        label = _FILE if _FILE not in own_names else f"{_FILE}_name"
        if not columns:
            columns |= {**own_names, label: label}
            connection.execute(f"CREATE TEMP TABLE {name} ({', '.join(columns.values())})")
        for column in own_names.keys() - columns.keys():
            columns[column] = own_names[column]
            connection.execute(f"ALTER TABLE temp.{name} ADD COLUMN {own_names[column]}")
        into = f"temp.{name} ({', '.join(own_names.values())}, {label})"
        marks = ", ".join("?" * (len(own_names) + 1))
        labelled_rows = ((*row, file.label) for row in rows)
        connection.executemany(f"INSERT INTO {into} VALUES ({marks})", labelled_rows)  # noqa: S608 - quoted
    finally:
        source.close()


def permit(action: int, what: str | None, name: str | None, schema: str | None, view: str | None) -> int:
    """An authorizer: reading, and of the stored tables only through the views that hide secrets."""
    # Asked without a column where rows are counted.
    is_table = (
        action == sqlite3.SQLITE_READ
        and schema == "main"
        and not (what or "").startswith(_SQLITE_PREFIX)
        and bool(name)
    )
    is_permitted = is_reading(action, name) and (not is_table or (view or "").startswith(_LEAF))
    return sqlite3.SQLITE_OK if is_permitted else sqlite3.SQLITE_DENY


def stored_names(run: Run, words: Iterable[str]) -> StoredNames:
    """The names among `words` that mean what the files of a run store.

    A name that only files have means theirs. Of names that both have, those of RPD mean RPD's where all files are RPD,
    and all others ours: they have ROCpd's columns, and mend its views. Raises `UsageError` when stored tables are
    named, and the run is cut to a part.
    """
    names = {word.lower() for word in words}
    files = tuple(stored_files(run))
    if not files:
        is_database = any(source.format in ("ROCpd", "RPD") for source in run.origins)
        unknown = names - {name.lower() for name in run.extra_names}
        if is_database and any(name.startswith(("rocpd_", FILE_PREFIX)) for name in unknown):
            problem = "tables and views as files store them know nothing of a part of a run"
            raise UsageError(
                problem, advice="leave out --time, --rank and the like, or name our own: kernels, regions, top"
            )
        return StoredNames()
    relations = {name for file in files for name in file.relations}
    is_rpd = len(files) == len(run.origins) and all(file.format == "RPD" for file in files)
    rpd_names = [name for name in OF_RPD if is_rpd and all(name in file.relations for file in files)]
    plain = sorted(name for name in names & relations if name not in VIEWS or name in rpd_names)
    aliases = sorted(name for name in relations if f"{FILE_PREFIX}{name}" in names)
    notes = [
        f"`{name}` is the view that RPD files store; ours, the same for every format, is `{OUR_PREFIX}{name}`"
        for name in rpd_names
        if name in names
    ]
    is_about_schema = any(name.startswith(_SQLITE_PREFIX) for name in names)
    if (plain or aliases) and len(files) < len(run.origins):
        notes.append(f"stored tables are those of {len(files)} of {len(run.origins)} files: the others have none")
    return StoredNames(files, tuple(plain), tuple(aliases), is_about_schema, tuple(notes))
