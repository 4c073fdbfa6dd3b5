"""How topics ask about counter captures: the chosen kernel, by handle or name, and what is asked next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavewright.model.answer import Answer
from wavewright.model.report import NextQuestion
from wavewright.page.protocol.question import Parameters, text
from wavewright.report.kit.handles import handle, is_handle, parse_handle
from wavewright.report.kit.lazily import function_of, kept_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from wavewright.analysis.counters.choice import CounterChoice
    from wavewright.analysis.counters.engine.answer import CounterPanels
    from wavewright.analysis.counters.limiters import Limiters
    from wavewright.page.protocol.document import Document
    from wavewright.report.kit.topic import Wording

_KERNELS = 5  #: Kernels that a diagnosis is about, the longest.
_SPEED = "2"  #: Number of the panel of the speed of light.

#: What topics about counters can be limited to: part of the name of a kernel, or its handle.
CHOICE: Parameters = {"kernel": text}


def choice_of(kernel: str | None) -> CounterChoice:
    """The dispatches of a kernel; None = all."""
    from wavewright.analysis.counters.choice import CounterChoice

    if kernel is None:
        return CounterChoice()
    rank = str(parse_handle(kernel, "k")) if is_handle(kernel) and kernel.startswith("k") else kernel
    return CounterChoice(kernels=(rank,))


def asked(document: Document, reference: str, *, kernel: str | None = None, **parameters: Any) -> Any:
    """The answer of an analysis about the capture, or one kernel of it; each is computed once."""
    chosen = (("kernel", kernel),) if kernel is not None else ()
    key = kept_as(reference, chosen, tuple(sorted(parameters.items())))
    question = function_of(reference)
    return document.kept(key, lambda: question(document.counters, choice=choice_of(kernel), **parameters))


def asked_by(reference: str, **fixed: Any) -> Callable[..., Any]:
    """The answer function of a topic: an analysis of counters, named by text."""

    def answer(document: Document, **parameters: Any) -> Any:
        return asked(document, reference, **fixed, **parameters)

    return answer


def contents_asked(document: Document) -> Any:
    """What was captured."""
    from wavewright.analysis.counters.contents import counter_contents

    return document.kept(("topic", "about"), lambda: counter_contents(document.counters))


def limits_asked(document: Document, *, kernel: str | None = None) -> Limiters:
    """Which limit the longest kernels are at, or one kernel."""
    answer: Limiters = asked(document, "analysis.counters.limiters:limiters", kernel=kernel, top=_KERNELS)
    return answer


@dataclass(frozen=True)
class SpeedOfLight(Answer):
    """How near each unit is to its limit, of all dispatches and of the longest kernels."""

    panels: CounterPanels
    by_kernel: tuple[tuple[int, CounterPanels], ...]  #: Rank of a kernel, and its panel.


def speed_asked(document: Document, *, kernel: str | None = None) -> SpeedOfLight:
    """Speed of light; of all kernels, also of each of the longest."""
    from wavewright.report.counters.speed import shown_kernels

    reference = "analysis.counters.engine.panels:counter_panels"
    whole: CounterPanels = asked(document, reference, kernel=kernel, panels=_summary_panels(document))
    ranks = shown_kernels(whole.kernels) if kernel is None and whole.rows.height else []
    each = [(rank, asked(document, reference, kernel=handle("k", rank), panels=(_SPEED,))) for rank in ranks]
    return SpeedOfLight(whole, tuple(each))


def _summary_panels(document: Document) -> tuple[str, ...]:
    """Speed of light; all panels of a GPU or a database that has none."""
    from wavewright.facts.metrics.panels import panels_of

    counters = document.counters
    stored = counters.stored_metrics["metric_id"].drop_nulls()
    has_stored = not stored.len() or stored.str.starts_with(f"{_SPEED}.").any()
    declared = panels_of(counters.system.target) if counters.system.target else ()
    has_speed = has_stored and any(str(panel.number) == _SPEED for panel in declared)
    return (_SPEED,) if has_speed else ()


def speed_words(answer: SpeedOfLight, wording: Wording) -> Iterator[RenderableType]:
    """What is nearest to its peak first, then the table."""
    from rich.text import Text

    from wavewright.facts.metrics.declared import SPEED_OF_LIGHT
    from wavewright.report.counters.panels import panel_parts
    from wavewright.report.counters.speed import speed_of_light
    from wavewright.report.counters.summary import caveat_lines

    panels = answer.panels
    rows = panels.rows.filter(panels.rows["table_id"] == SPEED_OF_LIGHT)
    if rows.height:
        parts = list(speed_of_light(panels, rows, answer.by_kernel, width=wording.width, decimals=None))
        nearest = [part for part in parts if isinstance(part, Text) and part.style == "bold"]
        yield from nearest
        yield from (part for part in parts if part not in nearest)
    else:
        yield Text("no speed of light is known of this GPU: the panels that it has", "bold")
        yield from panel_parts(panels, width=wording.width)
    yield from caveat_lines(panels.caveats)


def panels_asked(document: Document, *, panel: str = _SPEED, kernel: str | None = None) -> CounterPanels:
    """The metrics of one panel: its number, word, or one of its tables."""
    reference = "analysis.counters.engine.panels:counter_panels"
    answer: CounterPanels = asked(document, reference, kernel=kernel, panels=(panel,))
    return answer


def panels_words(answer: CounterPanels, wording: Wording) -> Iterator[RenderableType]:
    """The tables of the panels."""
    from rich.text import Text

    from wavewright.base.words import counted
    from wavewright.report.counters.panels import panel_parts
    from wavewright.report.counters.summary import caveat_lines

    titles = ", ".join(f"{panel.number} {panel.title}" for panel in answer.panels)
    yield Text(f"{titles or 'no panel'}: {counted(answer.dispatch_count, 'dispatches')}", "bold")
    yield from panel_parts(answer, width=wording.width)
    yield from caveat_lines(answer.caveats)


def chart_asked(document: Document, *, kernel: str | None = None) -> Any:
    """Traffic between waves, caches and memory, of one kernel: the longest where none is named."""
    from wavewright.analysis.counters.choice import ranked_kernels

    if kernel is None and ranked_kernels(document.counters.dispatches).height > 1:
        kernel = handle("k", 0)
    return asked(document, "analysis.counters.memory_chart:memory_chart", kernel=kernel)


def l2_asked(document: Document, *, kernel: str | None = None) -> Any:
    """L2 and memory, of each kernel; or of one by part of its name."""
    from wavewright.analysis.counters.l2 import l2
    from wavewright.page.counters.kernels import kernels_of

    name = kernel
    if kernel is not None and is_handle(kernel) and kernel.startswith("k"):
        names = kernels_of(document)["kernel_name"].to_list()
        rank = parse_handle(kernel, "k")
        name = names[rank] if rank < len(names) else kernel
    return document.kept(("topic", "l2", name), lambda: l2(document.counters, kernel=name))


def kernels_asked(document: Document) -> Any:
    """Speed of light of each kernel, one column each; the counters themselves where the GPU has no metrics."""
    from wavewright.analysis.counters.values.evaluated import metric_values
    from wavewright.analysis.counters.values.raw import raw_values
    from wavewright.facts.metrics.panels import panels_of

    counters = document.counters

    def make() -> Any:
        if counters.measured and not panels_of(counters.system.target or ""):
            return raw_values(counters, by="kernel")
        return metric_values(counters, by="kernel", panels=_summary_panels(document))

    return document.kept(("topic", "kernels"), make)


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
