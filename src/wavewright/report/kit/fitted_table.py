"""A table that fits its console: numbers are never cut, words are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from wavewright.base.names_form import NAMES_FORM
from wavewright.report.kit.bars import is_bar, rescaled
from wavewright.report.kit.labels import KernelName, Placed, brief_paths
from wavewright.report.kit.line import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult

_GAP = 2  #: Spaces between columns.
#: The name of a source line, which is cut in front; instructions may end like it (`offset:16`), but have spaces.
_PLACE = re.compile(r"\S*:(\d+|\?)")

_SMALLEST_BAR = 4
_SMALLEST_PATH = 10
_SMALLEST_NAME = 16
#: Who gives way where the columns are too wide together, and down to how many characters, step by step; none becomes
#: narrower than its heading.
_STEPS = (
    ("rest", 60),
    ("bar", _SMALLEST_BAR),
    ("rest", 24),
    ("words", 12),
    ("short", 16),
    ("rest", 16),
    ("words", 6),
    ("short", 8),
    ("rest", 8),
)
_NARROW = 60  #: Characters below which headings are cut too, rather than columns left out.
_NARROW_STEPS = (*_STEPS, ("bar", 1), ("rest", 1), ("words", 1), ("short", 1), ("number", 1))


@dataclass(frozen=True)
class _Column:
    heading: str
    cells: list[Any]
    role: str  #: One of those of `_STEPS`, or "number".

    @property
    def width(self) -> int:
        lines = (line for cell in self.cells for line in plain_text(cell).split("\n"))
        return max([cell_len(self.heading), *map(cell_len, lines)])

    @property
    def smallest(self) -> int:
        """Characters below which it tells nothing: of its heading, of names, of a path with what follows it."""
        rests = [cell_len(cell.rest) + _SMALLEST_PATH for cell in self.cells if isinstance(cell, Placed)]
        rests += [_SMALLEST_NAME] * any(isinstance(cell, KernelName) for cell in self.cells)
        return max(cell_len(self.heading), min(self.width, max(rests, default=0)))

    @property
    def wraps(self) -> bool:
        """Whether it holds paragraphs, or full names: these are wrapped, not cut."""
        return any("\n" in plain_text(cell) for cell in self.cells) or (
            NAMES_FORM.get() == "full" and any(isinstance(cell, KernelName) for cell in self.cells)
        )

    def fitting(self, width: int, kernels: Sequence[str]) -> list[Any]:
        """The cells in this width; `kernels`: all names of kernels in the table."""
        if self.wraps:
            return [Text(cell) if isinstance(cell, str) else cell for cell in self.cells]
        if self.role == "bar":
            return [
                cell if cell_len(plain_text(cell)) <= width else rescaled(plain_text(cell), width)
                for cell in self.cells
            ]
        places = [cell for cell in self.cells if isinstance(cell, Placed)]
        if places:
            room = width - max(cell_len(cell.rest) for cell in places)
            short = _shortened([cell.removesuffix(cell.rest) for cell in places], room)
            return [
                Line(short[c.removesuffix(c.rest)] + c.rest) if isinstance(c, Placed) else _cut(c, width)
                for c in self.cells
            ]
        if any(isinstance(cell, KernelName) for cell in self.cells):
            short = _shortened(kernels, width)
            return [Line(short[cell.full]) if isinstance(cell, KernelName) else cell for cell in self.cells]
        return _cut_apart(self.cells, width)


def _shortened(names: Sequence[str], width: int) -> dict[str, str]:
    """`short_names`, imported only where a table has to shorten: doctor starts without it."""
    from wavewright.analysis.run.calls.kernel_names import short_names

    return short_names(names, width)


class FittedTable(Table):
    """Columns with roles: numbers are never cut; bars, the rest, words and short words give way, in steps.

    What does not fit then is left out, bars first, then columns from the right, and the title says so.
    """

    def __init__(self, title: str) -> None:
        super().__init__(title=title)
        self.parts: list[_Column] = []

    def add(self, heading: str, cells: Sequence[Any], role: str) -> None:
        """Add a column with all its cells."""
        parts = list(cells)
        if role != "number" and not heading and parts and all(is_bar(plain_text(cell)) for cell in parts):
            role = "bar"
        elif any(isinstance(cell, KernelName) for cell in parts):
            role = "rest"
        paths = [cell.path for cell in parts if isinstance(cell, Placed)]
        if paths:
            brief = brief_paths(paths)
            parts = [Placed(c.path, c.rest, brief[c.path]) if isinstance(c, Placed) else c for c in parts]
        self.parts.append(_Column(heading, parts, role))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """From what is left when all words are cut, to all columns whole."""
        widths = [column.width for column in self.parts]
        whole = max(sum(widths) + _GAP * (len(widths) - 1), cell_len(str(self.title)))
        return Measurement(1, min(whole, options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The title on a line of its own, however narrow the table is, then the table."""
        parts, left_out = self._fitting_parts(options.max_width)
        title = str(self.title or "")
        if left_out:
            names = f"without {', '.join(left_out)}: a wider terminal shows all columns"
            title = f"{title}; {names}" if title else names
        if title:
            yield Text(title, "bold")
        table = Table(box=None, header_style="bold", pad_edge=False)
        kernels = [cell.full for column in parts for cell in column.cells if isinstance(cell, KernelName)]
        cells = []
        for column, width in zip(parts, _widths(parts, options.max_width), strict=True):
            side: JustifyMethod = "right" if column.role == "number" else "left"
            if column.wraps:
                table.add_column(column.heading, justify=side, width=width, overflow="fold")
            else:
                table.add_column(column.heading, justify=side, width=width, no_wrap=True, overflow="ellipsis")
            cells.append(column.fitting(width, kernels))
        for row in zip(*cells, strict=True):
            table.add_row(*row)
        yield table

    def _fitting_parts(self, room: int) -> tuple[list[_Column], list[str]]:
        """The columns that fit, and the headings of those that do not."""
        parts = list(self.parts)
        left_out: list[str] = []
        while room >= _NARROW and len(parts) > 1 and sum(_widths(parts, room)) + _GAP * (len(parts) - 1) > room:
            places = [place for place, column in enumerate(parts) if column.role == "bar"]
            places = places or [place for place, column in enumerate(parts) if place and column.role == "number"]
            place = places[-1] if places else len(parts) - 1
            column = parts.pop(place)
            left_out += [column.heading] if column.heading else []
        return parts, left_out[::-1]


