"""Rows of a query, for the terminal: a table where it fits, else row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from rich.text import Text

from wavescope.report.kit.tables import Column, frame_table, printable, truncation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

_WIDEST = 48  #: Characters of a string in a table.
_RECORDS = 3  #: Rows that are shown one below the other when they do not fit side by side.


def query_report(rows: pl.DataFrame, count: int, *, width: int = 100) -> Iterator[RenderableType]:
    """The first rows of `count`, for a terminal of `width` columns.

    Examples
    --------
    >>> import polars as pl
    >>> [str(part.title) for part in query_report(pl.DataFrame({"n": [1]}), 7)]
    ['showing 1 of 7 rows']
    """
    cells = [[_cell(value) for value in row] for row in rows.iter_rows()]
    widths = [
        max(len(name), *(min(len(row[at]), _WIDEST) for row in cells)) if cells else len(name)
        for at, name in enumerate(rows.columns)
    ]
    if sum(widths) + len(widths) <= width or rows.width == 1:
        yield _table(rows, cells, count)
        return
    shown = cells[:_RECORDS]
    note = truncation(len(shown), count, "rows")
    yield Text(f"{note}, {rows.width} columns; --csv or --json give all, or name fewer columns", style="bold")
    longest = max(map(len, rows.columns))
    for number, row in enumerate(shown, 1):
        yield Text(f"row {number}", style="bold")
        for name, cell in zip(rows.columns, row, strict=True):
            yield Text(f"  {printable(name):<{longest}}  {cell}", no_wrap=True, overflow="ellipsis")


def _table(rows: pl.DataFrame, cells: list[list[str]], count: int) -> RenderableType:
    numbered = pl.DataFrame({"row": range(rows.height)})
    columns = [
        Column(printable(name), _at(cells, at), is_text=not dtype.is_numeric())
        for at, (name, dtype) in enumerate(rows.schema.items())
    ]
    table = frame_table(numbered, columns, limit=rows.height, what="rows")
    table.title = truncation(rows.height, count, "rows")
    return table


def _at(cells: list[list[str]], column: int) -> Callable[[dict[str, Any]], str]:
    def cell(row: dict[str, Any]) -> str:
        text: str = cells[row["row"]][column]
        return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"

    return cell


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return printable(f"{value:.10g}" if isinstance(value, float) else str(value))
