"""A table that fits its console: numbers are never cut, words are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from wavewright.base.names_form import NAMES_FORM
from wavewright.base.shown import printable
from wavewright.model.blocks import Cell, KernelName, Placed, Table
from wavewright.writers.terminal.texts import Line, cell_text, printable_lines

WIDE = 110  #: Characters from which on a terminal shows all columns.
_GAP = 2  #: Spaces between columns.
#: The name of a source line, which is cut in front; instructions may end like it (`offset:16`), but have spaces.
_PLACE = re.compile(r"\S*:(\d+|\?)")

_MOST_LEVELS = 18  #: Of a tree: deeper names are indented no further.
_SMALLEST_BAR = 4  #: Characters, as below.
_SMALLEST_PATH = 10
_SMALLEST_NAME = 16
#: (role of columns, characters): where the table is too wide, columns of this role are narrowed to this width, one step
#: after the other until it fits; none becomes narrower than its heading.
_STEPS = (
    ("prose", 24),
    ("rest", 60),
    ("bar", _SMALLEST_BAR),
    ("rest", 24),
    ("prose", 12),
    ("words", 12),
    ("short", 16),
    ("rest", 16),
    ("words", 6),
    ("short", 8),
    ("rest", 8),
)
_NARROW = 60  #: Characters below which headings are cut too, rather than columns left out.
_NARROW_STEPS = (*_STEPS, ("bar", 1), ("prose", 1), ("rest", 1), ("words", 1), ("short", 1), ("number", 1))


@dataclass(frozen=True)
class _Column:
    heading: str
    cells: tuple[str, ...]
    role: str  #: One of those of `_STEPS`, or "number".
    step: str  #: Before a name in a tree, for each level.

    # A table of thousands of rows asks for these again at every step of fitting.
    @cached_property
    def _texts(self) -> list[Text]:
        return [_text(cell, self.step) for cell in self.cells]

    @cached_property
    def width(self) -> int:
        lines = (line for text in self._texts for line in text.plain.split("\n"))
        return max([self.heading_width, *map(cell_len, lines)])

    @cached_property
    def heading_width(self) -> int:
        return max(map(cell_len, self.heading.split("\n")))

    @cached_property
    def smallest(self) -> int:
        """Characters below which it says nothing: of its heading, of names, of a path with what follows it."""
        widths = [cell_len(cell.tail) + _SMALLEST_PATH for cell in self.cells if isinstance(cell, Placed)]
        widths += [_SMALLEST_NAME] * any(isinstance(cell, KernelName) for cell in self.cells)
        return max(self.heading_width, min(self.width, max(widths, default=0)))

    @property
    def wraps(self) -> bool:
        """True if it holds paragraphs, or full names: these are wrapped, not cut."""
        return (
            self.role == "prose"
            or any(isinstance(cell, Cell) and "\n" in cell for cell in self.cells)
            or (NAMES_FORM.get() == "full" and any(isinstance(cell, KernelName) for cell in self.cells))
        )

    def fitting(self, width: int, kernels: Sequence[str]) -> list[Text]:
        """The cells in this width; `kernels`: all names of kernels in the table."""
        if self.role == "prose":
            return [Text(printable(cell)) for cell in self.cells]
        if self.wraps:
            return [Text(text.plain, text.style, spans=text.spans) for text in self._texts]
        if self.role == "bar":
            return [_text(cell, self.step, width) for cell in self.cells]
        places = [cell for cell in self.cells if isinstance(cell, Placed)]
        if places:
            room = width - max(cell_len(cell.tail) for cell in places)
            short = _shortened([cell.removesuffix(cell.tail) for cell in places], room)
            return [
                Line(short[cell.removesuffix(cell.tail)] + cell.tail) if isinstance(cell, Placed) else _cut(text, width)
                for cell, text in zip(self.cells, self._texts, strict=True)
            ]
        if any(isinstance(cell, KernelName) for cell in self.cells):
            short = _shortened(kernels, width)
            return [
                Line(short[cell.full]) if isinstance(cell, KernelName) else text
                for cell, text in zip(self.cells, self._texts, strict=True)
            ]
        return _cut_apart(self._texts, width)


def _text(cell: str, step: str, bar_width: int | None = None) -> Text:
    """A cell as a terminal shows it; a bar has at most `bar_width` characters."""
    if not isinstance(cell, Cell):
        return Line(printable(cell))
    if not (cell.tone or cell.marks or cell.share is not None or "\n" in cell):
        return Line(step * min(cell.level, _MOST_LEVELS) + printable(cell))
    text = cell_text(cell, bar_width)
    text.pad_left(len(step) * min(cell.level, _MOST_LEVELS))
    text.no_wrap, text.overflow = "\n" not in cell, "fold" if "\n" in cell else "ellipsis"
    return text


def _shortened(names: Sequence[str], width: int) -> dict[str, str]:
    """`short_names`, imported only where a table has to shorten: doctor starts without it."""
    from wavewright.analysis.run.calls.kernel_names import short_names

    return short_names(names, width)


class FittedTable:
    """A table of a report in the width of its console.

    Numbers are never cut; bars, the rest, words and short words give way, in steps. What does not fit then is left
    out, bars first, then columns from the right, and the title says so.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """From what remains when all words are cut, to all columns whole."""
        widths = [column.width for column in self._columns(options.max_width)]
        largest = max(sum(widths) + _GAP * (len(widths) - 1), cell_len(self._table.heading))
        return Measurement(1, min(largest, options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The title on a line of its own, however narrow the table is, then the table."""
        columns, left_out = self._fitting_parts(options.max_width)
        title = self._table.heading
        if left_out:
            advice = f"without {', '.join(left_out)}: a wider terminal shows all columns"
            title = f"{title}; {advice}" if title else advice
        if title:
            yield Text(printable(title), "bold")
        has_headings = any(column.heading for column in columns)
        table = RichTable(box=None, header_style="bold", pad_edge=False, show_header=has_headings)
        kernels = [cell.full for column in columns for cell in column.cells if isinstance(cell, KernelName)]
        cells_by_column = []
        for column, width in zip(columns, _widths(columns, options.max_width), strict=True):
            side: JustifyMethod = "right" if column.role == "number" else "left"
            if column.wraps:
                table.add_column(column.heading, justify=side, width=width, overflow="fold")
            else:
                table.add_column(column.heading, justify=side, width=width, no_wrap=True, overflow="ellipsis")
            cells_by_column.append(column.fitting(width, kernels))
        for row in zip(*cells_by_column, strict=True):
            table.add_row(*row)
        yield table

    def _columns(self, room: int) -> list[_Column]:
        """The columns that a terminal of this width shows."""
        places = [place for place, column in enumerate(self._table.columns) if room >= WIDE or not column.is_wide]
        step = "  " if room >= WIDE else " "
        columns = []
        for place in places:
            column, cells = self._table.columns[place], tuple(row[place] for row in self._table.rows)
            columns.append(_Column(printable_lines(column.heading), cells, column.role, step))
        return columns

    def _fitting_parts(self, room: int) -> tuple[list[_Column], list[str]]:
        """The columns that fit, and the headings of those that do not."""
        columns = self._columns(room)
        left_out: list[str] = []
        while room >= _NARROW and len(columns) > 1 and sum(_widths(columns, room)) + _GAP * (len(columns) - 1) > room:
            places = [place for place, column in enumerate(columns) if column.role == "bar"]
            places = places or [place for place, column in enumerate(columns) if place and column.role == "number"]
            place = places[-1] if places else len(columns) - 1
            column = columns.pop(place)
            left_out += [column.heading.replace("\n", " ")] if column.heading else []
        return columns, left_out[::-1]


def _widths(columns: Sequence[_Column], room: int) -> list[int]:
    """The widths of columns after as many steps of narrowing as `room` demands, the widest of a role first."""
    widths = [column.width for column in columns]
    excess = sum(widths) + _GAP * (len(widths) - 1) - room
    is_narrow = room < _NARROW
    for role, least in _NARROW_STEPS if is_narrow else _STEPS:
        places = [place for place, column in enumerate(columns) if column.role == role]
        for place in sorted(places, key=lambda place: widths[place], reverse=True):
            smallest = least if is_narrow else max(least, columns[place].smallest)
            cut_width = max(0, min(excess, widths[place] - smallest))
            widths[place] -= cut_width
            excess -= cut_width
    return widths


def _cut_apart(cells: Sequence[Text], width: int) -> list[Text]:
    """Cells that are cut at their end, or, where two would then be equal, in the middle."""
    names = told_apart((cell.plain for cell in cells if isinstance(cell, Line)), width)
    return [
        Line(names[cell.plain]) if isinstance(cell, Line) and cell.plain in names else _cut(cell, width)
        for cell in cells
    ]


def told_apart(texts: Iterable[str], width: int) -> dict[str, str]:
    """Texts that are too long, with what tells them apart in this width; empty = their first characters do.

    >>> told_apart(["a_long_name_one", "a_long_name_two"], 12)
    {'a_long_name_one': 'a_long…_one', 'a_long_name_two': 'a_long…_two'}
    """
    different = set(texts)
    long = {text for text in different if cell_len(text) > width}
    if len({text[: width - 1] for text in long}) == len(long):
        return {}
    short = _shortened(sorted(different), width)
    return {text: short[text] for text in sorted(long)}


def _cut(cell: Text, width: int) -> Text:
    """The name of a source line without its front, if it is too long; other words lose their end."""
    if cell_len(cell.plain) <= width or not _PLACE.fullmatch(cell.plain):
        return cell
    return Line("…" + set_cell_size(cell.plain[::-1], max(0, width - 1))[::-1])
