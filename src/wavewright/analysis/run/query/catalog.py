"""Catalog of queries: the views, tables and columns that a query can name, with their meaning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from wavewright.analysis.run.contents.views import VIEWS
from wavewright.analysis.run.query.file_tables import FILE_PREFIX, StoredNames, declared_columns, stored_names
from wavewright.analysis.run.query.tables_in_query import OUR_PREFIX
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.run_tables import RUN
from wavewright.readers.run.database_tables import plain_name


@dataclass(frozen=True)
class Catalog(Answer, package=__package__):
    """The views and tables that a query can name."""

    relations: pl.DataFrame
    columns: pl.DataFrame


class _Relation(NamedTuple):
    """A view or table; its columns are (name, type, unit, meaning)."""

    name: str
    kind: str
    row: str
    columns: list[tuple[str, str, str, str]]


def catalog(run: Run | None, name: str | None = None) -> Catalog:
    """The views and tables that a query can name, and the other tables in the files of a run; or one of them.

    Raises `UsageError` when there is no view or table of that name.
    """
    relations = list(_relations(run))
    if name is not None:
        names = [relation.name for relation in relations]
        relations = [relation for relation in relations if relation.name.lower() == name.lower()]
        if not relations:
            raise UsageError(f"no view or table {name!r}", advice=f"there are {', '.join(names)}")
    heads = [(relation.name, relation.kind, relation.row, len(relation.columns)) for relation in relations]
    columns = [(relation.name, *column) for relation in relations for column in relation.columns]
    specs = Catalog.tables
    return Catalog(
        pl.DataFrame(heads, schema=specs["relations"].dtypes, orient="row"),
        pl.DataFrame(columns, schema=specs["columns"].dtypes, orient="row"),
    )


def _relations(run: Run | None) -> Iterator[_Relation]:
    """The stable views, the tables of every run, and those of the files of this one."""
    file_names = stored_names(run, VIEWS) if run is not None else StoredNames()
    for name, view in VIEWS.items():
        shown = f"{OUR_PREFIX}{name}" if name in file_names.plain else name
        columns = [(column.name, column.type, column.unit, column.meaning) for column in view.columns]
        yield _Relation(shown, "view", view.row, columns)
    for name, table in RUN.items():
        columns = [(column.name, column.dtype, column.unit, column.meaning) for column in table.columns]
        yield _Relation(f"run.{name}", "table", table.row, columns)
    for name, frame in {extra: run.table(extra) for extra in run.extra_names}.items() if run is not None else ():
        columns = [(column, str(dtype), "", "as stored") for column, dtype in frame.schema.items()]
        yield _Relation(f"run.{name}", "extra", "as stored", columns)
    yield from _stored(file_names)


def _stored(names: StoredNames) -> Iterator[_Relation]:
    """The tables and views of the files, under the names that mean them; those of a GUID under their plain name."""
    listed: set[str] = set()
    for file in names.files:
        for relation, parts in file.relations.items():
            is_ours = relation in VIEWS and relation not in names.plain
            name = f"{FILE_PREFIX if is_ours else ''}{plain_name(parts[0])}"
            if plain_name(relation) == relation and name not in listed:
                listed.add(name)
                columns = [
                    (column, kind, "", "as stored") for column, kind in declared_columns(file.database, parts[0])
                ]
                yield _Relation(name, "stored", f"as {file.format} stores it", columns)
