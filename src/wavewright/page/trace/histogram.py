"""Cycles along the code, by category."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.trace.code.functions import entered_rows
from wavewright.analysis.trace.costs.histogram import row_histogram
from wavewright.page.protocol.question import PageQuestion
from wavewright.questions.kit.parameters import engine, place

if TYPE_CHECKING:
    from wavewright.analysis.trace.costs.histogram import RowHistogram
    from wavewright.model.document import Document


def histogram(
    document: Document, *, bins: int = 32, first: int | None = None, last: int | None = None, se: int | None = None
) -> RowHistogram:
    """Cycles per bin of code rows (`analysis.histogram`); without rows those of the functions that were entered.

    A part of the time has the rows of the whole: bars stay where they are.
    """
    rows = entered_rows((document.whole or document).trace)["row"]
    if first is None:
        first = rows[0] if rows.len() and (last is None or last >= rows[0]) else 0
    if last is None and rows.len() and rows[-1] >= first:
        last = rows[-1]
    return row_histogram(document.trace, bins=bins, first_row=first, last_row=last, se=se)


def _exported(document: Document) -> list[dict[str, Any]]:
    return [{}, *({"se": se} for se in document.trace.waves["se"].unique().sort())]


_PARAMETERS = {"bins": place, "first": place, "last": place, "se": engine}
_ROWS = (("first", "last"),)

QUESTIONS = (PageQuestion("histogram", "trace", histogram, _PARAMETERS, (), _exported, _ROWS, is_of_time=True),)
