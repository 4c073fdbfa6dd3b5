"""Lane addresses of memory instructions: evaluated when a page asks for them first, and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.trace.lanes import lane_accesses, no_lane_accesses
from wavewright.analysis.trace.lanes.service import lane_service
from wavewright.errors import WavewrightError
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import place

if TYPE_CHECKING:
    from wavewright.analysis.trace.lanes import LaneAccesses
    from wavewright.model.document import Document


def lanes(document: Document) -> Any:
    """Every executed memory instruction with the cost of its lane addresses, or why it is not known.

    Where nothing can be evaluated, the answer has no rows, and the reason among its notes.
    """
    return document.kept("lanes", lambda: serialize(_lanes(document)))


def _lanes(document: Document) -> LaneAccesses:
    try:
        return lane_accesses(document.trace)
    except WavewrightError as error:
        return no_lane_accesses(document.trace, str(error))


def service(document: Document, *, row: int) -> Any:
    """Service of the lanes of one instruction by LDS or the cache."""
    return serialize(lane_service(document.trace, row), top=None)


def _known_rows(document: Document) -> list[dict[str, Any]]:
    """Rows with something to draw; none where nothing can be evaluated: `lanes` says why."""
    try:
        rows = lane_accesses(document.trace).rows
    except WavewrightError:
        return []
    return [{"row": row} for row in rows.filter(pl.col("known_count") > 0)["row"]]


QUESTIONS = (
    PageQuestion("lanes", "trace", lanes),
    PageQuestion("lane_service", "trace", service, {"row": place}, ("row",), _known_rows),
)
