"""The executed instructions on the slots of their waves."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright import _core
from wavewright.analysis.common.timeline import LayerNumbers, Timeline
from wavewright.analysis.trace.pipes import MATRIX, matrix_rows
from wavewright.analysis.trace.timeline.layers.common_time import bounds, cell_bits, rows_of_waves
from wavewright.analysis.trace.timeline.layers.tracks import slot_tracks, track_of
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import CATEGORIES, CATEGORY_MEANINGS
from wavewright.model.trace import ThreadTrace

_KINDS: tuple[dict[str, Any], ...] = tuple(
    {"kind": number, "name": name, "colour": name, "meaning": CATEGORY_MEANINGS[name]}
    for number, name in {**CATEGORIES, MATRIX: "MATRIX"}.items()
)


@once_per_trace
def category_kinds(trace: ThreadTrace) -> tuple[dict[str, Any], ...]:
    """The kinds of instructions that a trace has: categories, and MATRIX."""
    matrix = trace.code.filter(matrix_rows(trace.code))["row"]
    added = () if set(trace.executed.rows).isdisjoint(matrix) else (MATRIX,)
    present = {*trace.executed.categories, *trace.other_simd["category"].unique(), *added}
    return tuple(kind for kind in _KINDS if kind["kind"] in present)


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
