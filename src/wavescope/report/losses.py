"""Losses in words: one line each, worst first, never hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from wavescope.analysis.overview import LossLine

__all__ = ["loss_lines"]


def loss_lines(losses: Sequence[LossLine], *, limit: int = 12) -> list[Text]:
    """Losses as lines for the terminal; says how many are not shown.

    Examples
    --------
    >>> from wavescope.analysis.overview import LossLine
    >>> line = LossLine("packet_loss", 2, 0, 10, 64, "packets were dropped", "capture less", True)
    >>> print(loss_lines([line])[0])
    loss: SE 0: packets were dropped (2 times, first at cycle 10, byte 64); capture less
    """
    from rich.text import Text

    ordered = sorted(losses, key=lambda loss: not loss.is_damage)
    lines = []
    for loss in ordered[:limit]:
        label, style = ("loss", "bold yellow") if loss.is_damage else ("note", "bold cyan")
        place = f"SE {loss.se}: " if loss.se is not None else ""
        text = f" {place}{loss.message}{_details(loss)}; {loss.advice}"
        lines.append(Text.assemble((f"{label}:", style), text))
    if len(ordered) > limit:
        lines.append(Text(f"showing {limit} of {len(ordered):,} losses; --json has all", style="bold yellow"))
    return lines


def _details(loss: LossLine) -> str:
    first = "first at" if loss.count > 1 else "at"
    places = []
    if loss.count > 1:
        places.append(f"{loss.count:,} times")
    if loss.time_cycles is not None:
        places.append(f"{first} cycle {loss.time_cycles:,}")
    if loss.byte_offset is not None:
        places.append(f"byte {loss.byte_offset:,}")
    return f" ({', '.join(places)})" if places else ""
