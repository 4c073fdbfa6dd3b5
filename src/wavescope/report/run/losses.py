"""Losses of runs in words: one line each, damage first, never hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from wavescope.report.kit.tables import printable

if TYPE_CHECKING:
    import polars as pl


def run_loss_lines(losses: pl.DataFrame, *, limit: int = 12) -> list[Text]:
    """Losses as lines for the terminal; says how many are not shown."""
    ordered = losses.sort("is_damage", descending=True, maintain_order=True)
    lines = []
    for row in ordered.head(limit).iter_rows(named=True):
        label, style = ("loss", "bold yellow") if row["is_damage"] else ("note", "bold cyan")
        path, message = printable(row["path"] or ""), printable(row["message"])
        place = f"{path}: " if path and not message.startswith(path) else ""
        lines.append(Text.assemble((f"{label}:", style), f" {place}{message}; {row['advice']}"))
    if losses.height > limit:
        more = f"showing {limit} of {losses.height:,} losses; --json has all"
        lines.append(Text(more, style="bold yellow"))
    return lines
