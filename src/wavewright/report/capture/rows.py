"""Rows with a label: long words, such as paths, are folded and never cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wavewright.report.kit.tables import printable

if TYPE_CHECKING:
    from rich.console import RenderableType


def row(label: str, text: str, label_width: int = 4) -> RenderableType:
    """A paragraph whose lines hang behind its label.

    Examples
    --------
    >>> row("why", "because").left
    3
    """
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="cyan", min_width=label_width, no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    grid.add_row(label, Text(printable(text)))
    return Padding(grid, (0, 0, 0, 3))
