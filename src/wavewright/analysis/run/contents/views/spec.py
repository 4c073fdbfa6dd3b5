"""How a view is declared: its columns, each with the SQL that makes it, and where the rows come from."""

from __future__ import annotations

from dataclasses import dataclass


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


def view_spec(name: str, row: str, columns: str, source: str) -> ViewSpec:
    """Declare a view; columns come one per line: `name type unit | SQL | meaning` (unit `-` = none).

    Examples
    --------
    >>> view_spec("ends", "one event", "end BIGINT ns | k.end_ns | when", "FROM run.dispatches k").columns[0].unit
    'ns'
    """
    declared = []
    for line in filter(str.strip, columns.splitlines()):
        head, rest = line.split("|", 1)
        sql, meaning = rest.rsplit("|", 1)
        column, kind, unit = head.strip().rsplit(maxsplit=2)
        declared.append(ViewColumn(column, kind, "" if unit == "-" else unit, sql.strip(), meaning.strip()))
    return ViewSpec(name, row, tuple(declared), source)
