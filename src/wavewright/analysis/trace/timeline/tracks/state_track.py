"""The states of waves on their slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright import _core
from wavewright.analysis.common.timeline import Timeline
from wavewright.analysis.trace.timeline.tracks.places import (
    aligned,
    bounds,
    cell_bits,
    lane_of,
    rows_of_waves,
    slot_lanes,
)
from wavewright.model.schema import STATE_MEANINGS, STATES

if TYPE_CHECKING:
    from wavewright.model.trace import ThreadTrace


def states(trace: ThreadTrace) -> Timeline:
    """The states of each wave, one after the other from its start; items are rows of `states`."""
    lanes = slot_lanes(trace, trace.waves.filter(trace.waves["state_count"] > 0))
    begin, end = bounds(trace)
    present = set(trace.states["state"].unique())
    kinds = tuple(
        {"kind": number, "name": name, "colour": name, "meaning": STATE_MEANINGS[name]}
        for number, name in STATES.items()
        if number in present
    )
    return Timeline(
        "states", "Wave states", "cycles", begin, end, cell_bits(trace),
        lanes=lanes, kinds=kinds, spans=lambda: _spans(trace, lanes),
    )  # fmt: skip


def _spans(trace: ThreadTrace, lanes: pl.DataFrame) -> pl.DataFrame:
    begin = aligned(trace, "start_cycles").alias("time")
    _, first, count = rows_of_waves(trace, "state")
    waves = trace.waves.select(lane_of(lanes, trace.waves), begin, first, count)
    return pl.DataFrame(_core.state_spans(waves, trace.states))
