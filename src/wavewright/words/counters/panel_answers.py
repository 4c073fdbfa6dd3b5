"""Speed of light and single panels as answers to questions: the verdict first, then the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.words import counted
from wavewright.facts.metrics.declared import SPEED_OF_LIGHT
from wavewright.model.blocks import AnyBlock, headline
from wavewright.words.counters.panels import panel_parts
from wavewright.words.counters.speed import speed_of_light
from wavewright.words.counters.summary import caveat_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wavewright.analysis.counters.engine.answer import CounterPanels


def speed_answer(
    panels: CounterPanels, by_kernel: Sequence[tuple[int, CounterPanels]], *, width: int
) -> Iterator[AnyBlock]:
    """Blocks of what is nearest to its peak, then the table."""
    rows = panels.rows.filter(panels.rows["table_id"] == SPEED_OF_LIGHT)
    if rows.height:
        yield from speed_of_light(panels, rows, by_kernel, is_verdict_first=True)
    else:
        yield headline("no speed of light is known of this GPU: the panels that it has")
        yield from panel_parts(panels, width=width)
    yield from caveat_lines(panels.caveats)


def panels_answer(answer: CounterPanels, *, width: int) -> Iterator[AnyBlock]:
    """Blocks of the tables of the panels."""
    titles = ", ".join(f"{panel.number} {panel.title}" for panel in answer.panels)
    yield headline(f"{titles or 'no panel'}: {counted(answer.dispatch_count, 'dispatches')}")
    yield from panel_parts(answer, width=width)
    yield from caveat_lines(answer.caveats)
