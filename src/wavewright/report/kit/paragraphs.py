"""Paragraphs that plans are made of: a label with text hanging after it, and text that is safe in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wavewright.report.kit.tables import printable

if TYPE_CHECKING:
    from rich.console import RenderableType


def labelled(label: str, text: str, style: str = "cyan") -> RenderableType:
    """A paragraph whose lines hang behind its label.

    Examples
    --------
    >>> labelled("why", "because").left
    3
    """
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style=style, min_width=4)
    grid.add_column(ratio=1)
    grid.add_row(label, Text(text))
    return Padding(grid, (0, 0, 0, 3))


def escaped(text: str) -> str:
    """Text from a file, so that it cannot become Markdown or HTML.

    Examples
    --------
    >>> escaped("<b>*x*")
    '\\\\<b\\\\>\\\\*x\\\\*'
    """
    for character in "\\`*_[]<>|":
        text = text.replace(character, "\\" + character)
    return printable(text).replace("\n", " ")


def as_code(text: str) -> str:
    """Text from a file between backticks in a table.

    Examples
    --------
    >>> as_code("a`b|c")
    "a'b\\\\|c"
    """
    return printable(text).replace("`", "'").replace("|", "\\|").replace("\n", " ")
