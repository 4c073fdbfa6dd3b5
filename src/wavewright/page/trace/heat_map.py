"""Waves by compute unit or SIMD: the cells of the heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.trace.waves.by_place import waves_by_place
from wavewright.errors import UsageError
from wavewright.page.protocol.question import PageQuestion

if TYPE_CHECKING:
    from wavewright.analysis.trace.waves.by_place import Level, WavesByPlace
    from wavewright.model.document import Document

_LEVELS: tuple[Level, ...] = ("cu", "simd")


def heat_map(document: Document, *, by: Level = "cu") -> WavesByPlace:
    """Waves, durations, instructions and stall by place (`analysis.trace.waves.by_place`)."""
    begin, end = document.part
    return waves_by_place(document.trace, by=by, start_cycles=begin, end_cycles=end)


def _level(name: str) -> Level:
    for level in _LEVELS:
        if name == level:
            return level
    raise UsageError(f"{name[:40]!r} is not one of {', '.join(_LEVELS)}")


def _exported(_: Document) -> list[dict[str, Any]]:
    return [{}, {"by": "simd"}]


QUESTIONS = (PageQuestion("heat_map", "trace", heat_map, {"by": _level}, exported=_exported, is_of_time=True),)
