"""Speed of light: how near each unit is to its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.errors import UsageError
from wavewright.facts.metrics.declared import SPEED_OF_LIGHT
from wavewright.words.counters.metric_text import figure
from wavewright.words.counters.speed import nearest_to_peak, unit_group
from wavewright.writers.svg.plot_bars import Bar, Part, bar_panel, bars_height
from wavewright.writers.svg.plot_frame import Frame, Key
from wavewright.writers.svg.plot_words import listed, sentences

if TYPE_CHECKING:
    from wavewright.analysis.counters.engine.answer import CounterPanels
    from wavewright.model.blocks import Picture
    from wavewright.model.document import Document

_COLOURS = {"compute": "blue", "caches": "green", "memory": "orange"}
_MOST = 100.0
_NOTE = "Hit rates and active lanes are shares, too, but not limits"


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """One bar per metric with a peak, in the order of the panel: compute, caches, memory."""
    from wavewright.analysis.counters.engine.panels import counter_panels

    answer: CounterPanels = document.kept(
        ("plot", "speed"), lambda: counter_panels(document.counters, panels=(SPEED_OF_LIGHT,))
    )
    rows = answer.rows.filter(answer.rows["table_id"] == SPEED_OF_LIGHT)
    measured = [row for row in rows.to_dicts() if row["peak_share"] is not None]
    shown = [row for row in measured if row["peak_share"] > 0]
    if not shown:
        raise UsageError("no metric with a peak was measured", where=document.label)
    if top is not None:
        largest = sorted(shown, key=lambda row: -row["peak_share"])[:top]
        shown = [row for row in shown if row in largest]
    ordered = [row for group in _COLOURS for row in shown if unit_group(row["name"]) == group]
    zero = [printable(row["name"]) for row in measured if not row["peak_share"]]
    groups = [group for group in _COLOURS if any(unit_group(row["name"]) == group for row in ordered)]
    nearest = nearest_to_peak(rows)
    frame = Frame(
        "speed",
        "Speed of light",
        f"{counted(answer.dispatch_count, 'dispatches')}: {nearest or 'nothing is near its peak'}.",
        height=bars_height(len(ordered)),
        theme=theme,
        legend=[Key(_COLOURS[group], group) for group in groups],
        note=sentences(f"zero: {listed(zero)}" if zero else "", _NOTE),
    )
    ticks = [0, 20, 40, 60, 80, 100]
    bars = [_bar(row) for row in ordered]
    bar_panel(frame, bars, top=frame.top, high=_MOST, ticks=ticks, name="share of the peak (%)")
    return frame.picture()


def _bar(row: dict[str, Any]) -> Bar:
    share = row["peak_share"]
    colour = _COLOURS[unit_group(row["name"])]
    value = "" if row["unit"] in ("%", "Percent", "Pct") else f", {figure(row['average'])} {printable(row['unit'])}"
    words = f"{share:.1f} %{value}"
    peak = "" if row["peak"] is None else f", peak {figure(row['peak'])}"
    part = Part(min(share, _MOST), colour, title=f"{row['name']}: {words}{peak}")
    return Bar(printable(row["name"]), (part,), words, title=row["name"])
