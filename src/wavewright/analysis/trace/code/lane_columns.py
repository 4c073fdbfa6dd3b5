"""Columns about lanes in tables of code rows and source lines: null unless somebody evaluated the lanes for them."""

from __future__ import annotations

from typing import Final

import polars as pl

LANE_SUMS: Final = ("extra_lds_cycles_total", "segment_count_total")


def with_lane_sums(frame: pl.DataFrame, sums: pl.DataFrame | None) -> pl.DataFrame:
    """A frame with a `row`, with `LANE_SUMS` of `sums` (0 where it has no such row); None = null in all rows."""
    if sums is None:
        return frame.with_columns(pl.lit(None, pl.Int64).alias(name) for name in LANE_SUMS)
    return frame.join(sums, on="row", how="left", maintain_order="left").with_columns(pl.col(LANE_SUMS).fill_null(0))
