"""Losses of runs in words: one line each, damage first, never hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.report.kit.tables import printable

if TYPE_CHECKING:
    import polars as pl
    from rich.text import Text

__all__ = ["run_loss_lines"]


def run_loss_lines(losses: pl.DataFrame, *, limit: int = 12) -> list[Text]:
    """Losses as lines for the terminal; says how many are not shown.

    Examples
    --------
    >>> from wavescope.model.losses import Loss
    >>> from wavescope.model.run import run_losses
    >>> lost = run_losses([Loss("duplicate_run", detail="run 7")], "a.db")
    >>> print(run_loss_lines(lost)[0])
    loss: a.db: run 7 is in the input twice; it counts once; leave one of the files out
    """
    from rich.text import Text

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
