"""Memory instructions of the SIMD next to the traced one (gfx11 and later)."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.common.timeline import Timeline
from wavewright.analysis.trace.timeline.layers.places import (
    aligned,
    bounds,
    category_kinds,
    cell_bits,
    track_of,
    unit_name,
)
from wavewright.model.trace import ThreadTrace

_UNIT = ("se", "cu", "simd")


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
    begin, end = bounds(trace)
    time = aligned(trace, "time_cycles")
    return Timeline(
        "other_simd", "Neighbour SIMD", "cycles", begin, end, cell_bits(trace),
        tracks=tracks, kinds=category_kinds(trace),
        spans=lambda: table.select(
            track_of(tracks, table, _UNIT), begin=time, end=time + pl.col("duration_cycles").cast(pl.Int64),
            kind=pl.col("category").cast(pl.UInt16),
        ),
    )  # fmt: skip
