"""Losses as lines for the terminal: damage first, equal ones together, never hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.model.blocks import Sentence, sentence
from wavewright.model.losses import LOSSES

if TYPE_CHECKING:
    from wavewright.analysis.trace.about.overview import LossLine

LossRow = Mapping[str, Any]


def loss_lines(losses: pl.DataFrame | Sequence[LossLine], *, limit: int = 12) -> list[Sentence]:
    """One line per loss of a trace, a run or counters (rows: `model.losses`); the last tells how many are not shown."""
    rows = losses.to_dicts() if isinstance(losses, pl.DataFrame) else [asdict(loss) for loss in losses]
    groups: dict[tuple[str, str, str], list[LossRow]] = {}
    for row in sorted(rows, key=lambda row: not LOSSES[row["kind"]].is_damage):
        groups.setdefault((row.get("path") or "", row["kind"], row["message"]), []).append(row)
    lines = []
    for (path, kind, message), group in list(groups.items())[:limit]:
        location = f"{path}: " if path and not message.startswith(path) else ""
        text = f"{location}{_engines(group)}{message}{_details(group)}; {group[0]['advice']}"
        lines.append(Sentence(text, "loss" if LOSSES[kind].is_damage else "note"))
    if len(groups) > limit:
        lines.append(sentence((f"showing {limit} of {len(groups):,} losses; --json has all", "bold yellow")))
    return lines


def _engines(group: Sequence[LossRow]) -> str:
    numbers = sorted({row["se"] for row in group if row.get("se") is not None})
    return f"SE {', '.join(map(str, numbers))}: " if numbers else ""


def _details(group: Sequence[LossRow]) -> str:
    """The total count, and where the first one is."""
    first, total = group[0], sum(row["count"] for row in group)
    has_count = total > 1 and "{count}" not in LOSSES[first["kind"]].message
    details = [f"{total:,} {LOSSES[first['kind']].counted_in}"] if has_count else []
    if first.get("time_cycles") is not None:
        details.append(f"{'first ' if len(group) > 1 or has_count else ''}at cycle {first['time_cycles']:,}")
    if first.get("byte_offset") is not None:
        details.append(f"byte {first['byte_offset']:,}")
    return f" ({', '.join(details)})" if details else ""
