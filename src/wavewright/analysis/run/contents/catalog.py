"""Views, tables and columns that a query can name, with their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.run.contents.views import VIEWS
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.run_tables import RUN
from wavewright.readers.run.database_tables import database_tables

if TYPE_CHECKING:
    from wavewright.model.run import Run


@dataclass(frozen=True)
class Catalog(Answer, package=__package__):
    """The views and tables that a query can name."""

    relations: pl.DataFrame
    columns: pl.DataFrame


def catalog(run: Run | None, name: str | None = None) -> Catalog:
    """The views and tables that a query can name, and the other tables in the files of a run; or one of them.

    Raises
    ------
    UsageError
        When there is no view or table of that name.

    Examples
    --------
    >>> catalog(None).relations["name"].to_list()[:2]
    ['code_objects', 'kernel_symbols']
    """
    entries = [_view(view) for view in VIEWS] + [_table(table) for table in RUN]
    if run is not None:
        entries += [_extra(run, extra) for extra in run.extra_names]
        entries += _stored(run)
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


def _view(name: str) -> tuple[Head, Rows]:
    view = VIEWS[name]
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


def _stored(run: Run) -> list[tuple[Head, Rows]]:
    entries: dict[str, tuple[Head, Rows]] = {}
    for source in run.origins:
        for stored in database_tables(source):
            head = (stored.table, "stored", f"as {source.format} stores it", stored.column_count)
            rows = [(stored.table, column, "", "", "as stored") for column in stored.columns.split(", ")]
            entries.setdefault(stored.table, (head, rows))
    return list(entries.values())
