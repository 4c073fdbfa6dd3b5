"""The loops of the code, and their iterations in one wave or over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.costs.loop_iterations import loop_iterations
from wavewright.analysis.trace.costs.loops import loop_starts, loops
from wavewright.page.protocol.doubles import doubles
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import place

if TYPE_CHECKING:
    from wavewright.model.document import Document


def loops_of(document: Document) -> Any:
    """The answer of `loops`: trip counts, cycles of iterations and costs of every loop."""
    return document.kept("loops", lambda: serialize(loops(document.trace)))


def wave_loops(document: Document, *, wave: int) -> pl.DataFrame:
    """The iterations of all loops in one wave, with aligned starts."""
    iterations = loop_iterations(document.trace, wave)
    se = document.trace.waves.filter(pl.col("wave") == wave)["se"][0]
    move = alignment(document.trace).offset(se)
    return doubles(iterations.with_columns(pl.col("start_cycles") + move))


def _waves_with_loops(document: Document) -> list[dict[str, int]]:
    if not loop_starts(document.trace).height:
        return []
    return [{"wave": number} for number in document.trace.waves["wave"].to_list()]


QUESTIONS = (
    PageQuestion("loops", "trace", loops_of, is_of_time=True),
    PageQuestion("wave_loops", "trace", wave_loops, {"wave": place}, ("wave",), _waves_with_loops),
)
