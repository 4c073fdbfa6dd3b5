"""Tables and views that a query may read: those that its words name, with the columns to load of each."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import polars as pl

from wavewright.analysis.run.contents.views import NUMBERED_TABLES, VIEWS
from wavewright.model.run import Run
from wavewright.model.run_tables import RUN

NUMBER = "row_in_process"  #: Column of `numbered_` tables: the number of the row in its process, from 1.
OUR_PREFIX = "stable_"  #: Prefix of the stable views where a file may store a view of the same name.


class LoadedTable(NamedTuple):
    """A table as it is loaded."""

    plain: str  #: The table of the run that it is.
    columns: dict[str, str]  #: Name -> polars type; `numbered_` tables have one more, `NUMBER`.


def _stored_table(plain: str) -> tuple[str, LoadedTable]:
    columns = {column.name: column.dtype for column in RUN[plain].columns}
    if plain in NUMBERED_TABLES:
        return f"numbered_{plain}", LoadedTable(plain, {NUMBER: "Int64", **columns})
    return plain, LoadedTable(plain, columns)


STORED = dict(map(_stored_table, RUN))  #: The tables as they are loaded, by name.


class Used(NamedTuple):
    """The relations a statement may name: stored tables, and views in the order of their dependencies."""

    views: tuple[str, ...]
    tables: tuple[str, ...]


def used(sql: str) -> Used:
    """The views and stored tables whose names occur in a statement, and the ones they need.

    >>> used("SELECT * FROM processes").tables
    ('nodes', 'processes')
    """
    words = words_of(sql)
    if words & _CATALOG:
        return Used(tuple(VIEWS), tuple(STORED))
    views = {name for name in VIEWS if {name, f"{OUR_PREFIX}{name}"} & words}
    while missing := {name for view in views for name in words_of(VIEWS[view].source) & set(VIEWS)} - views:
        views |= missing
    for view in views:
        words |= words_of(VIEWS[view].source)
    tables = tuple(name for name, table in STORED.items() if {name, table.plain} & words)
    return Used(tuple(name for name in VIEWS if name in views), tables)


def view_statements(names: Used, sql: str, but: Collection[str] = ()) -> dict[str, str]:
    """The SELECT of each view that a statement may name; those in `but` under their prefixed names only."""
    words = words_of(sql)
    aliases = {f"{OUR_PREFIX}{view}": VIEWS[view].sql for view in names.views if f"{OUR_PREFIX}{view}" in words}
    return {view: VIEWS[view].sql for view in names.views if view not in but} | aliases


def words_of(sql: str) -> set[str]:
    """The words of a statement in small letters."""
    return set(re.findall(r"\w+", sql.lower()))


#: Keywords of statements that list relations.
_CATALOG = {"describe", "desc", "show", "summarize", "information_schema", "sqlite_master", "sqlite_schema"} | {
    f"duckdb_{what}" for what in ("tables", "views", "columns")
}


def loaded(run: Run, table: str, columns: Collection[str]) -> pl.DataFrame:
    """These columns of a stored table, in the order of its declaration; at least one, so that rows can be counted."""
    plain, declared = STORED[table]
    names = [name for name in declared if name in columns] or [next(reversed(declared))]
    if NUMBER not in names:
        return run.read(plain, names)
    read = run.read(plain, list(dict.fromkeys(["process", *names[1:]])))
    return read.with_columns((pl.int_range(pl.len()).over("process") + 1).alias(NUMBER)).select(names)


def named_extras(run: Run, sql: str) -> dict[str, pl.DataFrame]:
    """The extra tables of the formats at hand whose names occur in the query."""
    return {name: run.table(name) for name in run.extra_names if name.lower() in sql.lower()}
