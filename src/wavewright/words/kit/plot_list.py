"""The list of plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from wavewright.model.blocks import AnyBlock, Grid, GridColumn, headline


def plots_report(what: str, lines: Iterable[tuple[str, str]], reasons: Mapping[str, str]) -> Iterator[AnyBlock]:
    """The plots of one kind of document: names and what they show; `reasons`: name -> why it cannot have one."""
    yield headline(f"of {what}")
    rows = ((f"  {name}", f"not here: {reasons[name]}" if name in reasons else shows) for name, shows in lines)
    yield Grid(tuple(rows), (GridColumn(), GridColumn()), gap=2)
