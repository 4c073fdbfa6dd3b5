"""Code rows with what people need to find them, and with what their lanes cost: null unless somebody evaluated them."""

from __future__ import annotations

from typing import Final

import polars as pl

from wavewright.model.trace import ThreadTrace


def located(frame: pl.DataFrame, trace: ThreadTrace, *, row: str = "row") -> pl.DataFrame:
    """The frame with address, text, file and line of its code rows; `producer_row` gives `producer_address` etc."""
    prefix = row.removesuffix("row")
    names = {name: prefix + name for name in ("address", "text", "file", "line")}
    places = trace.code.select("row", *names).rename({"row": row, **names})
    return frame.join(places, on=row, how="left", maintain_order="left")


LANE_SUMS: Final = ("extra_lds_cycles_total", "segment_count_total")


def with_lane_sums(frame: pl.DataFrame, sums: pl.DataFrame | None) -> pl.DataFrame:
    """A frame with a `row`, with `LANE_SUMS` of `sums` (0 where it has no such row); None = null in all rows."""
    if sums is None:
        return frame.with_columns(pl.lit(None, pl.Int64).alias(name) for name in LANE_SUMS)
    return frame.join(sums, on="row", how="left", maintain_order="left").with_columns(pl.col(LANE_SUMS).fill_null(0))
