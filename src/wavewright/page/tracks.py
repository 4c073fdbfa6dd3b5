"""Timelines of a document: which there are, and their tiles at every level of detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.page.protocol.question import PageQuestion
from wavewright.questions.kit.parameters import Parameters, place, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from wavewright.model.document import Document

_TILE: Parameters = {"track": text, "level": place, "tile": place}


def tracks(document: Document) -> dict[str, Any]:
    """The timelines of a document, with their lanes and kinds, and how to ask for their tiles; counters have none."""
    if document.kind == "counters":
        return {"tracks": []}
    if document.kind == "trace":
        from wavewright.page.trace.spans import tracks_of_trace

        return tracks_of_trace(document)
    from wavewright.page.run.tracks import tracks_of_run

    return tracks_of_run(document)


def spans(document: Document, *, track: str, level: int, tile: int) -> pl.DataFrame:
    """What a tile of a timeline shows: lane, begin, end, kind, count, item, depth."""
    if document.kind == "trace":
        from wavewright.page.trace.spans import spans_of_trace

        return spans_of_trace(document, track=track, level=level, tile=tile)
    from wavewright.page.run.tracks import spans_of_run

    return spans_of_run(document, track=track, level=level, tile=tile)


def _tiles(document: Document) -> Iterable[dict[str, Any]]:
    if document.kind == "trace":
        from wavewright.page.trace.spans import tiles_of_trace

        return tiles_of_trace(document)
    from wavewright.page.run.tracks import tiles_of_run

    return tiles_of_run(document)


QUESTIONS = (
    PageQuestion("tracks", "any", tracks),
    PageQuestion("spans", "timed", spans, _TILE, tuple(_TILE), _tiles),
)
