"""Timelines for the page: what it is told of them, and which of their tiles an exported page holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.common.timeline import TILE_CELLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.common.timeline import Timeline


def described(track: Timeline) -> dict[str, Any]:
    """A timeline with its lanes and kinds, and how to ask for its tiles."""
    height = 0 if track.lanes is None else track.lanes.height
    lanes = [] if track.lanes is None or track.lanes_of else track.lanes.to_dicts()
    return {
        "name": track.name,
        "title": track.title,
        "unit": track.unit,
        "begin": track.begin,
        "end": track.end,
        "cell": 1 << track.cell_bits,
        "level_count": track.level_count,
        "tile_cells": TILE_CELLS,
        "lane_count": height,
        "lanes": lanes,
        "lanes_of": track.lanes_of or None,
        "kinds": track.kinds,
        "has_late_kinds": track.late_kinds is not None,
    }


def coarse_tiles(track: Timeline, most: int) -> Iterator[dict[str, Any]]:
    """The tiles of all levels of a timeline that have at most that many, the coarsest level first."""
    for level in reversed(range(track.level_count)):
        count = track.tile_count(level)
        if count <= most:
            yield from ({"track": track.name, "level": level, "tile": tile} for tile in range(count))
