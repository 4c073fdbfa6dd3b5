"""The executed instructions on the slots of their waves."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.common.timeline import LayerNumbers, Timeline
from wavewright.analysis.trace.pipes import matrix_rows
from wavewright.analysis.trace.timeline.layers.places import (
    bounds,
    category_kinds,
    cell_bits,
    rows_of_waves,
    slot_tracks,
    track_of,
)
from wavewright.model.trace import ThreadTrace


def instructions(trace: ThreadTrace) -> Timeline:
    """From the first attempt to issue to the end of the stall or the duration; items are rows of `instructions`."""
    tracks = slot_tracks(trace, trace.waves.filter(trace.waves["instruction_count"] > 0))
    begin, end = bounds(trace)
    return Timeline(
        "instructions", "Instructions", "cycles", begin, end, cell_bits(trace),
        tracks=tracks, kinds=category_kinds(trace), parts_overlaps=False,
        pyramid=lambda layer: _pyramid(trace, tracks, layer),
    )  # fmt: skip


def _pyramid(trace: ThreadTrace, tracks: pl.DataFrame, layer: LayerNumbers) -> _core.SpanPyramid:
    is_matrix = matrix_rows(trace.code.sort("row")).cast(pl.UInt8)
    return _core.executed_pyramid(layer, instruction_waves(trace, tracks), trace.instructions, is_matrix)


def instruction_waves(trace: ThreadTrace, tracks: pl.DataFrame) -> pl.DataFrame:
    """The waves with their tracks and the places of their instructions, as the native core takes them."""
    placed = trace.waves.select(track_of(tracks, trace.waves), *rows_of_waves(trace, "instruction"))
    return placed.with_columns(pl.col("track").fill_null(_core.NO_TRACK))
