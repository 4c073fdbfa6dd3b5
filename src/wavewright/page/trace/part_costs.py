"""Costs of the code rows in one wave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.analysis.trace.costs.exposure import row_costs
from wavewright.analysis.trace.selection import Selection, select
from wavewright.page.protocol.doubles import doubles
from wavewright.page.protocol.question import PageQuestion
from wavewright.questions.kit.parameters import place

if TYPE_CHECKING:
    import polars as pl

    from wavewright.model.document import Document


def wave_costs(document: Document, *, wave: int) -> pl.DataFrame:
    """Costs of one wave by row, as `costs` has them for all: what other waves of its SIMD hid is not exposed."""
    part = select(document.trace, Selection(waves=(wave,)))
    return doubles(row_costs(part))


QUESTIONS = (PageQuestion("wave_costs", "trace", wave_costs, {"wave": place}, ("wave",), lambda _: ()),)