def _widths(parts: Sequence[_Column], room: int) -> list[int]:
    widths = [column.width for column in parts]
    excess = sum(widths) + _GAP * (len(widths) - 1) - room
    is_narrow = room < _NARROW
    for role, least in _NARROW_STEPS if is_narrow else _STEPS:
        places = [place for place, column in enumerate(parts) if column.role == role]
        for place in sorted(places, key=lambda place: widths[place], reverse=True):
            smallest = least if is_narrow else max(least, parts[place].smallest)
            less = max(0, min(excess, widths[place] - smallest))
            widths[place] -= less
            excess -= less
    return widths


def _cut_apart(cells: Sequence[Any], width: int) -> list[Any]:
    """Cells that are cut at their end, or, where two would then be equal, in the middle."""
    cut = [_cut(cell, width) for cell in cells]
    texts = {plain_text(cell) for cell in cells if isinstance(cell, Line)}
    long = {text for text in texts if cell_len(text) > width}
    if not long or len({text[: width - 1] for text in long}) == len(long):
        return cut
    short = _shortened(sorted(texts), width)
    return [
        Line(short[plain_text(cell)]) if isinstance(cell, Line) and plain_text(cell) in long else shown
        for cell, shown in zip(cells, cut, strict=True)
    ]


def plain_text(cell: Any) -> str:
    """What a cell says, without styles.

    Examples
    --------
    >>> plain_text(Text("3 %", "bold")), plain_text(3)
    ('3 %', '3')
    """
    return cell.plain if isinstance(cell, Text) else str(cell)


def _cut(cell: Any, width: int) -> Any:
    """The name of a source line without its front, if it is too long; other words lose their end."""
    text = plain_text(cell)
    if cell_len(text) <= width or not _PLACE.fullmatch(text):
        return cell
    return Line("…" + set_cell_size(text[::-1], max(0, width - 1))[::-1])
