"""Views, tables and columns that a query can name, with their meaning."""

from __future__ import annotations

from dataclasses import dataclass

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


def catalog(run: Run | None, name: str | None = None) -> Catalog:
    """The views and tables that a query can name, and the other tables in the files of a run; or one of them.

    Raises `UsageError` when there is no view or table of that name.

    >>> catalog(None).relations["name"].to_list()[:2]
    ['code_objects', 'kernel_symbols']
    """
    file_names = stored_names(run, VIEWS) if run is not None else StoredNames()
    entries = [_view(view, f"{OUR_PREFIX}{view}" if view in file_names.plain else view) for view in VIEWS]
    entries += [_table(table) for table in RUN]
    if run is not None:
        entries += [_extra(run, extra) for extra in run.extra_names]
        entries += _stored(file_names)
    if name is not None:
        chosen = [entry for entry in entries if entry[0][0].lower() == name.lower()]
        if not chosen:
            what = f"no view or table {name!r}"
            raise UsageError(what, advice=f"there are {', '.join(entry[0][0] for entry in entries)}")
        entries = chosen
    return Catalog(
        pl.DataFrame([head for head, _ in entries], schema=Catalog.tables["relations"].dtypes, orient="row"),
        pl.DataFrame(
            [row for _, rows in entries for row in rows], schema=Catalog.tables["columns"].dtypes, orient="row"
        ),
    )


Head = tuple[str, str, str, int]
Rows = list[tuple[str, str, str, str, str]]


def _view(view_name: str, name: str) -> tuple[Head, Rows]:
    view = VIEWS[view_name]
    rows = [(name, column.name, column.type, column.unit, column.meaning) for column in view.columns]
    return (name, "view", view.row, len(rows)), rows


def _table(name: str) -> tuple[Head, Rows]:
    table = RUN[name]
    full = f"run.{name}"
    rows = [(full, column.name, column.dtype, column.unit, column.meaning) for column in table.columns]
    return (full, "table", table.row, len(rows)), rows


def _extra(run: Run, name: str) -> tuple[Head, Rows]:
    full = f"run.{name}"
    rows = [(full, column, str(dtype), "", "as stored") for column, dtype in run.table(name).schema.items()]
    return (full, "extra", "as stored", len(rows)), rows


def _stored(names: StoredNames) -> list[tuple[Head, Rows]]:
    """The tables and views of the files, under the names that mean them; those of a GUID under their plain name."""
    entries: dict[str, tuple[Head, Rows]] = {}
    for file in names.files:
        for relation, parts in file.relations.items():
            if plain_name(relation) != relation:
                continue
            name = plain_name(parts[0])
            if relation in VIEWS and relation not in names.plain:
                name = f"{FILE_PREFIX}{name}"
            columns = declared_columns(file.database, parts[0])
            head = (name, "stored", f"as {file.format} stores it", len(columns))
            entries.setdefault(name, (head, [(name, column, kind, "", "as stored") for column, kind in columns]))
    return list(entries.values())
