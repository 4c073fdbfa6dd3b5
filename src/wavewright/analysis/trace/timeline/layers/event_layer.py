"""Dispatches and other events of shader engines."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.common.timeline import Timeline
from wavewright.analysis.trace.timeline.layers.places import aligned, bounds, cell_bits, track_of
from wavewright.model.schema import EVENT_TYPES
from wavewright.model.trace import ThreadTrace

DISPATCH = 256  #: Kind of dispatches; that of other events is their type.


def all_events(trace: ThreadTrace) -> pl.DataFrame:
    """The dispatches, then the other events: se, time_cycles, kind, me, pipe, and of dispatches the `dispatch` row."""
    shared = ("se", "time_cycles", "me", "pipe")
    dispatches = trace.dispatches.select(
        *shared, pl.lit(DISPATCH, pl.UInt16).alias("kind"), "kernel", pl.lit(None, pl.UInt64).alias("payload"),
        dispatch=pl.int_range(pl.len(), dtype=pl.UInt32),
    )  # fmt: skip
    others = trace.events.select(
        *shared, pl.col("type").cast(pl.UInt16).alias("kind"), pl.lit(None, pl.UInt32).alias("kernel"), "payload",
        dispatch=pl.lit(None, pl.UInt32),
    )  # fmt: skip
    return pl.concat([dispatches, others])


def events(trace: ThreadTrace) -> Timeline:
    """Moments, a track per shader engine; items are rows of `all_events`."""
    table = all_events(trace)
    tracks = table.select(pl.col("se").unique().sort()).with_row_index("track")
    tracks = tracks.select("track", pl.format("SE {}", "se").alias("label"), pl.lit("Events").alias("group"), "se")
    begin, end = bounds(trace)
    named = {**EVENT_TYPES, DISPATCH: "DISPATCH"}
    kinds = table["kind"].unique().sort().to_list()
    return Timeline(
        "events", "Events", "cycles", begin, end, cell_bits(trace),
        tracks=tracks, kinds=tuple({"kind": kind, "name": named.get(kind, f"event {kind}")} for kind in kinds),
        spans=lambda: table.select(
            track_of(tracks, table, ("se",)), begin=aligned(trace, "time_cycles"), end=aligned(trace, "time_cycles"),
            kind="kind",
        ),
    )  # fmt: skip
