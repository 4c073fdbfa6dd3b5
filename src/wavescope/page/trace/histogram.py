"""Cycles along the code, by category."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.analysis.trace.costs.histogram import row_histogram
from wavescope.page.protocol.question import Question, engine, number, place

if TYPE_CHECKING:
    from wavescope.analysis.trace.costs.histogram import RowHistogram
    from wavescope.page.protocol.document import Document


def histogram(
    document: Document,
    *,
    bins: int = 32,
    first: int = 0,
    last: int | None = None,
    se: int | None = None,
    begin: float | None = None,
    end: float | None = None,
) -> RowHistogram:
    """Cycles per bin of code rows (`analysis.histogram`)."""
    return row_histogram(
        document.trace, bins=bins, first_row=first, last_row=last, se=se, start_cycles=begin, end_cycles=end
    )


def _exported(document: Document) -> list[dict[str, Any]]:
    return [{}, *({"se": se} for se in document.trace.waves["se"].unique().sort())]


_PARAMETERS = {
    "bins": place, "first": place, "last": place, "se": engine, "begin": number, "end": number,
}  # fmt: skip

_RANGES = (("first", "last"), ("begin", "end"))

QUESTIONS = (Question("histogram", "trace", histogram, _PARAMETERS, (), _exported, _RANGES),)
