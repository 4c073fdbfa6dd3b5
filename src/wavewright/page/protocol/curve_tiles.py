"""Tiles of curves: 512 bins each, of one cycle or nanosecond at level 0, and of twice that at every next level."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from wavewright.analysis.common.step_functions import StepLevels
from wavewright.analysis.common.timeline import Timeline
from wavewright.errors import UsageError

TILE_BINS = 512


@dataclass(frozen=True)
class Grid:
    """The levels and tiles of the time of a trace or a run."""

    begin: int
    end: int

    @property
    def level_count(self) -> int:
        """Levels, until one tile covers everything."""
        return 1 + max(0, (max(self.end - self.begin, 1) - 1).bit_length() - 9)  # a tile has 2**9 bins

    def tile_count(self, level: int) -> int:
        """Number of tiles of a level."""
        return max(1, -(-(self.end - self.begin) // (TILE_BINS << level)))

    def bins_of(self, level: int, tile: int) -> tuple[int, int]:
        """The first bin of a tile, and its number of bins. Raises `UsageError` when there is no such tile."""
        if not 0 <= level < self.level_count or not 0 <= tile < self.tile_count(level):
            raise UsageError(f"no tile {tile} of level {level}", advice=f"levels 0 to {self.level_count - 1}")
        first = tile * TILE_BINS
        return first, min(TILE_BINS, -(-(self.end - self.begin) >> level) - first)


def coarse_tiles(tiling: Grid | Timeline, most_tiles: int) -> Iterator[dict[str, Any]]:
    """Every tile of the levels that have at most `most_tiles`, the coarsest level first.

    >>> list(coarse_tiles(Grid(0, 1_000), 1))
    [{'level': 1, 'tile': 0}]
    """
    for level in reversed(range(tiling.level_count)):
        if tiling.tile_count(level) <= most_tiles:
            yield from ({"level": level, "tile": tile} for tile in range(tiling.tile_count(level)))


def tile_of(grid: Grid, curves: Callable[[], Sequence[StepLevels]], level: int, tile: int) -> pl.DataFrame:
    """One tile of curves: the columns series, bin, value (mean), low and high."""
    first, count = grid.bins_of(level, tile)
    bins = [curve.binned(level, first, count) for curve in curves()]  # (mean, low, high) of each curve
    arrays = [np.concatenate([np.empty(0), *parts]) for parts in (zip(*bins, strict=True) if bins else ((),) * 3)]
    columns = {
        "series": np.repeat(np.arange(len(bins), dtype=np.uint16), count),
        "bin": np.tile(np.arange(first, first + count, dtype=np.uint32), len(bins)),
        **dict(zip(("value", "low", "high"), arrays, strict=True)),
    }
    return pl.DataFrame(columns).with_columns(pl.col("value", "low", "high").fill_nan(None))


def tiling_of(grid: Grid) -> dict[str, Any]:
    """The tiling of curves as the page reads it: a bin of level 0 is one cycle or nanosecond (`cell`) long."""
    return {
        "begin": float(grid.begin), "end": float(grid.end), "cell": 1, "tile_cells": TILE_BINS,
        "level_count": grid.level_count,
    }  # fmt: skip
