"""Plots of counters: speed of light, the roofline, the memory chart."""

from __future__ import annotations

from typing import Any

from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.analysis.counters.memory_chart import MemoryChart
from wavewright.analysis.counters.roofline import Roofline
from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.errors import UsageError
from wavewright.facts.metrics.declared import SPEED_OF_LIGHT
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.counters.metric_text import figure
from wavewright.words.counters.speed import nearest_to_peak, unit_group
from wavewright.words.kit.bar_pictures import bar_picture
from wavewright.writers.svg.plot_bars import Bar, Part
from wavewright.writers.svg.plot_frame import Key
from wavewright.writers.svg.plot_words import headline, listed, sentences

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
    return bar_picture(
        "speed",
        "Speed of light",
        f"{counted(answer.dispatch_count, 'dispatches')}: {nearest or 'nothing is near its peak'}.",
        [_bar(row) for row in ordered],
        axis="share of the peak",
        unit="share",
        theme=theme,
        legend=[Key(_COLOURS[group], group) for group in groups],
        note=sentences(f"zero: {listed(zero)}" if zero else "", _NOTE),
    )


def _bar(row: dict[str, Any]) -> Bar:
    share = row["peak_share"]
    colour = _COLOURS[unit_group(row["name"])]
    value = "" if row["unit"] in ("%", "Percent", "Pct") else f", {figure(row['average'])} {printable(row['unit'])}"
    words = f"{share:.1f} %{value}"
    peak = "" if row["peak"] is None else f", peak {figure(row['peak'])}"
    part = Part(min(share, _MOST), colour, title=f"{row['name']}: {words}{peak}")
    return Bar(printable(row["name"]), (part,), words, title=row["name"])


_TOP = 20


def roofline(document: Document, theme: str, top: int | None) -> Picture:
    """Kernels under their roofs, those with most time first."""
    from wavewright.analysis.counters.roofline import roofline as answer_of
    from wavewright.words.counters.roofline import roofline_report
    from wavewright.words.counters.roofline.svg import roofline_svg

    answer: Roofline = document.kept(("topic", "roofline"), lambda: answer_of(document.counters))
    if not answer.kernels.height or not answer.points["gops_per_second"].count():
        raise UsageError("operations and bytes of no kernel are known", where=document.label)
    limit = top or _TOP
    svg = roofline_svg(answer, limit=limit, theme=theme)
    verdict = headline(roofline_report(answer, limit=limit, width=140), starts_with_name=True)
    return Picture("roofline", svg, verdict)


def memory_chart(document: Document, theme: str, top: int | None) -> Picture:
    """Blocks and wires, means over all dispatches; it has no rows to be cut."""
    from wavewright.analysis.counters.memory_chart import memory_chart as answer_of
    from wavewright.words.counters.memory_chart import memory_chart_report
    from wavewright.words.counters.memory_chart.svg import memory_chart_svg

    answer: MemoryChart = document.kept(("topic", "memory-chart"), lambda: answer_of(document.counters))
    if not answer.values["value"].count() and not answer.wires["value"].count():
        raise UsageError("nothing of the memory chart was measured", where=document.label)
    svg = memory_chart_svg(answer, theme=theme)
    return Picture("memory-chart", svg, headline(memory_chart_report(answer, width=140, has_colours=False)))
