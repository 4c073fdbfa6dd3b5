"""Rows of a query, for the terminal: a table where it fits, else row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from wavewright.base.shown import printable
from wavewright.base.words import shortened, truncation
from wavewright.model.blocks import AnyBlock, Preformatted, sentence
from wavewright.words.kit.frame_tables import Column, frame_table

_GAP = 2  #: Characters between two columns.
_NARROWEST = 20  #: Characters that every text gets, if it has so many.
_RECORDS = 3  #: Rows that are shown one below the other when they do not fit side by side.


def query_report(rows: pl.DataFrame, count: int, *, width: int = 100) -> Iterator[AnyBlock]:
    """The first rows of `count`, for a terminal of `width` columns."""
    cells = [[_cell(value) for value in row] for row in rows.iter_rows()]
    widths = _widths(rows, cells, width)
    if widths:
        columns = list(zip(*cells, strict=True)) if cells else [()] * rows.width
        yield _table(rows, [_cut(column, at) for column, at in zip(columns, widths, strict=True)], count)
        return
    shown = cells[:_RECORDS]
    note = truncation(len(shown), count, "rows")
    yield sentence((f"{note}, {rows.width} columns; --csv or --json give all, or name fewer columns", "bold"))
    longest = max(map(len, rows.columns))
    for number, row in enumerate(shown, 1):
        yield sentence((f"row {number}", "bold"))
        for name, cell in zip(rows.columns, row, strict=True):
            yield Preformatted(shortened(f"  {printable(name):<{longest}}  {cell}", width))


def _widths(rows: pl.DataFrame, cells: list[list[str]], width: int) -> list[int]:
    """The characters of each column: numbers whole, texts as wide as they are or as the terminal allows; empty where it
    allows too little.
    """
    full = [max(len(name), *(min(len(row[at]), width) for row in cells), 0) for at, name in enumerate(rows.columns)]
    least = [
        size if dtype.is_numeric() else max(len(name), min(size, _NARROWEST))
        for size, (name, dtype) in zip(full, rows.schema.items(), strict=True)
    ]
    available = width - _GAP * (len(full) - 1)
    for limit in range(width, 0, -1):  # the largest width that all longer texts can be cut to
        widths = [min(size, max(low, limit)) for size, low in zip(full, least, strict=True)]
        if sum(widths) <= available:
            return widths
    return full if rows.width == 1 else []


def _cut(texts: tuple[str, ...], width: int) -> list[str]:
    """Texts of a column in a width: their first characters, or both ends where these alone would make them equal."""
    short = [text if len(text) <= width else text[: width - 1] + "…" for text in texts]
    if len(set(short)) == len(set(texts)):
        return short
    head = (width - 1) // 3
    return [text if len(text) <= width else f"{text[:head]}…{text[head + 1 - width :]}" for text in texts]


def _table(rows: pl.DataFrame, cells: list[list[str]], count: int) -> AnyBlock:
    """`cells` by column."""
    numbered = pl.DataFrame({"row": range(rows.height)})
    columns = [
        Column(printable(name), _at(cells, at), "number" if dtype.is_numeric() else "words")
        for at, (name, dtype) in enumerate(rows.schema.items())
    ]
    return replace(frame_table(numbered, columns, limit=rows.height, what="rows"), row_count=count)


def _at(cells: list[list[str]], column: int) -> Callable[[dict[str, Any]], str]:
    def cell(row: dict[str, Any]) -> str:
        text: str = cells[column][row["row"]]
        return text

    return cell


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return printable(f"{value:.10g}" if isinstance(value, float) else str(value))
