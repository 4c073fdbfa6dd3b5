"""Every question about counter captures, in the order of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.questions.counters.composed import (
    after_limits,
    chart_of_one,
    counter_contents_of,
    kernels_side_by_side,
    l2_of,
    limits_of_longest,
    panels_of_document,
    speed_of_light_of,
)
from wavewright.questions.counters.counter_question import CHOICE, CounterQuestion
from wavewright.questions.kit import groups
from wavewright.questions.kit.parameters import text
from wavewright.questions.kit.question import Analysis, Display, Plot, then

if TYPE_CHECKING:
    from wavewright.analysis.counters.closure import Closure
    from wavewright.analysis.counters.contents import CounterContents
    from wavewright.analysis.counters.engine.answer import CounterPanels
    from wavewright.analysis.counters.l2 import L2
    from wavewright.analysis.counters.limiters import Limiters
    from wavewright.analysis.counters.memory_chart import MemoryChart
    from wavewright.analysis.counters.roofline import Roofline
    from wavewright.analysis.counters.values import MetricValues
    from wavewright.model.blocks import Picture
    from wavewright.model.document import Document
    from wavewright.questions.counters.answers import SpeedOfLight
    from wavewright.questions.kit.question import Parts, Wording


def _about() -> Analysis[CounterContents]:
    from wavewright.analysis.counters.contents import CounterContents

    return Analysis((CounterContents,))


def _about_words(answer: CounterContents, wording: Wording) -> Parts:
    from wavewright.words.counters.contents import about_parts

    return about_parts(answer, limit=wording.limit)


ABOUT = CounterQuestion(
    name="about",
    group=groups.WHAT_IS_IT,
    title="What was measured",
    sentence=groups.ABOUT_SENTENCE,
    analysis=_about,
    words=_about_words,
    composed=counter_contents_of,
    parameters={},
    next_always=(then("diagnose", "which limit each kernel is at"), then("speed", "how near to the peaks")),
    verb="info",
    tools=(),
    view="counter_system",
    display=Display(2, 0),
)


def _diagnose() -> Analysis[Limiters]:
    from wavewright.analysis.counters.limiters import Limiters

    return Analysis((Limiters,))


def _diagnose_words(answer: Limiters, _wording: Wording) -> Parts:
    from wavewright.words.counters.limiters import limiters_report

    return limiters_report(answer)


DIAGNOSE = CounterQuestion(
    name="diagnose",
    group=groups.CHANGES,
    title="Limits",
    sentence=groups.DIAGNOSE_SENTENCE,
    analysis=_diagnose,
    words=_diagnose_words,
    composed=limits_of_longest,
    parameters=CHOICE,
    next_of_answer=after_limits,
    next_always=(then("speed", "how near to the peaks"), then("roofline", "which roof is near")),
    tools=("diagnose",),
    view="counter_diagnosis",
    display=Display(1, 0),
)


def _speed() -> Analysis[SpeedOfLight]:
    from wavewright.analysis.counters.engine.answer import CounterPanels
    from wavewright.questions.counters.answers import SpeedOfLight

    return Analysis((SpeedOfLight,), parts=(CounterPanels,))


def _speed_words(answer: SpeedOfLight, wording: Wording) -> Parts:
    from wavewright.words.counters.summary import speed_answer

    return speed_answer(answer.panels, answer.by_kernel, width=wording.width)


SPEED = CounterQuestion(
    name="speed",
    title="Speed of light",
    sentence="How near is each unit of the GPU to its limit?",
    analysis=_speed,
    words=_speed_words,
    composed=speed_of_light_of,
    parameters=CHOICE,
    next_always=(then("roofline", "which roof is near"), then("diagnose", "what limits each kernel")),
    verb="counters",
    tools=("counters",),
    view="speed_of_light",
)


def _roofline() -> Analysis[Roofline]:
    from wavewright.analysis.counters.roofline import Roofline, roofline

    return Analysis((Roofline,), roofline)


def _roofline_words(answer: Roofline, wording: Wording) -> Parts:
    from wavewright.words.counters.roofline import roofline_report

    return roofline_report(
        answer, width=wording.width, limit=wording.limit, ascii_only=wording.ascii_only, **wording.how
    )


def _roof_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.counters.roofline.svg import draw

    return draw(document, theme, top)


ROOFLINE = CounterQuestion(
    name="roofline",
    title="Roofline",
    sentence="Is a kernel bound by arithmetic or by which memory level, and how far from the roof?",
    analysis=_roofline,
    words=_roofline_words,
    parameters=CHOICE,
    rows=lambda answer: answer.kernels,
    without_rows="no kernel has counters for a roofline",
    next_always=(then("memory-chart", "traffic between caches"), then("l2", "whether L2 is used well")),
    plots=(
        Plot("roofline", "Roofline", "kernels under the roofs of arithmetic and of each level of memory", _roof_plot),
    ),
    tools=("counters",),
    view="roofline",
)


def _memory_chart() -> Analysis[MemoryChart]:
    from wavewright.analysis.counters.memory_chart import MemoryChart

    return Analysis((MemoryChart,))


def _memory_chart_words(answer: MemoryChart, wording: Wording) -> Parts:
    from wavewright.words.counters.memory_chart import memory_chart_report

    return memory_chart_report(answer, width=wording.width, has_colours=False)


def _memory_chart_plot(document: Document, theme: str, top: int | None) -> Picture:
    from wavewright.words.counters.memory_chart.svg import draw

    return draw(document, theme, top)


MEMORY_CHART = CounterQuestion(
    name="memory-chart",
    title="Memory chart",
    sentence="What flows between waves, caches and memory?",
    analysis=_memory_chart,
    words=_memory_chart_words,
    composed=chart_of_one,
    parameters=CHOICE,
    next_always=(then("l2", "whether L2 is used well"), then("speed", "how near to the peaks")),
    plots=(Plot("memory-chart", "Memory chart", "what flows between waves, caches and memory", _memory_chart_plot),),
    tools=("counters",),
    view="memory_chart",
)


def _l2() -> Analysis[L2]:
    from wavewright.analysis.counters.l2 import L2

    return Analysis((L2,))


def _l2_words(answer: L2, wording: Wording) -> Parts:
    from wavewright.words.counters.l2 import l2_report

    return l2_report(answer, limit=wording.limit)


L2_AND_MEMORY = CounterQuestion(
    name="l2",
    title="L2 and memory",
    sentence="Does a kernel use L2 and memory well: hit rate, read sizes, over-fetch, bandwidth?",
    analysis=_l2,
    words=_l2_words,
    composed=l2_of,
    parameters=CHOICE,
    rows=lambda answer: answer.kernels,
    without_rows="no counter of L2 was measured",
    next_always=(then("memory-chart", "traffic between caches"), then("panels", "the metrics themselves")),
    tools=("counters",),
)


def _closure() -> Analysis[Closure]:
    from wavewright.analysis.counters.closure import Closure, closure

    return Analysis((Closure,), closure)


def _closure_words(answer: Closure, wording: Wording) -> Parts:
    from wavewright.words.counters.closure import closure_report

    return closure_report(answer, limit=wording.limit)


CLOSURE = CounterQuestion(
    name="closure",
    title="Balance sheet of counters",
    sentence="Do grid, passes and a thread trace account for the counters, and which of them cannot be true?",
    analysis=_closure,
    words=_closure_words,
    parameters=CHOICE,
    rows=lambda answer: answer.counters,
    without_rows="no counter of waves or instructions was measured, or no grid",
    next_always=(then("diagnose", "which limit each kernel is at"), then("panels", "the metrics themselves")),
    tools=("counters",),
)


def _panels() -> Analysis[CounterPanels]:
    from wavewright.analysis.counters.engine.answer import CounterPanels

    return Analysis((CounterPanels,))


def _panels_words(answer: CounterPanels, wording: Wording) -> Parts:
    from wavewright.words.counters.summary import panels_answer

    return panels_answer(answer, width=wording.width)


PANELS = CounterQuestion(
    name="panels",
    title="Metrics",
    sentence="What are the metrics of one panel, by its number or word?",
    analysis=_panels,
    words=_panels_words,
    composed=panels_of_document,
    parameters={**CHOICE, "panel": text},
    next_always=(then("diagnose", "what they mean"), then("kernels", "each kernel by itself")),
    verb="counters",
    tools=("counters",),
    view="panels",
    is_asked_for=True,
)


def _kernels() -> Analysis[MetricValues]:
    from wavewright.analysis.counters.values import MetricValues

    return Analysis((MetricValues,))


def _kernels_words(answer: MetricValues, wording: Wording) -> Parts:
    from wavewright.words.counters.values import values_report

    return values_report(answer, width=wording.width, limit=wording.limit)


KERNELS = CounterQuestion(
    name="kernels",
    title="Kernels side by side",
    sentence="How do the kernels differ, metric by metric?",
    analysis=_kernels,
    words=_kernels_words,
    composed=kernels_side_by_side,
    parameters={},
    next_always=(then("diagnose", "which limit each kernel is at"), then("roofline", "which roof is near")),
    verb="counters",
    verb_options=("--by", "kernel"),
    tools=("hotspots", "summary"),
    view="counter_kernels",
    display=Display(0, 1),
)


#: In the order of a report, which is that of this file.
QUESTIONS: tuple[CounterQuestion[Any], ...] = tuple(v for v in [*globals().values()] if isinstance(v, CounterQuestion))
