"""Separators between adjacent events of a track that have the same name and no visible gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.page.protocol.question import PageQuestion
from wavewright.page.run.layers import check_layer, tile_window, tiles_of_run, timeline_of
from wavewright.questions.kit.parameters import Parameters, place, text

if TYPE_CHECKING:
    from wavewright.model.document import Document

MOST_EDGES = 20_000  #: Maximum separators of one tile; the ones between the longest events are returned.
_TILE_PIXELS = 1024
_SHORTEST_PIXELS = 4  #: Events that are narrower on screen need no line between them: the lines would hide them.


def edges(document: Document, *, layer: str, level: int, tile: int) -> pl.DataFrame:
    """`track` and `time` of the starts of events in a tile that touch an earlier event of the same name.

    A cell of the level is taken for a pixel: gaps of a pixel or more can be seen without a line.
    """
    check_layer(layer)
    begin, end = tile_window(document, level, tile)
    pixel = (end - begin) / _TILE_PIXELS
    separators: pl.DataFrame = document.kept("edges", lambda: _touching(document))
    low, high = (int(separators["time"].search_sorted(time)) for time in (begin, end))
    visible = separators[low:high].filter(pl.col("length") >= _SHORTEST_PIXELS * pixel, pl.col("gap") <= pixel)
    if visible.height > MOST_EDGES:
        visible = visible.top_k(MOST_EDGES, by="length")
    return visible.select("track", "time")


def _touching(document: Document) -> pl.DataFrame:
    """Starts of events that directly follow an event of the same name, with gap and length of the shorter one."""
    spans = timeline_of(document).spans.sort("track", "start_ns", "end_ns")
    length = pl.col("end_ns") - pl.col("start_ns")
    follows = (pl.col("track") == pl.col("track").shift(1)) & (pl.col("kind") == pl.col("kind").shift(1))
    starts = spans.select(
        "track",
        time=pl.col("start_ns").cast(pl.Float64),
        length=pl.min_horizontal(length, length.shift(1)).cast(pl.Float64),
        gap=(pl.col("start_ns") - pl.col("end_ns").shift(1)).cast(pl.Float64),
        follows=follows,
    )
    return starts.filter("follows", pl.col("length") > 0).drop("follows").sort("time")


_TILE: Parameters = {"layer": text, "level": place, "tile": place}
QUESTIONS = (PageQuestion("edges", "run", edges, _TILE, tuple(_TILE), tiles_of_run),)
