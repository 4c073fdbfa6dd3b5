"""Timelines of a trace: which there are, and their tiles at every level of detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.analysis.common.timeline import DEFINITION, tiles_of
from wavescope.analysis.trace.timeline.tracks import tracks
from wavescope.errors import UsageError
from wavescope.page.protocol.span_tiles import coarse_tiles, described

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from wavescope.analysis.common.timeline import SpanTiles, Timeline
    from wavescope.page.protocol.document import Document

_MOST_TILES = 512  #: Levels of a timeline with more tiles are left out of an exported page.


def tracks_of_trace(document: Document) -> dict[str, Any]:
    """The timelines of a document, with their lanes and kinds, and how to ask for their tiles."""

    def make() -> dict[str, Any]:
        return {"definition": DEFINITION, "tracks": [described(track) for track in _timelines(document).values()]}

    return document.kept("tracks", make)


def spans_of_trace(document: Document, *, track: str, level: int, tile: int) -> pl.DataFrame:
    """The spans of a timeline tile: lane, begin, end, kind, count, item, depth."""
    return _tiles(document, track).tile(level, tile)


def tiles_of_trace(document: Document) -> Iterator[dict[str, Any]]:
    """The tiles of an exported page, the coarsest first: all levels that do not have too many."""
    for track in _timelines(document).values():
        yield from coarse_tiles(track, _MOST_TILES)


def _timelines(document: Document) -> Mapping[str, Timeline]:
    return document.kept("timelines", lambda: tracks(document.trace))


def _tiles(document: Document, name: str) -> SpanTiles:
    timeline = _timelines(document).get(name)
    if timeline is None:
        raise UsageError(f"there is no timeline {name[:40]!r}")
    return document.kept(("spans", name), lambda: tiles_of(timeline))
