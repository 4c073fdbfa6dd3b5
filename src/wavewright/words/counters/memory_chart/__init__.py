"""The memory chart: what is nearest to its peak, the chart, and why values are missing."""

from __future__ import annotations

from collections.abc import Iterator

from wavewright.analysis.counters.memory_chart import MemoryChart
from wavewright.model.blocks import GAP, AnyBlock, Sentence, chart, sentence
from wavewright.words.counters.memory_chart.canvas import HEAT, chart_canvas
from wavewright.words.counters.memory_chart.chart_lines import NOT_MEASURED, headline, subject

_MOST_REASONS, _MOST_PLACES = 10, 4  #: Reasons for missing values, and values that are named for each.


def memory_chart_report(answer: MemoryChart, *, width: int, has_colours: bool = True) -> Iterator[AnyBlock]:
    """Blocks of what is nearest to its peak, the chart, and why values are missing."""
    yield Sentence(headline(answer), "headline")
    yield Sentence(subject(answer, width=width))
    yield GAP
    yield chart(chart_canvas(answer, width).lines())
    heat = (("good", HEAT["good"]), ", ", ("worth a look", HEAT["warm"]), ", ", ("much", HEAT["hot"]))
    yield sentence(
        "rd, wr, at: requests to read, write, update; ▰ share of the peak; life and latencies in cycles",
        *(("; ", *heat) if has_colours else ()),
    )
    yield from _missing(answer)
    if len(answer.kernel_names) > 1:
        text = f"means over {len(answer.kernel_names):,} different kernels: --kernel 0 shows the longest one alone"
        yield Sentence(text, "note")
    for caveat in answer.caveats:
        yield Sentence(caveat, "note")


def _missing(answer: MemoryChart) -> Iterator[AnyBlock]:
    """Reasons why values are missing, each once."""
    titles = dict(answer.blocks.select("block", "title").iter_rows())
    reasons: dict[str, list[str]] = {}
    for row in answer.values.iter_rows(named=True):
        if row["reason"]:
            reasons.setdefault(row["reason"], []).append(f"{row['label']} ({titles[row['block']]})")
    for row in answer.wires.iter_rows(named=True):
        if row["reason"]:
            reasons.setdefault(row["reason"], []).append(f"{titles[row['source']]} to {titles[row['target']]}")
    for reason, places in list(reasons.items())[:_MOST_REASONS]:
        distinct = list(dict.fromkeys(places))
        more = f" and {len(distinct) - _MOST_PLACES:,} more" if len(distinct) > _MOST_PLACES + 1 else ""
        shown = ", ".join(distinct[:_MOST_PLACES] if more else distinct) + more
        yield sentence((f"{NOT_MEASURED} ", "bold yellow"), f"{shown}: {reason}")
    if len(reasons) > _MOST_REASONS:
        words = f"showing {_MOST_REASONS} of {len(reasons):,} reasons for missing values; --json has all"
        yield sentence((words, "yellow"))
