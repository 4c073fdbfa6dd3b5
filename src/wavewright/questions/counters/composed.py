"""Answers about counter captures that are more than an analysis of the chosen kernel, and what to ask after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.model.next_question import NextQuestion
from wavewright.questions.counters.counter_question import asked
from wavewright.words.kit.handles import handle, is_handle, parse_handle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from wavewright.analysis.counters.contents import CounterContents
    from wavewright.analysis.counters.engine.answer import CounterPanels
    from wavewright.analysis.counters.l2 import L2
    from wavewright.analysis.counters.limiters import Limiters
    from wavewright.analysis.counters.memory_chart import MemoryChart
    from wavewright.analysis.counters.values import MetricValues
    from wavewright.model.counters import CounterSet
    from wavewright.model.document import Document
    from wavewright.questions.counters.answers import SpeedOfLight

_KERNELS = 5  #: Kernels that a diagnosis is about, the longest.
_SPEED = "2"  #: Number of the panel of the speed of light.


def counter_contents_of(document: Document) -> CounterContents:
    """Contents of the capture."""
    from wavewright.analysis.counters.contents import counter_contents

    return document.kept(("topic", "about"), lambda: counter_contents(document.counters))


def limits_of_longest(document: Document, *, kernel: str | None = None) -> Limiters:
    """Limits of the longest kernels, or of one kernel."""
    from wavewright.analysis.counters.limiters import limiters

    return asked(document, "limiters", limiters, kernel=kernel, top=_KERNELS)


def after_limits(_document: Document, answer: Limiters) -> Iterator[NextQuestion]:
    """The panels of what limits the first kernel, then where it stands under the roofs."""
    if answer.kernels:
        first = answer.kernels[0]
        kernel = {"kernel": handle("k", first.kernel)}
        evidence = [item.metric_id for limiter in first.of("at limit", "likely") for item in limiter.evidence]
        panels = list(dict.fromkeys(metric.partition(".")[0] for metric in evidence if metric))
        if panels:
            yield NextQuestion("panels", {"panel": panels[0], **kernel}, "the metrics behind the first verdict")
        yield NextQuestion("roofline", kernel, "which roof is near")
        yield NextQuestion("memory-chart", kernel, "traffic between caches and memory")


def speed_of_light_of(document: Document, *, kernel: str | None = None) -> SpeedOfLight:
    """Speed of light; of all kernels, also of each of the longest."""
    from wavewright.analysis.counters.engine.panels import counter_panels
    from wavewright.questions.counters.answers import SpeedOfLight
    from wavewright.words.counters.speed import shown_kernels

    whole = asked(document, "panels", counter_panels, kernel=kernel, panels=summary_panels(document.counters))
    ranks = shown_kernels(whole.kernels) if kernel is None and whole.rows.height else []
    handles = [handle("k", rank) for rank in ranks]
    answers = [asked(document, "panels", counter_panels, kernel=name, panels=(_SPEED,)) for name in handles]
    return SpeedOfLight(whole, tuple(zip(ranks, answers, strict=True)))


def summary_panels(counters: CounterSet, *, amd: bool = False, more: Sequence[Path] = ()) -> tuple[str, ...]:
    """Speed of light and the user's own panels; all panels of a GPU or a database that has no speed of light."""
    from wavewright.facts.metrics.panels import panels_of
    from wavewright.facts.metrics.user_metrics import FIRST_OWN_PANEL

    target, stored = counters.system.target, counters.stored_metrics["metric_id"].drop_nulls()
    declared = panels_of(target, amd=amd, more=more) if target else ()
    has_speed = not stored.len() or stored.str.starts_with(f"{_SPEED}.").any()
    if not has_speed or not any(str(panel.number) == _SPEED for panel in declared):
        return ()
    return (_SPEED, *(panel.word for panel in declared if panel.number >= FIRST_OWN_PANEL))


def panels_of_document(document: Document, *, panel: str = _SPEED, kernel: str | None = None) -> CounterPanels:
    """The metrics of one panel: its number, word, or one of its tables."""
    from wavewright.analysis.counters.engine.panels import counter_panels

    return asked(document, "panels", counter_panels, kernel=kernel, panels=(panel,))


def chart_of_one(document: Document, *, kernel: str | None = None) -> MemoryChart:
    """Traffic between waves, caches and memory, of one kernel: the longest where none is named."""
    from wavewright.analysis.counters.choice import ranked_kernels
    from wavewright.analysis.counters.memory_chart import memory_chart

    if kernel is None and ranked_kernels(document.counters.dispatches).height > 1:
        kernel = handle("k", 0)
    return asked(document, "memory-chart", memory_chart, kernel=kernel)


def l2_of(document: Document, *, kernel: str | None = None) -> L2:
    """L2 and memory, of each kernel; or of one by part of its name."""
    from wavewright.analysis.counters.choice import ranked_kernels
    from wavewright.analysis.counters.l2 import l2

    name = kernel
    if kernel is not None and is_handle(kernel) and kernel.startswith("k"):
        names = ranked_kernels(document.counters.dispatches)["kernel_name"].to_list()
        rank = parse_handle(kernel, "k")
        name = names[rank] if rank < len(names) else kernel
    return document.kept(("topic", "l2", name), lambda: l2(document.counters, kernel=name))


def kernels_side_by_side(document: Document) -> MetricValues:
    """Speed of light of each kernel, one column each; the counters themselves where the GPU has no metrics."""
    from wavewright.analysis.counters.values import metric_values, raw_values
    from wavewright.facts.metrics.panels import panels_of

    counters = document.counters

    def make() -> MetricValues:
        if counters.measured and not panels_of(counters.system.target or ""):
            return raw_values(counters, by="kernel")
        return metric_values(counters, by="kernel", panels=summary_panels(document.counters))

    return document.kept(("topic", "kernels"), make)
