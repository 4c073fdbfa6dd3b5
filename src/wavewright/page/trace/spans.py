"""The timelines of a trace: their description, and their tiles at every level of detail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from wavewright.analysis.common.timeline import DEFINITION, SpanTiles, Timeline
from wavewright.analysis.trace.timeline.area import AreaRows, area_rows
from wavewright.analysis.trace.timeline.layers import layers
from wavewright.analysis.trace.timeline.layers.instructions import StalledShares
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.protocol.curve_tiles import coarse_tiles, tiling_of
from wavewright.page.protocol.question import TILE, TILE_OF_LAYER, PageQuestion, once_per_document
from wavewright.page.protocol.timelines import area_question, described
from wavewright.page.trace.curves import grid_of
from wavewright.questions.kit.parameters import text

_MOST_TILES = 512  #: Levels of a timeline with more tiles are left out of an exported page.
_FEW_TILES = 8  #: The same for timelines that only colour the spans of another one.


@once_per_document
def layers_of_trace(document: Document) -> dict[str, Any]:
    """The timelines of a document, with their tracks and kinds, and how to ask for their tiles."""
    return {"definition": DEFINITION, "layers": [described(layer) for layer in _timelines(document).values()]}


def spans_of_trace(document: Document, *, layer: str, level: int, tile: int) -> pl.DataFrame:
    """The spans of a timeline tile: track, begin, end, kind, count, item, depth."""
    return _tiles(document, layer).tile(level, tile)


def tiles_of_trace(document: Document) -> Iterator[dict[str, Any]]:
    """The tiles that an exported page stores, the coarsest first: levels without too many tiles."""
    for layer in _timelines(document).values():
        most_tiles = _FEW_TILES if layer.tracks_of else _MOST_TILES
        yield from ({"layer": layer.name, **tile} for tile in coarse_tiles(layer, most_tiles))


def kinds(document: Document, *, layer: str) -> list[dict[str, Any]]:
    """The kinds of a timeline that are too slow to compute for `layers`."""
    late = _timeline(document, layer).late_kinds
    return list(document.kept(("kinds", layer), late)) if late else []


def _late_kinds(document: Document) -> list[dict[str, str]]:
    return [{"layer": layer.name} for layer in _timelines(document).values() if layer.late_kinds]


def stalled(document: Document) -> dict[str, Any]:
    """The tiling of `stalled_shares`, in the form of curves, and the number of tracks."""
    return tiling_of(grid_of(document)) | {"track_count": _shares(document).track_count}


def stalled_shares(document: Document, *, level: int, tile: int) -> pl.DataFrame:
    """The stalled share of every bin of a tile in 255ths, by track of the timeline `instructions`."""
    grid = grid_of(document)
    first, count = grid.bins_of(level, tile)
    shares = _shares(document).shares(grid.begin + (first << level), 1 << level, count)
    return pl.DataFrame({"share": np.rint(shares.ravel() * 255).clip(0, 255).astype(np.uint8)})


@once_per_document
def _shares(document: Document) -> StalledShares:
    grid = grid_of(document)
    return StalledShares(document.trace, grid.begin, grid.end)


def _few_shares(document: Document) -> Iterator[dict[str, Any]]:
    return coarse_tiles(grid_of(document), _FEW_TILES) if document.trace.instructions.height else iter(())


@once_per_document
def _timelines(document: Document) -> Mapping[str, Timeline]:
    return layers(document.trace)


def _timeline(document: Document, name: str) -> Timeline:
    timeline = _timelines(document).get(name)
    if timeline is None:
        raise UsageError(f"there is no timeline {name[:40]!r}")
    return timeline


def _tiles(document: Document, name: str) -> SpanTiles:
    timeline = _timeline(document, name)
    return document.kept(("spans", name), lambda: SpanTiles(timeline))


def _area(document: Document, layer: str | None, tracks: list[int] | None, start: int, stop: int) -> AreaRows:
    """Costs by code row of what the tracks executed in the time (`analysis.trace.timeline.area`)."""
    return area_rows(document.trace, layer or "instructions", tracks, start, stop)


QUESTIONS = (
    PageQuestion("layers", layers_of_trace),
    PageQuestion("spans", spans_of_trace, TILE_OF_LAYER, required=tuple(TILE_OF_LAYER), exported=tiles_of_trace),
    area_question("area", _area),
    PageQuestion("kinds", kinds, {"layer": text}, required=("layer",), exported=_late_kinds),
    PageQuestion("stalled", stalled),
    PageQuestion("stalled_shares", stalled_shares, TILE, required=tuple(TILE), exported=_few_shares),
)
