"""The states of waves on their slots."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.common.timeline import LayerNumbers, Timeline
from wavewright.analysis.trace.timeline.layers.places import (
    aligned,
    bounds,
    cell_bits,
    rows_of_waves,
    slot_tracks,
    track_of,
)
from wavewright.model.schema import STATE_MEANINGS, STATES
from wavewright.model.trace import ThreadTrace


def states(trace: ThreadTrace) -> Timeline:
    """The states of each wave, one after the other from its start; items are rows of `states`."""
    tracks = slot_tracks(trace, trace.waves.filter(trace.waves["state_count"] > 0))
    begin, end = bounds(trace)
    present = set(trace.states["state"].unique())
    kinds = tuple(
        {"kind": number, "name": name, "colour": name, "meaning": STATE_MEANINGS[name]}
        for number, name in STATES.items()
        if number in present
    )
    return Timeline(
        "states", "Wave states", "cycles", begin, end, cell_bits(trace),
        tracks=tracks, kinds=kinds, pyramid=lambda layer: _pyramid(trace, tracks, layer),
    )  # fmt: skip


def _pyramid(trace: ThreadTrace, tracks: pl.DataFrame, layer: LayerNumbers) -> _core.SpanPyramid:
    begin = aligned(trace, "start_cycles").alias("time")
    _, first, count = rows_of_waves(trace, "state")
    waves = trace.waves.select(track_of(tracks, trace.waves), begin, first, count)
    return _core.state_pyramid(layer, waves, trace.states)
