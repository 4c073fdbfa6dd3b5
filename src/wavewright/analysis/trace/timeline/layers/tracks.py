"""Tracks of the hardware: one for every slot of a SIMD that something ran in."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from wavewright.model.trace import ThreadTrace

SLOT = ("se", "cu", "simd", "slot")


def slot_tracks(trace: ThreadTrace, places: pl.DataFrame) -> pl.DataFrame:
    """A track for every slot that occurs among `places`, by shader engine, CU, SIMD and slot."""
    slots = places.select(SLOT).unique().sort(SLOT)
    label = pl.format("SIMD {} slot {}", "simd", "slot")
    return slots.with_row_index("track").select("track", label.alias("label"), unit_name(trace).alias("group"), *SLOT)


def track_of(tracks: pl.DataFrame, frame: pl.DataFrame, keys: Iterable[str] = SLOT) -> pl.Series:
    """The track of every row of a frame that has the columns that identify tracks."""
    keys = list(keys)
    joined = frame.select(keys).join(tracks.select("track", *keys), on=keys, how="left", maintain_order="left")
    return joined["track"]


def unit_name(trace: ThreadTrace) -> pl.Expr:
    """The usual name of the compute unit of a row."""
    if trace.gfxip <= 9:
        return pl.format("SE {} CU {}", "se", "cu")
    return pl.format("SE {} SA {} WGP {}", "se", pl.col("cu") // 128, pl.col("cu") % 128)
