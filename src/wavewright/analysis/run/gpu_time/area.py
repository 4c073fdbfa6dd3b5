"""Events by name on some tracks of a run's timeline in a window of time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.gpu_time.timeline import RunTimeline
from wavewright.model.answer import Answer


@dataclass(frozen=True)
class RunArea(Answer, package=__package__):
    """The events of some tracks in a window of time, by name."""

    names: pl.DataFrame
    event_count: int
    total_ns: int
    track_count: int


def run_area(timeline: RunTimeline, tracks: Collection[int] | None, start_ns: int, end_ns: int) -> RunArea:
    """The events of tracks of a timeline (None = all) from one time to another, in ns since the start of their node."""
    numbers = timeline.tracks["track"].to_list() if tracks is None else list(tracks)
    first, last = pl.lit(start_ns, pl.Int64), pl.lit(end_ns, pl.Int64)
    is_moment = (pl.col("start_ns") == pl.col("end_ns")) & (pl.col("start_ns") >= first)
    is_inside = (pl.col("start_ns") < last) & ((pl.col("end_ns") > first) | is_moment)
    inside = timeline.spans.filter(pl.col("track").is_in(numbers), is_inside).sort("start_ns", "item")
    length = pl.min_horizontal("end_ns", last) - pl.max_horizontal("start_ns", first)
    longest = pl.col("item", "start_ns").sort_by("length", descending=True, maintain_order=True).first()
    sums = (
        inside.with_columns(length=length)
        .group_by("kind")
        .agg(
            pl.len().cast(pl.Int64).alias("event_count"),
            pl.col("length").sum().alias("total_ns"),
            pl.col("length").max().alias("max_ns"),
            pl.col("start_ns").first().alias("first_ns"),
            pl.col("item").first().cast(pl.Int64).alias("first_item"),
            longest.name.prefix("longest_"),
        )
    )
    total = int(sums["total_ns"].sum())
    names = (
        sums.join(timeline.kinds.select("kind", "name"), on="kind", how="left")
        .with_columns(
            pl.col("longest_item").cast(pl.Int64),
            longest_ns=pl.col("longest_start_ns"),
            mean_ns=pl.col("total_ns") / pl.col("event_count"),
            share=pl.col("total_ns") / (total or 1),
        )
        .sort("total_ns", "event_count", "kind", descending=[True, True, False])
        .select(RunArea.tables["names"].names)
    )
    return RunArea(names, inside.height, total, len(numbers))
