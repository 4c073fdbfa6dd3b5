"""The stored tables of a database, as SQLite itself understands their declarations.

Columns that SQLite would compute whenever they are read (`AS (...)`, not stored) are left out: their formulas are
untrusted, and no profiler writes any.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from wavewright.readers.files.sqlite.values import INTEGER, number_of

#: What the native core is asked for: name, place in the record, type, is row id, stores reals, value when missing.
_Plan = list[tuple[str, int, int, bool, bool, int | float | str | None]]


MOST_TABLES = 50_000  #: Tables of a database that are read.
_TABLES = "FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
_FIRST_TABLES = f"SELECT rowid AS number, name, rootpage {_TABLES} ORDER BY rowid LIMIT {MOST_TABLES}"
_COMPUTED = 2  #: How `table_xinfo` marks columns that are computed whenever they are read.


class _Unknown(Exception):  # noqa: N818 - never leaves this module
    """A default whose value only SQLite knows."""


@dataclass(frozen=True)
class _Declared:
    """A column as it was declared."""

    name: str
    type: str
    default: str | None

    @property
    def affinity(self) -> str:
        """Type affinity of SQLite: the type that values become before they are stored, by the declared type."""
        for affinity, words in _AFFINITIES.items():
            if any(word in self.type for word in words):
                return affinity
        return "numeric" if self.type else "blob"

    def missing(self) -> int | float | str | None:
        """The value in rows that are older than the column."""
        text = (self.default or "NULL").strip()
        if text.upper() == "NULL":
            return None
        quote = text[0]
        if quote in "'\"":
            inside = text[1:-1]
            value = inside.replace(quote * 2, quote)
            is_literal = len(text) > 1 and text[-1] == quote and quote not in inside.replace(quote * 2, "")
            if is_literal and (self.affinity in ("text", "blob") or number_of(value) is None):
                return value
            raise _Unknown
        number = number_of(text)
        if isinstance(number, int) or (isinstance(number, float) and self.affinity == "real"):
            return number
        raise _Unknown


#: Affinity -> parts of declared types; the first that fits counts, as in SQLite.
_AFFINITIES = {
    "integer": ("INT",),
    "text": ("CHAR", "CLOB", "TEXT"),
    "blob": ("BLOB",),
    "real": ("REAL", "FLOA", "DOUB"),
}


@dataclass(frozen=True)
class StoredTable:
    """A table: its first page and its stored columns, in the order in which its records have them."""

    name: str
    root: int
    declared: tuple[_Declared, ...]
    key: str | None  #: The column that is the row id.

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.declared)

    def plan(self, types: Mapping[str, int]) -> _Plan | None:
        """Plan by which the native core reads columns, each as a type; None when only SQLite can."""
        places = {column.name: place for place, column in enumerate(self.declared)}
        plan: _Plan = []
        for name, kind in types.items():
            column = self.declared[places[name]]
            try:
                default = column.missing()
            except _Unknown:
                return None
            plan.append((name, places[name], kind, name == self.key, column.affinity == "real", default))
        return plan or [("", 0, INTEGER, True, False, None)]  # the row ids, to count the rows


def count_tables(connection: sqlite3.Connection) -> int:
    """Number of tables; `read_tables` gives the first `MOST_TABLES` of them."""
    return int(connection.execute(f"SELECT count(*) {_TABLES}").fetchone()[0])


def read_tables(connection: sqlite3.Connection) -> dict[str, StoredTable]:
    """The tables with pages of their own (virtual tables have none), in the order in which they were made."""
    selected = "m.name, m.rootpage, c.name, upper(c.type), c.dflt_value, c.pk, c.hidden"
    rows = connection.execute(
        f"SELECT {selected} FROM ({_FIRST_TABLES}) AS m, pragma_table_xinfo(m.name) AS c ORDER BY m.number, c.cid"  # noqa: S608
    ).fetchall()
    own_keys = {
        name
        for (name,) in connection.execute(
            f"SELECT m.name FROM ({_FIRST_TABLES}) AS m, pragma_index_list(m.name) AS i WHERE i.origin = 'pk'"  # noqa: S608
        )
    }
    tables: dict[str, tuple[int, list[_Declared], list[str]]] = {}
    for table, root, name, kind, default, key, mark in rows:
        _, columns, keys = tables.setdefault(table, (root, [], []))
        if mark == _COMPUTED:
            continue
        columns.append(_Declared(name, kind or "", default))
        if key:
            keys.append(name if kind == "INTEGER" and table not in own_keys else "")
    return {
        table: StoredTable(table, root, tuple(columns), keys[0] if len(keys) == 1 and keys[0] else None)
        for table, (root, columns, keys) in tables.items()
    }


def read_views(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Names of the views."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY rowid")
    return tuple(name for (name,) in rows)
