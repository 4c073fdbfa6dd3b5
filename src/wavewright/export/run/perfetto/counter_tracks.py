"""Counter tracks: values of dispatches, bytes being copied, bytes allocated, clocks and power."""

from __future__ import annotations

from functools import partial

import polars as pl

from wavewright.analysis.run.memory.counter_points import allocated_bytes, copied_bytes, monitored, sampled_counters
from wavewright.export.run.labels import per_distinct_row
from wavewright.export.run.perfetto.tracks import Tracks
from wavewright.model.run import Run

_POINT = {"track": pl.UInt64, "time_ns": pl.Int64, "value": pl.Float64}


class DispatchCounters:
    """The counters of every dispatch: one column per counter, instances added up."""

    def __init__(self, run: Run, tracks: Tracks) -> None:
        self._tracks = tracks
        info = run.read("counter_info", ["counter", "name"])
        rows = run.read("counters", ["process", "event", "time_ns", "counter", "value"])
        rows = rows.filter(pl.col("event").is_not_null(), pl.col("time_ns").is_null())
        sums = rows.join(info, on="counter").group_by("process", "event", "name").agg(pl.col("value").sum())
        self.names = sorted(sums["name"].unique().drop_nulls())
        self._columns = {name: f"counter {number}" for number, name in enumerate(self.names)}
        wide = sums.pivot("name", index=["process", "event"], values="value") if self.names else None
        self._values = None if wide is None else wide.rename(self._columns)

    def joined(self, work: pl.DataFrame) -> pl.DataFrame:
        """The dispatches with a column for each counter, which `columns` finds again."""
        if self._values is None or "event" not in work.columns:
            return work
        return work.join(self._values, on=["process", "event"], how="left", maintain_order="left")

    def columns(self, work: pl.DataFrame) -> dict[str, pl.Series]:
        """Counter name -> its values in joined rows, for the counters that any of them has."""
        columns = {name: work[column] for name, column in self._columns.items() if column in work.columns}
        return {name: values for name, values in columns.items() if values.null_count() < work.height}

    def points(self, work: pl.DataFrame) -> pl.DataFrame:
        """The points of counter tracks: the value from the start of a dispatch, 0 from its end."""
        parts = [pl.DataFrame(schema=_POINT)]
        for name, values in self.columns(work).items():
            rows = work.select("process", "agent", "start_ns", "end_ns", values.alias("value"))
            rows = rows.filter(pl.col("value").is_not_null())
            rows = rows.with_columns(track=_tracks_of(rows, self._tracks, f"PMC {name}"))
            begins = rows.select("track", pl.col("start_ns").alias("time_ns"), "value")
            ends = rows.select("track", pl.col("end_ns").alias("time_ns"), pl.lit(0.0).alias("value"))
            parts.append(pl.concat([ends, begins]).sort("track", "time_ns", maintain_order=True))
        return pl.concat(parts)


def _tracks_of(rows: pl.DataFrame, tracks: Tracks, name: str, *, is_bytes: bool = False) -> pl.Series:
    """The counter track `name` of each row's process and agent."""
    track = partial(tracks.counter, name=name, is_bytes=is_bytes)
    return per_distinct_row(rows.select("process", "agent"), track, pl.UInt64)


def _on_tracks(points: pl.DataFrame, tracks: Tracks, label: str, *, is_bytes: bool = False) -> pl.DataFrame:
    """Points of curves with their counter track; `{name}` in the label stands for the name of the curve."""
    parts = [pl.DataFrame(schema=_POINT)]
    for (name,), part in points.group_by(["name"], maintain_order=True):
        track = _tracks_of(part, tracks, label.replace("{name}", str(name)), is_bytes=is_bytes)
        parts.append(part.select(track.alias("track"), "time_ns", "value"))
    return pl.concat(parts)


def copy_points(run: Run, tracks: Tracks) -> pl.DataFrame:
    """Bytes that are being copied to each agent, over time."""
    return _on_tracks(copied_bytes(run), tracks, "COPY BYTES to {agent}", is_bytes=True)


def allocation_points(run: Run, tracks: Tracks) -> pl.DataFrame:
    """Bytes that are allocated on each agent, over time."""
    return _on_tracks(allocated_bytes(run), tracks, "ALLOCATE BYTES on {agent}", is_bytes=True)


def monitor_points(run: Run, tracks: Tracks) -> pl.DataFrame:
    """Clock, power, temperature."""
    return _on_tracks(monitored(run), tracks, "{name}")


def sample_points(run: Run, tracks: Tracks) -> pl.DataFrame:
    """Counters that were sampled over time."""
    return _on_tracks(sampled_counters(run), tracks, "PMC {name}")
