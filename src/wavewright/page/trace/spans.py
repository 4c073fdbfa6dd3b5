"""Timelines of a trace: which there are, and their tiles at every level of detail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from wavewright.analysis.common.timeline import DEFINITION, SpanTiles, Timeline, tiles_of
from wavewright.analysis.trace.timeline.area import AreaRows, area_rows
from wavewright.analysis.trace.timeline.layers import layers
from wavewright.analysis.trace.timeline.stalled_shares import StalledShares
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.protocol.curve_tiles import tiling_of
from wavewright.page.protocol.question import TILE, TILE_OF_LAYER, PageQuestion
from wavewright.page.protocol.timelines import area_question, coarse_tiles, described
from wavewright.page.trace.curves import grid_of
from wavewright.questions.kit.parameters import text

_MOST_TILES = 512  #: Levels of a timeline with more tiles are left out of an exported page.
_FEW_TILES = 8  #: The same for what only colours spans.


def layers_of_trace(document: Document) -> dict[str, Any]:
    """The timelines of a document, with their tracks and kinds, and how to ask for their tiles."""

    def make() -> dict[str, Any]:
        return {"definition": DEFINITION, "layers": [described(layer) for layer in _timelines(document).values()]}

    return document.kept("layers", make)


def spans_of_trace(document: Document, *, layer: str, level: int, tile: int) -> pl.DataFrame:
    """The spans of a timeline tile: track, begin, end, kind, count, item, depth."""
    return _tiles(document, layer).tile(level, tile)


def tiles_of_trace(document: Document) -> Iterator[dict[str, Any]]:
    """The tiles of an exported page, the coarsest first: all levels that do not have too many."""
    for layer in _timelines(document).values():
        yield from coarse_tiles(layer, _FEW_TILES if layer.tracks_of else _MOST_TILES)


def kinds(document: Document, *, layer: str) -> list[dict[str, Any]]:
    """The kinds of a timeline whose kinds take long to find."""
    late = _timeline(document, layer).late_kinds
    return list(document.kept(("kinds", layer), late)) if late else []


def _late_kinds(document: Document) -> list[dict[str, str]]:
    return [{"layer": layer.name} for layer in _timelines(document).values() if layer.late_kinds]


def stalled(document: Document) -> dict[str, Any]:
    """Tiling of the shares of stall of slots (`stalled_shares`), as of curves."""
    return tiling_of(grid_of(document)) | {"track_count": _shares(document).track_count}


def stalled_shares(document: Document, *, level: int, tile: int) -> pl.DataFrame:
    """In 255ths, the share of stall in every bin of a tile, track by track of the timeline `instructions`."""
    grid = grid_of(document)
    first, count = grid.bins_of(level, tile)
    shares = _shares(document).shares(grid.begin + (first << level), 1 << level, count)
    return pl.DataFrame({"share": np.rint(shares.ravel() * 255).clip(0, 255).astype(np.uint8)})


def _shares(document: Document) -> StalledShares:
    grid = grid_of(document)
    return document.kept("stalled shares", lambda: StalledShares(document.trace, grid.begin, grid.end))


def _few_shares(document: Document) -> Iterator[dict[str, int]]:
    return grid_of(document).coarse_tiles(_FEW_TILES) if document.trace.instructions.height else iter(())


def _timelines(document: Document) -> Mapping[str, Timeline]:
    return document.kept("timelines", lambda: layers(document.trace))


def _timeline(document: Document, name: str) -> Timeline:
    timeline = _timelines(document).get(name)
    if timeline is None:
        raise UsageError(f"there is no timeline {name[:40]!r}")
    return timeline


def _tiles(document: Document, name: str) -> SpanTiles:
    timeline = _timeline(document, name)
    return document.kept(("spans", name), lambda: tiles_of(timeline))


def _area(document: Document, layer: str | None, tracks: list[int] | None, start: int, stop: int) -> AreaRows:
    """Costs by code row of what the tracks executed in the time (`analysis.trace.timeline.area`)."""
    return area_rows(document.trace, layer or "instructions", tracks, start, stop)


QUESTIONS = (
    PageQuestion("layers", layers_of_trace),
    PageQuestion("spans", spans_of_trace, TILE_OF_LAYER, tuple(TILE_OF_LAYER), tiles_of_trace),
    area_question("area", _area),
    PageQuestion("kinds", kinds, {"layer": text}, ("layer",), _late_kinds),
    PageQuestion("stalled", stalled),
    PageQuestion("stalled_shares", stalled_shares, TILE, tuple(TILE), _few_shares),
)
