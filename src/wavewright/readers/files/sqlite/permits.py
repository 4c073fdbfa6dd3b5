"""Permissions of SQL: it may read, and nothing else."""

from __future__ import annotations

import sqlite3

_ACTIONS = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
_FORBIDDEN_FUNCTIONS = ("load_extension", "fts3_tokenizer")
_ABOUT_TABLES = ("table_info", "table_xinfo", "index_list")  #: Pragmas that change nothing.


def is_reading(action: int, name: str | None) -> bool:
    """True if an action that SQLite asks permission for reads; `name` is its second argument.

    >>> is_reading(sqlite3.SQLITE_FUNCTION, "upper"), is_reading(sqlite3.SQLITE_FUNCTION, "load_extension")
    (True, False)
    >>> is_reading(sqlite3.SQLITE_ATTACH, None)
    False
    """
    is_forbidden = action == sqlite3.SQLITE_FUNCTION and (name or "").lower() in _FORBIDDEN_FUNCTIONS
    return action in _ACTIONS and not is_forbidden


def permit_reading(action: int, what: str | None, name: str | None, *_: object) -> int:
    """An authorizer for connections to databases of others: reading, and pragmas about tables."""
    is_about_tables = action == sqlite3.SQLITE_PRAGMA and what in _ABOUT_TABLES
    # Asked when SQLite declares the columns of its own pragma tables; the file itself is open for reading only.
    is_own_declaration = action == sqlite3.SQLITE_UPDATE and what == "sqlite_master"
    is_permitted = is_about_tables or is_own_declaration or is_reading(action, name)
    return sqlite3.SQLITE_OK if is_permitted else sqlite3.SQLITE_DENY
