"""The timeline of a run: one layer with tracks of threads and GPUs, its spans tile by tile, and lines between them."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.common.timeline import TILE_CELLS, SpanTiles, Timeline
from wavewright.analysis.run.collectives.collectives import names_collective
from wavewright.analysis.run.gpu_time.timeline import DEEPEST, RunArea, RunTimeline, run_area, run_timeline
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.protocol.curve_tiles import coarse_tiles
from wavewright.page.protocol.question import TILE_OF_LAYER, PageQuestion, once_per_document
from wavewright.page.protocol.timelines import area_question, described
from wavewright.page.run.times import clocks_of

MOST_TRACKS = 16_384  #: Tracks that are shown; where there are more, a note says so.
_CELL_BITS = 4  #: Cells of level 0 are 16 ns long.
_MOST_TILES = 64  #: Levels with more tiles are left out of an exported page.
_TRACK_COLUMNS = ("track", "label", "group", "kind", "node", "depth", "process", "agent")


@once_per_document
def timeline_of(document: Document) -> RunTimeline:
    """The timeline of the run (`analysis.run.gpu_time.timeline`)."""
    return run_timeline(document.run, clocks_of(document))


def check_layer(layer: str) -> None:
    """Check the name of the only layer of a run."""
    if layer != "run":
        raise UsageError(f"no layer {layer[:40]!r}", advice="layers: run")


@once_per_document
def _timeline(document: Document) -> Timeline:
    timeline = timeline_of(document)
    groups = pl.concat_list("group", "part").alias("group")
    tracks = timeline.tracks.head(MOST_TRACKS).with_columns(groups).select(_TRACK_COLUMNS)
    all_spans = timeline.spans.select("track", "kind", "item", begin="start_ns", end="end_ns")
    kinds = _coloured_kinds(timeline, all_spans)
    end = max(timeline.duration_ns, int(all_spans["end"].max() or 0))  # type: ignore[arg-type]
    spans = all_spans.filter(pl.col("track") < MOST_TRACKS)
    return Timeline("run", "Run", "ns", 0, end, _CELL_BITS, tracks, kinds, lambda: spans)


def _coloured_kinds(timeline: RunTimeline, spans: pl.DataFrame) -> tuple[dict[str, Any], ...]:
    """The kinds; `colour` is "communication" or "copies" where the colour does not stand for the name."""
    first, last = (timeline.first_items[table] for table in ("copies", "allocations"))
    copies = spans.filter(pl.col("item").is_between(first, last, closed="left"))["kind"].unique()
    is_copy = pl.col("kind").is_in(copies.implode())
    meaning = pl.when(names_collective("name")).then(pl.lit("communication")).when(is_copy).then(pl.lit("copies"))
    return tuple(timeline.kinds.select("kind", "name", "count", colour=meaning).to_dicts())


@once_per_document
def _tiles(document: Document) -> SpanTiles:
    return SpanTiles(_timeline(document))


def layers_of_run(document: Document) -> dict[str, Any]:
    """The layer of a run: tracks of threads (one per depth), marks, allocations and streams; kinds are names.

    Times count from the first event of their node: clocks of different nodes are not compared, and a note says so.
    """
    timeline = timeline_of(document)
    layer = described(_timeline(document)) | {"first_items": timeline.first_items, "notes": _notes(document, timeline)}
    return {"definition": timeline.definition, "layers": [layer]}


def _notes(document: Document, timeline: RunTimeline) -> list[str]:
    """Notes about omitted events and possible misreadings."""
    nodes = clocks_of(document).nodes.height
    more_tracks = timeline.tracks.height - MOST_TRACKS
    notes = {
        f"{nodes:,} nodes: each counts from its own first event, because clocks of nodes are not compared": nodes > 1,
        f"{timeline.untimed_count:,} events have no time and are not shown": timeline.untimed_count,
        f"{timeline.too_deep_count:,} calls are nested deeper than {DEEPEST} and not shown": timeline.too_deep_count,
        f"{timeline.other_name_count:,} names that take little time share one colour": timeline.other_name_count,
        f"showing {MOST_TRACKS:,} of {timeline.tracks.height:,} tracks": more_tracks > 0,
    }
    return [note for note, is_so in notes.items() if is_so]


def tile_window(document: Document, level: int, tile: int) -> tuple[float, float]:
    """The start and the end of a tile."""
    layer = _timeline(document)
    if not 0 <= level < layer.level_count or not 0 <= tile < layer.tile_count(level):
        raise UsageError(f"there is no tile {tile} of level {level}")
    width = TILE_CELLS << (layer.cell_bits + level)
    return float(layer.begin + tile * width), float(layer.begin + (tile + 1) * width)


def spans_of_run(document: Document, *, layer: str, level: int, tile: int) -> pl.DataFrame:
    """The spans of one tile of the run's layer."""
    check_layer(layer)
    return _tiles(document).tile(level, tile)


def tiles_of_run(document: Document) -> list[dict[str, Any]]:
    """The tiles that an exported page stores: levels without too many of them."""
    return [{"layer": "run", **tile} for tile in coarse_tiles(_timeline(document), _MOST_TILES)]


MOST_EDGES = 20_000  #: Separators of one tile: those between the longest events.
_TILE_PIXELS = 1024  #: Width of a tile on screen: one pixel per cell.
_SHORTEST_PIXELS = 4  #: Between events that are narrower on screen, a line would hide them.


def edges(document: Document, *, layer: str, level: int, tile: int) -> pl.DataFrame:
    """Lines to draw between events of the same name that touch: `track` and `time` of each in a tile.

    A cell of the level counts as a pixel: gaps of more than a pixel can be seen without a line.
    """
    check_layer(layer)
    begin, end = tile_window(document, level, tile)
    pixel = (end - begin) / _TILE_PIXELS
    separators = _touching(document)
    low, high = (int(separators["time"].search_sorted(time)) for time in (begin, end))
    visible = separators[low:high].filter(pl.col("length") >= _SHORTEST_PIXELS * pixel, pl.col("gap") <= pixel)
    if visible.height > MOST_EDGES:
        visible = visible.top_k(MOST_EDGES, by="length")
    return visible.select("track", "time")


@once_per_document
def _touching(document: Document) -> pl.DataFrame:
    """Starts of events that directly follow an event of the same name, with their gap and the shorter length."""
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


def _area(document: Document, layer: str | None, tracks: list[int] | None, start: int, stop: int) -> RunArea:
    """The events by name that overlap the selected time on the tracks (`analysis.run.gpu_time.timeline`)."""
    check_layer(layer or "run")
    return run_area(timeline_of(document), tracks, start, stop)


QUESTIONS = (
    PageQuestion("layers", layers_of_run),
    PageQuestion("spans", spans_of_run, TILE_OF_LAYER, required=tuple(TILE_OF_LAYER), exported=tiles_of_run),
    PageQuestion("edges", edges, TILE_OF_LAYER, required=tuple(TILE_OF_LAYER), exported=tiles_of_run),
    area_question("run_area", _area),
)
