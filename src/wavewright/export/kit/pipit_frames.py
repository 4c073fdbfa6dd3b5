"""Frames of events in the format of Pipit: one row where something is entered, left, or happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.base.packages import require
from wavewright.facts.loader import packaged

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]

_COLUMNS: dict[str, str] = packaged("pipit_columns.toml", __package__)["pipit"]  #: Our column -> Pipit's.


def pipit_frame(ranges: pl.DataFrame, instants: pl.DataFrame) -> pd.DataFrame:
    """Pipit's frame of ranges and instants, which have `name`, `domain`, `rank`, `thread`, `start_ns`; ranges `end_ns`.

    Raises `MissingToolError` when pandas or pyarrow is not installed.
    """
    for package in ("pandas", "pyarrow"):
        require(package, "pandas")
    ranges = ranges.with_row_index("id").with_columns(has_duration=pl.col("end_ns") > pl.col("start_ns"))
    # Sorted by time, then phase, then nesting: of ranges that start together the longest is entered first.
    enter = ranges.with_columns(pl.lit("Enter").alias("type"), time="start_ns", phase=1, nesting=-pl.col("end_ns"))
    leave = ranges.with_columns(
        pl.lit("Leave").alias("type"),
        time="end_ns",
        # At equal times, ranges are left before others are entered, but those without duration after their entry.
        phase=pl.when("has_duration").then(0).otherwise(2),
        nesting=-pl.col("start_ns"),
    )
    moments = instants.with_columns(
        pl.lit("Instant").alias("type"), time="start_ns", phase=1, nesting=-pl.col("start_ns"), id=None
    )
    rows = pl.concat([enter, leave, moments], how="diagonal_relaxed")
    rows = rows.sort("time", "phase", "nesting", "id", nulls_last=True, maintain_order=True).with_row_index("row")
    return _frame(_matched(rows))


def _matched(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the row and the time of their partner: of the leave of an enter, and vice versa."""
    pairs = rows.drop_nulls("id").group_by("id").agg(first=pl.col("row").min(), last=pl.col("row").max())
    is_enter, is_leave = pl.col("type") == "Enter", pl.col("type") == "Leave"
    return rows.join(pairs, on="id", how="left", maintain_order="left").with_columns(
        partner=pl.when(is_enter).then("last").otherwise("first"),
        partner_time=pl.when(is_enter).then("end_ns").when(is_leave).then("start_ns"),
    )


def _frame(rows: pl.DataFrame) -> pd.DataFrame:
    chosen = rows.select(pl.col(name).alias(header) for name, header in _COLUMNS.items())
    frame: Any = chosen.with_columns(pl.col("Event Type", "Name", "Domain").cast(pl.Categorical)).to_pandas()
    types = {"Process": "category", "_matching_event": "Int64", "_matching_timestamp": "Int64"}
    return frame.astype(types)
