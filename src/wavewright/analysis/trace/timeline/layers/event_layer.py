"""Layers of events of shader engines, marker scopes, raw shader data, and memory instructions of the SIMD beside."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.common.timeline import NO_KIND, Timeline
from wavewright.analysis.trace.clocks import aligned_cycles
from wavewright.analysis.trace.code.marker_scopes import marker_scopes
from wavewright.analysis.trace.timeline.layers.common_time import SLOT, slot_tracks, timeline, track_of, unit_name
from wavewright.analysis.trace.timeline.layers.instructions import category_kinds
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
    named = {**EVENT_TYPES, DISPATCH: "DISPATCH"}
    numbers = table["kind"].unique().sort()
    kinds = [{"kind": kind, "name": named.get(kind, f"event {kind}")} for kind in numbers]
    time = aligned_cycles(trace, "time_cycles")
    return timeline(
        trace, "events", "Events", tracks, kinds,
        spans=lambda: table.select(track_of(tracks, table, ("se",)), begin=time, end=time, kind="kind"),
    )  # fmt: skip


_UNIT = ("se", "cu", "simd")  #: Columns that name a track of a neighbour.


def neighbours(trace: ThreadTrace) -> pl.DataFrame:
    """The records of neighbours, with the SIMD that they are about: the other one of a pair."""
    targets = trace.shader_engines.select("se", "target_simd").unique("se")
    simd = (pl.col("target_simd").fill_null(0) ^ pl.lit(1, pl.UInt8)).cast(pl.UInt8)
    return trace.other_simd.join(targets, on="se", how="left", maintain_order="left").with_columns(simd=simd)


def other_simd(trace: ThreadTrace) -> Timeline:
    """From the issue on, as long as the pipe is taken; items are rows of `other_simd`."""
    table = neighbours(trace)
    places = table.select(_UNIT).unique().sort(_UNIT).with_row_index("track")
    label, group = pl.format("SIMD {}", "simd"), unit_name(trace)
    tracks = places.select("track", label.alias("label"), group.alias("group"), *_UNIT)
    time = aligned_cycles(trace, "time_cycles")
    return timeline(
        trace, "other_simd", "Neighbour SIMD", tracks, category_kinds(trace),
        spans=lambda: table.select(
            track_of(tracks, table, _UNIT), begin=time, end=time + pl.col("duration_cycles").cast(pl.Int64),
            kind=pl.col("category").cast(pl.UInt16),
        ),
    )  # fmt: skip


_DEEPEST = 7  #: Scopes that are nested deeper are on the track of this depth.


def markers(trace: ThreadTrace) -> Timeline:
    """Scopes from entering to leaving, a track per slot and depth; points are moments; items are rows of `scopes`."""
    scopes = marker_scopes(trace).scopes.with_columns(pl.col("depth").clip(upper_bound=_DEEPEST))
    names = scopes.select("kind", "name").unique(maintain_order=True).with_row_index("number")
    names = names.with_columns(pl.col("number").clip(upper_bound=NO_KIND))
    shown = names.head(NO_KIND).select("number", "name", "kind").iter_rows()
    kinds = [{"kind": number, "name": name, "marker": marker} for number, name, marker in shown]
    slots = slot_tracks(trace, scopes).rename({"track": "place"})
    tracks = scopes.select(*SLOT, "depth").unique().join(slots, on=SLOT).sort("place", "depth").with_row_index("track")
    tracks = tracks.select("track", pl.format("{} depth {}", "label", "depth").alias("label"), "group", *SLOT, "depth")

    def spans() -> pl.DataFrame:
        kind = scopes.join(names, on=["kind", "name"], how="left", maintain_order="left")["number"].cast(pl.UInt16)
        start, end = aligned_cycles(trace, "start_cycles"), aligned_cycles(trace, "end_cycles")
        return scopes.select(track_of(tracks, scopes, (*SLOT, "depth")), begin=start, end=end, kind=kind)

    return timeline(trace, "markers", "Markers", tracks, kinds, spans=spans)


def shader_data(trace: ThreadTrace) -> Timeline:
    """The moments at which waves wrote shader data; items are rows of `shader_data`."""
    table = trace.shader_data
    tracks = slot_tracks(trace, table)
    time, kind = aligned_cycles(trace, "time_cycles"), pl.lit(0, pl.UInt16)
    return timeline(
        trace, "shader_data", "Shader data", tracks, ({"kind": 0, "name": "shader data", "colour": "CONTEXT"},),
        spans=lambda: table.select(track_of(tracks, table), begin=time, end=time, kind=kind),
    )  # fmt: skip
