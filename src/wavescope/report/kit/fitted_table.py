"""A table that fits its console: numbers are never cut, words are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from wavescope.report.kit.line import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult

_GAP = 2  #: Spaces between columns.
#: The name of a source line, which is cut in front; instructions may end like it (`offset:16`), but have spaces.
_PLACE = re.compile(r"\S*:(\d+|\?)")

#: Who gives way where the columns are too wide together, and down to how many characters, step by step.
_STEPS = (
    ("rest", 24),
    ("words", 12),
    ("short", 16),
    ("rest", 16),
    ("words", 6),
    ("short", 8),
    ("rest", 1),
    ("words", 1),
    ("short", 1),
    ("number", 1),
)


@dataclass(frozen=True)
class _Column:
    heading: str
    cells: list[Any]
    role: str  #: One of those of `_STEPS`.

    @property
    def width(self) -> int:
        lines = (line for cell in self.cells for line in _plain(cell).split("\n"))
        return max([cell_len(self.heading), *map(cell_len, lines)])

    @property
    def wraps(self) -> bool:
        """Whether it holds paragraphs: these are wrapped, not cut."""
        return any("\n" in _plain(cell) for cell in self.cells)


class FittedTable(Table):
    """Columns with roles: numbers are cut last of all; the rest, words and short words give way before, in steps."""

    def __init__(self, title: str) -> None:
        super().__init__(title=title)
        self.parts: list[_Column] = []

    def add(self, heading: str, cells: Sequence[Any], role: str) -> None:
        """Add a column with all its cells."""
        self.parts.append(_Column(heading, list(cells), role))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """From what is left when all words are cut, to all columns whole."""
        widths = [column.width for column in self.parts]
        whole = max(sum(widths) + _GAP * (len(widths) - 1), cell_len(str(self.title)))
        return Measurement(1, min(whole, options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The title on a line of its own, however narrow the table is, then the table."""
        if self.title:
            yield Text(str(self.title), "bold")
        table = Table(box=None, header_style="bold", pad_edge=False)
        fitting = []
        for column, width in zip(self.parts, self._widths(options.max_width), strict=True):
            side: JustifyMethod = "right" if column.role == "number" else "left"
            if column.wraps:
                table.add_column(column.heading, justify=side, width=width, overflow="fold")
            else:
                table.add_column(column.heading, justify=side, width=width, no_wrap=True, overflow="ellipsis")
            fitting.append([cell if column.wraps else _cut(cell, width) for cell in column.cells])
        for row in zip(*fitting, strict=True):
            table.add_row(*row)
        yield table

    def _widths(self, room: int) -> list[int]:
        widths = [column.width for column in self.parts]
        excess = sum(widths) + _GAP * (len(widths) - 1) - room
        for role, least in _STEPS:
            places = [place for place, column in enumerate(self.parts) if column.role == role]
            for place in sorted(places, key=lambda place: widths[place], reverse=True):
                less = max(0, min(excess, widths[place] - least))
                widths[place] -= less
                excess -= less
        return widths


def _plain(cell: Any) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def _cut(cell: Any, width: int) -> Any:
    """The name of a source line without its front, if it is too long; other words lose their end."""
    text = _plain(cell)
    if cell_len(text) <= width or not _PLACE.fullmatch(text):
        return cell
    return Line("…" + set_cell_size(text[::-1], max(0, width - 1))[::-1])
