"""Rows with a label: long words, such as paths, are folded and never cut."""

from __future__ import annotations

from wavewright.model.blocks import Grid, GridColumn


def row(label: str, text: str, label_width: int = 4) -> Grid:
    """A paragraph whose lines hang behind its label."""
    return Grid(((label, text),), (GridColumn("cyan", label_width), GridColumn(takes_rest=True)), indent=3)
