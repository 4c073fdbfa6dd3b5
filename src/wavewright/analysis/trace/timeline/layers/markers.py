"""The marker scopes and the raw shader data of wave slots."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.common.timeline import NO_KIND, Timeline
from wavewright.analysis.trace.code.marker_scopes import marker_scopes
from wavewright.analysis.trace.timeline.layers.places import SLOT, aligned, bounds, cell_bits, slot_tracks, track_of
from wavewright.model.trace import ThreadTrace

_DEEPEST = 7  #: Scopes nested deeper share the track of this depth.


def markers(trace: ThreadTrace) -> Timeline:
    """Scopes from entering to leaving, a track per slot and depth; points are moments; items are rows of `scopes`."""
    scopes = marker_scopes(trace).scopes.with_columns(pl.col("depth").clip(upper_bound=_DEEPEST))
    names = scopes.select("kind", "name").unique(maintain_order=True).with_row_index("number")
    names = names.with_columns(pl.col("number").clip(upper_bound=NO_KIND))
    kinds = tuple(
        {"kind": row["number"], "name": row["name"], "marker": row["kind"]} for row in names.head(NO_KIND).to_dicts()
    )
    slots = slot_tracks(trace, scopes).rename({"track": "place"})
    tracks = scopes.select(*SLOT, "depth").unique().join(slots, on=SLOT).sort("place", "depth").with_row_index("track")
    label = pl.format("{} depth {}", "label", "depth")
    tracks = tracks.select("track", label.alias("label"), "group", *SLOT, "depth")

    def spans() -> pl.DataFrame:
        kind = scopes.join(names, on=["kind", "name"], how="left", maintain_order="left")["number"].cast(pl.UInt16)
        return scopes.select(
            track_of(tracks, scopes, (*SLOT, "depth")),
            begin=aligned(trace, "start_cycles"),
            end=aligned(trace, "end_cycles"),
            kind=kind,
        )

    begin, end = bounds(trace)
    return Timeline(
        "markers", "Markers", "cycles", begin, end, cell_bits(trace), tracks=tracks, kinds=kinds, spans=spans
    )


def shader_data(trace: ThreadTrace) -> Timeline:
    """The moments at which waves wrote shader data; items are rows of `shader_data`."""
    table = trace.shader_data
    tracks = slot_tracks(trace, table)
    begin, end = bounds(trace)
    return Timeline(
        "shader_data", "Shader data", "cycles", begin, end, cell_bits(trace),
        tracks=tracks, kinds=({"kind": 0, "name": "shader data", "colour": "CONTEXT"},),
        spans=lambda: table.select(
            track_of(tracks, table), begin=aligned(trace, "time_cycles"), end=aligned(trace, "time_cycles"),
            kind=pl.lit(0, pl.UInt16),
        ),
    )  # fmt: skip
