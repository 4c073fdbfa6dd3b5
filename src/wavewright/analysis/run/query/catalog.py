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
        names = [each.name for each in relations]
        relations = [each for each in relations if each.name.lower() == name.lower()]
        if not relations:
            raise UsageError(f"no view or table {name!r}", advice=f"there are {', '.join(names)}")
    heads = [(each.name, each.kind, each.row, len(each.columns)) for each in relations]
    columns = [(each.name, *column) for each in relations for column in each.columns]
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
        yield _Relation(
            shown, "view", view.row, [(each.name, each.type, each.unit, each.meaning) for each in view.columns]
        )
    for name, table in RUN.items():
        columns = [(each.name, each.dtype, each.unit, each.meaning) for each in table.columns]
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
