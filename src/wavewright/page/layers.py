"""Timelines of a document: which there are, and their tiles at every level of detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.page.protocol.question import PageQuestion
from wavewright.questions.kit.parameters import Parameters, place, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from wavewright.model.document import Document

_TILE: Parameters = {"layer": text, "level": place, "tile": place}


def layers(document: Document) -> dict[str, Any]:
    """The timelines of a document, with their tracks and kinds, and how to ask for their tiles; counters have none."""
    if document.kind == "counters":
        return {"layers": []}
    if document.kind == "trace":
        from wavewright.page.trace.spans import layers_of_trace

        return layers_of_trace(document)
    from wavewright.page.run.layers import layers_of_run

    return layers_of_run(document)


def spans(document: Document, *, layer: str, level: int, tile: int) -> pl.DataFrame:
    """Spans of a tile of a timeline: track, begin, end, kind, count, item, depth."""
    if document.kind == "trace":
        from wavewright.page.trace.spans import spans_of_trace

        return spans_of_trace(document, layer=layer, level=level, tile=tile)
    from wavewright.page.run.layers import spans_of_run

    return spans_of_run(document, layer=layer, level=level, tile=tile)


def _tiles(document: Document) -> Iterable[dict[str, Any]]:
    if document.kind == "trace":
        from wavewright.page.trace.spans import tiles_of_trace

        return tiles_of_trace(document)
    from wavewright.page.run.layers import tiles_of_run

    return tiles_of_run(document)


QUESTIONS = (
    PageQuestion("layers", "any", layers),
    PageQuestion("spans", "timed", spans, _TILE, tuple(_TILE), _tiles),
)
