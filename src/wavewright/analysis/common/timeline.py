"""Spans of time on tracks, for drawing: what a timeline is made of, and its tiles at any level of detail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from wavewright import _core
from wavewright.base.toml import packaged
from wavewright.errors import UsageError

#: What a layer is made for: its tracks, its times and the size of its cells.
LayerNumbers = _core.SpanRules

TILE_CELLS = 1024  #: Cells of one tile.
NO_KIND = 65535  #: Kind of spans with an unknown kind.
DEFINITION: str = packaged("timeline.toml", __package__)["definition"]


@dataclass(frozen=True)
class Timeline:
    """A layer of a timeline, such as its waves or instructions: tracks, the meaning of its kinds, and its spans.

    `tracks` has the columns `track`, `label`, `group` and what else identifies a track; `spans()` gives the columns
    `track` (UInt32), `begin`, `end` (Int64), `kind` (UInt16) and, unless the row number stands for it, `item` (Int32).
    """

    name: str
    title: str
    unit: str  #: Of times: "cycles" or "ns".
    begin: int
    end: int
    cell_bits: int = 0  #: Cells of level 0 are 2 ** cell_bits long.
    tracks: pl.DataFrame | None = field(default=None, repr=False)
    #: Of every kind its number `kind`, its `name` and, where it has a separate colour, the meaning `colour`.
    kinds: tuple[dict[str, Any], ...] = ()
    spans: Callable[[], pl.DataFrame] | None = field(default=None, repr=False)
    #: Makes the levels at once, where nobody needs the spans themselves.
    pyramid: Callable[[LayerNumbers], _core.SpanPyramid] | None = field(default=None, repr=False)
    #: Which spans of a track lie side by side at level 0: all that overlap, or only those that also begin together.
    parts_overlaps: bool = True
    #: Gives the kinds where finding them takes long; they are asked for by themselves then.
    late_kinds: Callable[[], tuple[dict[str, Any], ...]] | None = field(default=None, repr=False)
    tracks_of: str = ""  #: The timeline that has the same tracks, and tells them.

    @property
    def level_count(self) -> int:
        """Number of levels; one tile of the last level contains everything."""
        level = 0
        while self.tile_count(level) > 1:
            level += 1
        return level + 1

    def tile_count(self, level: int) -> int:
        """Number of tiles of a level."""
        return ((self.end - self.begin) >> (self.cell_bits + level)) // TILE_CELLS + 1


class SpanTiles:
    """The spans of a timeline, ready to be drawn at any zoom."""

    def __init__(self, timeline: Timeline) -> None:
        """Sort the spans and sum them up."""
        self.timeline = timeline
        tracks = timeline.tracks
        rules = _core.SpanRules(
            track_count=0 if tracks is None else tracks.height,
            begin=timeline.begin,
            end=timeline.end,
            cell_bits=timeline.cell_bits,
            parts_overlaps=timeline.parts_overlaps,
        )
        if tracks is not None and timeline.pyramid is not None:
            self._pyramid = timeline.pyramid(rules)
            return
        if timeline.spans is None or tracks is None:
            raise UsageError(f"timeline {timeline.name} has no spans")
        spans = timeline.spans()
        items = spans["item"] if "item" in spans.columns else None
        columns = spans["track"], spans["begin"], spans["end"], spans["kind"], items
        self._pyramid = _core.SpanPyramid(*columns, rules)

    def tile(self, level: int, tile: int) -> pl.DataFrame:
        """Spans that overlap a tile: columns `track`, `begin`, `end`, `kind`, `count`, `item`, `depth`.

        Raises `UsageError` when there is no such tile.
        """
        line = self.timeline
        if not (0 <= level < line.level_count and 0 <= tile < line.tile_count(level)):
            what = f"timeline {line.name} has no tile {tile} of level {level}"
            raise UsageError(what, advice=f"{line.level_count} levels; the last one has one tile")
        return pl.DataFrame(self._pyramid.tile(level, tile))

    @property
    def byte_count(self) -> int:
        """Memory that it takes."""
        return self._pyramid.byte_count

    def __len__(self) -> int:
        """Number of spans."""
        return len(self._pyramid)
