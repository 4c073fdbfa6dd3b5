"""The waves of all compute units, from the occupancy events."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.common.timeline import NO_KIND, Timeline
from wavewright.analysis.trace.timeline.layers.places import aligned, bounds, cell_bits, slot_tracks, track_of
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.model.trace import ThreadTrace


def waves(trace: ThreadTrace) -> Timeline:
    """From start to end, by kernel; items are rows of `resident_waves`."""
    tracks = slot_tracks(trace, trace.occupancy)
    begin, end = bounds(trace)
    names = trace.kernels.select("kernel", "demangled", "name").rows()
    kinds: list[dict[str, Any]] = [
        {"kind": min(number, NO_KIND - 1), "name": name or symbol} for number, name, symbol in names
    ]
    if trace.occupancy["kernel"].null_count() and resident_waves(trace)["kernel"].null_count():
        kinds.append({"kind": NO_KIND, "name": "unknown kernel", "colour": "NONE"})
    return Timeline(
        "waves", "Waves", "cycles", begin, end, cell_bits(trace),
        tracks=tracks, kinds=tuple(kinds), spans=lambda: _spans(trace, tracks),
    )  # fmt: skip


def _spans(trace: ThreadTrace, tracks: pl.DataFrame) -> pl.DataFrame:
    table = resident_waves(trace)
    return table.select(
        track_of(tracks, table),
        begin=aligned(trace, "start_cycles"),
        end=aligned(trace, "end_cycles"),
        kind=pl.col("kernel").clip(upper_bound=NO_KIND - 1).fill_null(NO_KIND).cast(pl.UInt16),
    )
