"""Timelines for the page: what it is told of them, and which of their tiles an exported page holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.common.timeline import TILE_CELLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.common.timeline import Timeline


def described(layer: Timeline) -> dict[str, Any]:
    """A timeline with its tracks and kinds, and how to ask for its tiles."""
    height = 0 if layer.tracks is None else layer.tracks.height
    tracks = [] if layer.tracks is None or layer.tracks_of else layer.tracks.to_dicts()
    return {
        "name": layer.name,
        "title": layer.title,
        "unit": layer.unit,
        "begin": layer.begin,
        "end": layer.end,
        "cell": 1 << layer.cell_bits,
        "level_count": layer.level_count,
        "tile_cells": TILE_CELLS,
        "track_count": height,
        "tracks": tracks,
        "tracks_of": layer.tracks_of or None,
        "kinds": layer.kinds,
        "has_late_kinds": layer.late_kinds is not None,
    }


def coarse_tiles(layer: Timeline, most: int) -> Iterator[dict[str, Any]]:
    """The tiles of all levels of a timeline that have at most that many, the coarsest level first."""
    for level in reversed(range(layer.level_count)):
        count = layer.tile_count(level)
        if count <= most:
            yield from ({"layer": layer.name, "level": level, "tile": tile} for tile in range(count))
