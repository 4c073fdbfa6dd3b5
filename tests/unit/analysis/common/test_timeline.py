"""Tiles of timelines against a plain reading of their definition."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.together import together
from wavewright.analysis.common.timeline import TILE_CELLS, SpanTiles, Timeline
from wavewright.errors import UsageError

Span = tuple[int, int, int, int]  # track, begin, end, kind

SCHEMA = {"track": pl.UInt32, "begin": pl.Int64, "end": pl.Int64, "kind": pl.UInt16}
TRACKS = 3
LAST = 40_000

times = st.one_of(st.integers(0, 60), st.integers(0, LAST), st.integers(-LAST, 2 * LAST))
lengths = st.one_of(st.just(0), st.integers(1, 12), st.integers(-5, 300), st.integers(0, LAST))
span_lists = st.lists(st.tuples(st.integers(0, TRACKS), times, lengths, st.integers(0, 5)), max_size=60)


def made(spans: list[Span], *, cell_bits: int = 0, parts_overlaps: bool = True) -> SpanTiles:
    tracks = pl.DataFrame({"track": range(TRACKS), "label": "", "group": ""})
    frame = pl.DataFrame(spans, schema=SCHEMA, orient="row")
    return SpanTiles(
        Timeline("t", "T", "ns", 0, LAST, cell_bits, tracks=tracks, spans=lambda: frame, parts_overlaps=parts_overlaps)
    )


def inside(spans: list[Span]) -> list[Span]:
    """What the timeline is said to take: known tracks, times cut, no negative lengths."""
    cut = [(track, min(max(b, 0), LAST), min(max(e, 0), LAST), kind) for track, b, e, kind in spans if track < TRACKS]
    return [(track, begin, max(begin, end), kind) for track, begin, end, kind in cut]


def level_rows(tiles: SpanTiles, level: int) -> list[dict[str, Any]]:
    count = tiles.timeline.tile_count(level)
    return [row for tile in range(count) for row in tiles.tile(level, tile).iter_rows(named=True)]


@settings(deadline=None)
@given(spans=span_lists)
def test_level_0_holds_every_span_in_the_tiles_it_reaches_into(spans: list[Span]) -> None:
    spans = [(track, begin, begin + length, kind) for track, begin, length, kind in spans]
    tiles = made(spans)
    expected = sorted(
        (tile, *span)
        for span in inside(spans)
        for tile in range(span[1] // TILE_CELLS, max(span[1], span[2] - 1) // TILE_CELLS + 1)
    )
    found = [
        (tile, row["track"], int(row["begin"]), int(row["end"]), row["kind"])
        for tile in range(tiles.timeline.tile_count(0))
        for row in tiles.tile(0, tile).iter_rows(named=True)
    ]
    assert sorted(found) == expected


@settings(deadline=None)
@given(spans=span_lists, level=st.integers(1, 6), cell_bits=st.integers(0, 2))
def test_a_span_of_at_least_a_cell_is_itself_in_every_tile(spans: list[Span], level: int, cell_bits: int) -> None:
    spans = [(track, begin, begin + length, kind) for track, begin, length, kind in spans]
    tiles = made(spans, cell_bits=cell_bits)
    level = min(level, tiles.timeline.level_count - 1)
    width = 1 << (cell_bits + level)
    expected = sorted(
        (tile, *span)
        for span in inside(spans)
        if span[2] - span[1] >= width
        for tile in range(span[1] // (width * TILE_CELLS), (span[2] - 1) // (width * TILE_CELLS) + 1)
    )
    found = [
        (tile, row["track"], int(row["begin"]), int(row["end"]), row["kind"])
        for tile in range(tiles.timeline.tile_count(level))
        for row in tiles.tile(level, tile).iter_rows(named=True)
        if row["count"] == 1 and row["end"] - row["begin"] >= width
    ]
    assert sorted(found) == expected


@settings(deadline=None)
@given(spans=span_lists, level=st.integers(1, 6), cell_bits=st.integers(0, 2))
def test_shorter_spans_are_counted_once_in_groups_that_cover_them(
    spans: list[Span], level: int, cell_bits: int
) -> None:
    spans = [(track, begin, begin + length, kind) for track, begin, length, kind in spans]
    tiles = made(spans, cell_bits=cell_bits)
    level = min(level, tiles.timeline.level_count - 1)
    width = 1 << (cell_bits + level)
    short = [span for span in inside(spans) if span[2] - span[1] < width]
    groups = [row for row in level_rows(tiles, level) if row["count"] > 1 or row["end"] - row["begin"] < width]
    for track in range(TRACKS):
        own = [row for row in groups if row["track"] == track]
        of_track = [span for span in short if span[0] == track]
        assert sum(row["count"] for row in own) == len(of_track)
        kinds = {kind for *_, kind in of_track}
        edges = {time for _, begin, end, _ in of_track for time in (begin, end)}
        for row in own:
            assert row["kind"] in kinds
            assert {row["begin"], row["end"]} <= edges
        for _, begin, end, _ in of_track:
            assert any(row["begin"] <= begin and end <= row["end"] for row in own)


@settings(deadline=None)
@given(spans=span_lists, level=st.integers(0, 6))
def test_a_group_of_one_span_names_it(spans: list[Span], level: int) -> None:
    spans = [(track, begin, begin + length, kind) for track, begin, length, kind in spans]
    tiles = made(spans)
    for row in level_rows(tiles, min(level, tiles.timeline.level_count - 1)):
        assert (row["item"] >= 0) == (row["count"] == 1)
        if row["item"] >= 0:
            track, begin, end, kind = spans[row["item"]]
            (cut,) = inside([(track, begin, end, kind)])
            assert (row["track"], row["kind"]) == (track, kind)
            assert cut[1] <= row["begin"] <= row["end"] <= cut[2]


def test_an_isolated_span_is_seen_at_every_level() -> None:
    tiles = made([(1, 20_001, 20_002, 4)])
    for level in range(tiles.timeline.level_count):
        assert [(row["begin"], row["end"], row["kind"], row["item"]) for row in level_rows(tiles, level)] == [
            (20_001, 20_002, 4, 0)
        ]


def test_levels_are_bounded_by_cells() -> None:
    spans = [(track, begin, begin + 1, begin % 2) for track in range(TRACKS) for begin in range(LAST)]
    tiles = made(spans)
    for level in range(1, tiles.timeline.level_count):
        for tile in range(tiles.timeline.tile_count(level)):
            assert tiles.tile(level, tile).height <= TRACKS * TILE_CELLS
    assert tiles.byte_count < 2 * 22 * len(spans)


def test_spans_that_overlap_lie_side_by_side() -> None:
    spans = [(0, 0, 10, 0), (0, 0, 4, 1), (0, 2, 8, 2), (0, 5, 9, 3), (0, 6, 7, 4), (0, 10, 11, 5)]
    assert made(spans).tile(0, 0)["depth"].to_list() == [0, 1, 2, 1, 3, 0]
    assert made(spans, parts_overlaps=False).tile(0, 0)["depth"].to_list() == [0, 1, 0, 0, 0, 0]


@together("level, tile", [(-1, 0), (0, -1), (99, 0), (0, 40), (1 << 40, 0), (0, 1 << 62)])
def test_a_tile_that_there_is_not(level: int, tile: int) -> None:
    with pytest.raises(UsageError, match="has no tile"):
        made([]).tile(level, tile)


def test_times_beyond_all_measure() -> None:
    spans = [(0, -(1 << 62), 1 << 62, 1), (0, (1 << 63) - 1, -(1 << 63), 2), (1, -(1 << 63), (1 << 63) - 1, 3)]
    tiles = made(spans)
    for level in range(tiles.timeline.level_count):
        rows = level_rows(tiles, level)
        assert all(0 <= row["begin"] <= row["end"] <= LAST for row in rows)
        assert {row["track"] for row in rows} == {0, 1}


def test_the_native_levels_are_those_of_the_timeline() -> None:
    for last in (0, 1, 1023, 1024, 1025, 4095, 4096, 1 << 30, (1 << 50) + 7):
        line = Timeline(
            "t", "T", "ns", -5, last, 2, tracks=pl.DataFrame({"track": [0]}), spans=lambda: pl.DataFrame(schema=SCHEMA)
        )
        pyramid = SpanTiles(line)._pyramid
        assert pyramid.level_count == line.level_count
        assert [pyramid.tile_count(level) for level in range(line.level_count)] == [
            line.tile_count(level) for level in range(line.level_count)
        ]
