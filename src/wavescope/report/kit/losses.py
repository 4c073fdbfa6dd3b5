"""Losses in words: one line each, worst first, never hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from wavescope.model.losses import LOSSES
from wavescope.report.kit.tables import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.analysis.trace.overview import LossLine


def loss_lines(losses: Sequence[LossLine], *, limit: int = 12) -> list[Text]:
    """Losses as lines for the terminal; says how many are not shown."""
    groups: dict[tuple[str, str], list[LossLine]] = {}
    for loss in sorted(losses, key=lambda loss: not loss.is_damage):
        groups.setdefault((loss.kind, loss.message), []).append(loss)
    lines = []
    for (_, message), group in list(groups.items())[:limit]:
        label, style = ("loss", "bold yellow") if group[0].is_damage else ("note", "bold cyan")
        text = printable(f" {_engines(group)}{message}{_details(group)}; {group[0].advice}")
        lines.append(Text.assemble((f"{label}:", style), text))
    if len(groups) > limit:
        lines.append(Text(f"showing {limit} of {len(groups):,} kinds of loss; --json has all", style="bold yellow"))
    return lines


def _engines(group: Sequence[LossLine]) -> str:
    numbers = sorted({loss.se for loss in group if loss.se is not None})
    return f"SE {', '.join(map(str, numbers))}: " if numbers else ""


def _details(group: Sequence[LossLine]) -> str:
    """How often and where first."""
    first, total = group[0], sum(loss.count for loss in group)
    counted = total > 1 and "{count}" not in LOSSES[first.kind].message
    places = [f"{total:,} {LOSSES[first.kind].counted_in}"] if counted else []
    if first.time_cycles is not None:
        places.append(f"{'first ' if len(group) > 1 or counted else ''}at cycle {first.time_cycles:,}")
    if first.byte_offset is not None:
        places.append(f"byte {first.byte_offset:,}")
    return f" ({', '.join(places)})" if places else ""
