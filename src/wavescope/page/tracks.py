"""Timelines of a document: which there are, and their tiles at every level of detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.page.protocol.question import Parameters, Question, place, text
from wavescope.page.run.tracks import spans_of_run, tiles_of_run, tracks_of_run
from wavescope.page.trace.spans import spans_of_trace, tiles_of_trace, tracks_of_trace

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from wavescope.page.protocol.document import Document

_TILE: Parameters = {"track": text, "level": place, "tile": place}


def tracks(document: Document) -> dict[str, Any]:
    """The timelines of a document, with their lanes and kinds, and how to ask for their tiles; counters have none."""
    if document.kind == "counters":
        return {"tracks": []}
    return tracks_of_trace(document) if document.kind == "trace" else tracks_of_run(document)


def spans(document: Document, *, track: str, level: int, tile: int) -> pl.DataFrame:
    """What a tile of a timeline shows: lane, begin, end, kind, count, item, depth."""
    answer = spans_of_trace if document.kind == "trace" else spans_of_run
    return answer(document, track=track, level=level, tile=tile)


def _tiles(document: Document) -> Iterable[dict[str, Any]]:
    return tiles_of_trace(document) if document.kind == "trace" else tiles_of_run(document)


QUESTIONS = (
    Question("tracks", "any", tracks),
    Question("spans", "timed", spans, _TILE, tuple(_TILE), _tiles),
)
