"""Tables of reports as TOML declares them: `words/run/tables/gaps.toml` has those of the report about gaps.

A column names the column of the frame that it shows, and its form follows from the unit in that name; what is more
than a value in a form is a cell that the report gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, Literal

import polars as pl

from wavewright.base.words import duration, grouped, percent, short, size
from wavewright.facts.loader import Fact, decoded, packaged
from wavewright.model import blocks
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.frame_tables import Column, bar_cell, brief_place, frame_table, hexadecimal, place

#: A cell, columns to put there, a part of a heading, or a condition.
Filling = Callable[[dict[str, Any]], str] | Sequence[Column] | str | bool

_Place = Literal["brief place", "place", "tail"]
Form = Literal[_Place, "address", "bytes", "id", "kernel", "lower", "number", "share", "short", "text", "time"]
_FORMS: dict[str, Form] = {"_ns": "time", "share": "share", "_bytes": "bytes"}  #: Ending of a name -> form.


class DeclaredColumn(Fact, frozen=True):
    """One column."""

    heading: str = ""  #: Words in braces are texts that the report gives.
    of: str = ""  #: Column of the frame.
    cell: str = ""  #: Without `of`: name of what the report gives; neither where it makes the rows.
    form: Form | None = None  #: None = as the name says; else a number, or a text where the role is not that of one.
    role: blocks.Role = "number"
    none: str | None = None  #: In place of a missing value; None = a hyphen.
    zero: str | None = None  #: In place of 0; None = as other numbers.
    digits: int | None = None  #: After the point; None = as the form has them.
    unit: float = 1  #: The value is written in multiples of it.
    sign: bool = False  #: Times and shares with a + where they are above 0.
    prefix: str = ""  #: Before the value.
    suffix: str = ""  #: After it.
    bar: int = 0  #: Characters of the bar that shows the share; 0 = no bar.
    is_wide: bool = False
    is_name: bool = False
    is_drawn: bool = False
    when: str = ""  #: Name of a condition that the report gives, or `not` and a name.
    is_optional: bool = False  #: Left out where no row has a value, as short words always are.
    handle: str = ""  #: As of `frame_tables.Column`, like the name.
    name: str = ""

    def filled(self, frame: pl.DataFrame | None, cells: dict[str, Filling]) -> Iterator[Column]:
        """The column, or those that the report puts in its place."""
        if self.when and bool(cells[self.when.removeprefix("not ")]) is self.when.startswith("not "):
            return
        if self.is_optional and self.of and frame is not None and frame[self.of].null_count() == frame.height:
            return
        filling = cells[self.cell] if self.cell else partial(_bar, self) if self.bar else partial(_value, self)
        if not callable(filling):
            yield from filling  # type: ignore[misc]  # columns
            return
        flags = {name: getattr(self, name) for name in ("is_optional", "is_wide", "is_name", "is_drawn")}
        role = "bar" if self.bar else self.role
        yield Column(self.heading.format_map(cells), filling, role, **flags, handle=self.handle, name=self.name)


class DeclaredTable(Fact, frozen=True):
    """One table."""

    columns: tuple[DeclaredColumn, ...]
    title: str = ""
    rows: str = "rows"  #: Plural of what a row is; empty = the heading does not say how many there are.
    legend: str = ""  #: What its headings mean, to stand below it.


def declared_columns(table: str, frame: pl.DataFrame | None = None, /, **cells: Filling) -> list[Column]:
    """The columns of a table, such as `run/gaps/causes`, filled with the cells of the report."""
    return [column for declared in _table(table).columns for column in declared.filled(frame, cells)]


def declared_table(
    table: str, frame: pl.DataFrame, /, *, limit: int | None = None, title: str = "", rows: str = "", **cells: Filling
) -> blocks.Table:
    """The first `limit` rows of a frame, None = all, as the table is declared; `title` and `rows` replace its own."""
    declared = _table(table)
    columns = declared_columns(table, frame, **cells)
    return frame_table(frame, columns, limit=limit, what=rows or declared.rows, title=title or declared.title)


def table_below(table: str, frame: pl.DataFrame, /, **options: Any) -> Iterator[blocks.AnyBlock]:
    """An empty line, then the table that `declared_table` makes with these options; nothing if there is no row."""
    if frame.height:
        yield blocks.GAP
        yield declared_table(table, frame, **options)


def legend(table: str) -> blocks.Sentence:
    """The words below a table that say what its headings mean."""
    return blocks.sentence((_table(table).legend, "dim"))


def block_columns(table: str) -> tuple[blocks.Column, ...]:
    """The columns of a table whose rows a report makes by itself: several kinds of rows, or of objects."""
    names = blocks.Column.__dataclass_fields__
    columns = _table(table).columns
    return tuple(blocks.Column(**{name: getattr(column, name) for name in names}) for column in columns)


def _table(name: str) -> DeclaredTable:
    report, _, table = name.rpartition("/")
    return _report(report)[table]


@cache
def _report(name: str) -> dict[str, DeclaredTable]:
    folder, _, file = name.rpartition("/")
    path = f"{folder}/tables/{file}.toml".lstrip("/")
    return decoded(packaged(path, "wavewright.words"), dict[str, DeclaredTable], where=path)


def _bar(column: DeclaredColumn, row: dict[str, Any]) -> blocks.Cell:
    return bar_cell(row[column.of], column.bar)


def _value(column: DeclaredColumn, row: dict[str, Any]) -> str:
    value = row[column.of]
    if value is None and column.form != "kernel":
        return "-" if column.none is None else column.none
    if column.zero is not None and not value:
        return column.zero
    text = _text(column, value, row)
    return f"{column.prefix}{text}{column.suffix}" if column.prefix or column.suffix else text


def _text(column: DeclaredColumn, value: Any, row: dict[str, Any]) -> str:
    form, digits = column.form, column.digits
    if form is None:
        usual: Form = "number" if column.role == "number" else "text"
        form = next((form for ending, form in _FORMS.items() if column.of.endswith(ending)), usual)
    match form:
        case "time":
            return f"{'+' if column.sign and value > 0 else ''}{duration(value)}"
        case "share":
            return percent(value, 1 if digits is None else digits, sign=column.sign)
        case "bytes":
            return size(value, digits or 1)
        case "number":
            is_exact = isinstance(value, int) and column.unit == 1 and not digits
            return f"{value:,}" if is_exact else grouped(value, digits or 0, unit=column.unit)
        case "short":
            return short(value)
        case "address":
            return hexadecimal(value)
        case "kernel":
            return brief_kernel(value, 200)  # the writer of the table cuts it to the width that there is
        case "place":
            return place(value, row[column.of.replace("file", "line")])
        case "brief place":
            return brief_place(value, row[column.of.replace("file", "line")])
        case "lower":
            return str(value).lower()
        case "tail":  # the end of a path: its start is the same everywhere
            return "/".join(str(value).rstrip("/").rsplit("/", 2)[-2:])
        case _:
            return str(value)
