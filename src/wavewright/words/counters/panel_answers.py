"""Speed of light and single panels as answers to questions: the verdict first, then the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.words import counted
from wavewright.facts.metrics.declared import SPEED_OF_LIGHT
from wavewright.model.blocks import AnyBlock, Sentence, sentence
from wavewright.words.counters.panels import panel_parts
from wavewright.words.counters.speed import speed_of_light
from wavewright.words.counters.summary import caveat_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wavewright.analysis.counters.engine.answer import CounterPanels


def speed_answer(
    panels: CounterPanels, by_kernel: Sequence[tuple[int, CounterPanels]], *, width: int
) -> Iterator[AnyBlock]:
    """What is nearest to its peak first, then the table."""
    rows = panels.rows.filter(panels.rows["table_id"] == SPEED_OF_LIGHT)
    if rows.height:
        parts = list(speed_of_light(panels, rows, by_kernel, width=width, decimals=None))
        nearest = [part for part in parts if isinstance(part, Sentence) and part.style == "bold"]
        yield from nearest
        yield from (part for part in parts if part not in nearest)
    else:
        yield sentence(("no speed of light is known of this GPU: the panels that it has", "bold"))
        yield from panel_parts(panels, width=width)
    yield from caveat_lines(panels.caveats)


def panels_answer(answer: CounterPanels, *, width: int) -> Iterator[AnyBlock]:
    """The tables of the panels."""
    titles = ", ".join(f"{panel.number} {panel.title}" for panel in answer.panels)
    yield sentence((f"{titles or 'no panel'}: {counted(answer.dispatch_count, 'dispatches')}", "bold"))
    yield from panel_parts(answer, width=width)
    yield from caveat_lines(answer.caveats)
