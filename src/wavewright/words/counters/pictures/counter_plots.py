"""Plots of counters: the roofline, the memory chart."""

from __future__ import annotations

from wavewright.analysis.counters.memory_chart import MemoryChart
from wavewright.analysis.counters.roofline import Roofline
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.writers.svg.plot_words import headline

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
