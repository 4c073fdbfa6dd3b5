"""The stable views of every run: names and columns of AMD's ROCpd views and of RPD's, whatever the format of the file.

They are made of the tables of a `Run` (`run.dispatches`, ...). Where AMD's views are wrong, these are right; each
difference is in docs/explanation/differences.md. `docs/reference/views.md` is generated from these declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wavewright.facts.loader import packaged_text

_VIEW = re.compile(r"^-- VIEW (\w+): ([^\n]+)\nSELECT\n(.+?)\n(FROM .+?);$", re.MULTILINE | re.DOTALL)
_COLUMN = re.compile(r'^    -- (\w+) (\S+): (.+?)\n(.+?) AS "([^"]+)",?$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class ViewColumn:
    """One column of a view."""

    name: str
    type: str  #: BIGINT, DOUBLE or VARCHAR.
    unit: str
    sql: str
    meaning: str


@dataclass(frozen=True)
class ViewSpec:
    """One view: the meaning of a row, its columns in order, and the rest of the statement."""

    name: str
    row: str
    columns: tuple[ViewColumn, ...]
    source: str  #: The FROM clause and the rest.

    @property
    def sql(self) -> str:
        """The SELECT of the view, in the SQL that SQLite and DuckDB have in common."""
        columns = ", ".join(f'{column.sql} AS "{column.name}"' for column in self.columns)
        return f"SELECT {columns} {' '.join(self.source.split())}"

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]


def declared_views(file: str) -> Iterator[ViewSpec]:
    """The views of a file beside this module, in its order; unit `-` = none."""
    for name, row, columns, source in _VIEW.findall(packaged_text(file, package=__package__)):
        view_columns = [
            ViewColumn(column, kind, "" if unit == "-" else unit, " ".join(sql.split()), meaning)
            for kind, unit, meaning, sql, column in _COLUMN.findall(columns)
        ]
        yield ViewSpec(name, row, tuple(view_columns), source)


_FILES = ("entities.sql", "calls.sql", "work.sql", "totals.sql", "ops.sql")

#: The views by name; each refers only to tables of a run and to earlier views.
VIEWS: dict[str, ViewSpec] = {view.name: view for file in _FILES for view in declared_views(file)}

#: Tables `run.numbered_<table>`: as `run.<table>`, with the number of the row in its process, from 1.
NUMBERED_TABLES = ("arguments", "copies", "allocations", "counters")
