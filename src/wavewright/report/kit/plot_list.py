"""The list of plots, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from wavewright.report.kit.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.console import RenderableType


def plots_report(what: str, lines: Iterable[tuple[str, str]], reasons: Mapping[str, str]) -> Iterator[RenderableType]:
    """The plots of one kind of document: names and what they show; `reasons`: name -> why it cannot have one."""
    yield Text(f"of {what}", style="bold")
    table = Table.grid(padding=(0, 2))
    for name, shows in lines:
        reason = reasons.get(name)
        table.add_row(Text(f"  {name}"), Text(shows if reason is None else f"not here: {printable(reason)}"))
    yield table
