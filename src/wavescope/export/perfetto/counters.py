"""Counter tracks: values of dispatches, bytes being copied, bytes allocated, clocks and power."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from wavescope.export.perfetto.tracks import Tracks
    from wavescope.model.profile import Profile

__all__ = ["DispatchCounters", "allocation_points", "copy_points", "monitor_points", "sample_points"]

_POINT = {"track": pl.UInt64, "time_ns": pl.Int64, "value": pl.Float64}


class DispatchCounters:
    """The counters of every dispatch: one column per counter, instances added up."""

    def __init__(self, profile: Profile, tracks: Tracks) -> None:
        self._tracks = tracks
        info = profile.read("counter_info", ["counter", "name"])
        rows = profile.read("counters", ["process", "event", "time_ns", "counter", "value"])
        rows = rows.filter(pl.col("event").is_not_null(), pl.col("time_ns").is_null())
        summed = rows.join(info, on="counter").group_by("process", "event", "name").agg(pl.col("value").sum())
        self.names = sorted(summed["name"].unique().drop_nulls())
        self._columns = {name: f"counter {number}" for number, name in enumerate(self.names)}
        wide = summed.pivot("name", index=["process", "event"], values="value") if self.names else None
        self._values = None if wide is None else wide.rename(self._columns)

    def joined(self, work: pl.DataFrame) -> pl.DataFrame:
        """The rows with a column for each counter; see `columns`."""
        if self._values is None or "event" not in work.columns:
            return work
        return work.join(self._values, on=["process", "event"], how="left", maintain_order="left")

    def columns(self, work: pl.DataFrame) -> dict[str, pl.Series]:
        """Counters that any of these joined rows has, by name."""
        found = {name: work[column] for name, column in self._columns.items() if column in work.columns}
        return {name: values for name, values in found.items() if values.null_count() < work.height}

    def points(self, work: pl.DataFrame) -> pl.DataFrame:
        """The value from the begin of a dispatch, 0 from its end."""
        found = [pl.DataFrame(schema=_POINT)]
        for name, values in self.columns(work).items():
            rows = work.select("process", "agent", "begin_ns", "end_ns", values.alias("value"))
            rows = rows.filter(pl.col("value").is_not_null())
            rows = rows.with_columns(track=_tracks_of(rows, self._tracks, f"PMC {name}"))
            begins = rows.select("track", pl.col("begin_ns").alias("time_ns"), "value")
            ends = rows.select("track", pl.col("end_ns").alias("time_ns"), pl.lit(0.0).alias("value"))
            found.append(pl.concat([ends, begins]).sort("track", "time_ns", maintain_order=True))
        return pl.concat(found)


def _tracks_of(rows: pl.DataFrame, tracks: Tracks, name: str, *, is_bytes: bool = False) -> pl.Series:
    """The counter track `name` of each row's process and agent."""
    keys = rows.select("process", "agent")
    places = keys.unique(maintain_order=True)
    made = [tracks.counter(process, agent, name, is_bytes=is_bytes) for process, agent in places.iter_rows()]
    known = places.with_columns(pl.Series("track", made, dtype=pl.UInt64))
    return keys.join(known, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")["track"]


def _running_sums(changes: pl.DataFrame) -> pl.DataFrame:
    """Changes (track, time_ns, value) as the sum at each time."""
    at_once = changes.group_by("track", "time_ns").agg(pl.col("value").sum()).sort("track", "time_ns")
    return at_once.with_columns(pl.col("value").cum_sum().over("track").cast(pl.Float64))


def copy_points(profile: Profile, tracks: Tracks) -> pl.DataFrame:
    """How many bytes are being copied to each agent."""
    columns = ["process", "dst_agent", "begin_ns", "end_ns", "size_bytes"]
    copies = profile.read("copies", columns).rename({"dst_agent": "agent"})
    copies = copies.filter(pl.col("agent").is_not_null(), pl.col("begin_ns").ge(0), pl.col("size_bytes") > 0)
    copies = copies.with_columns(track=_tracks_of(copies, tracks, "COPY BYTES to {agent}", is_bytes=True))
    end = pl.max_horizontal("begin_ns", "end_ns")
    begins = copies.select("track", pl.col("begin_ns").alias("time_ns"), pl.col("size_bytes").alias("value"))
    ends = copies.select("track", end.alias("time_ns"), (-pl.col("size_bytes")).alias("value"))
    return _running_sums(pl.concat([begins, ends]))


def allocation_points(profile: Profile, tracks: Tracks) -> pl.DataFrame:
    """How many bytes are allocated on each agent. A release gives back what was last allocated at its address."""
    columns = ["process", "agent", "type", "level", "end_ns", "address", "size_bytes"]
    rows = profile.read("allocations", columns).filter(pl.col("end_ns").ge(0)).sort("end_ns", maintain_order=True)
    rows = rows.filter(pl.col("level").cast(pl.String).ne_missing("SCRATCH"))
    kind = pl.col("type").cast(pl.String)
    taken = rows.filter(kind == "ALLOC").select("process", "agent", "address", "end_ns", "size_bytes")
    released = rows.filter(kind == "FREE").select("process", "address", "end_ns")
    by_address = ["process", "address"]
    freed = released.join_asof(
        taken.with_columns(taken_ns=pl.col("end_ns")), on="end_ns", by=by_address, check_sortedness=False
    )
    freed = freed.filter(pl.col("taken_ns").is_not_null()).unique([*by_address, "taken_ns"], maintain_order=True)
    changes = pl.concat([
        taken.select("process", "agent", "end_ns", "size_bytes"),
        freed.select("process", "agent", "end_ns", -pl.col("size_bytes")),
    ]).filter(pl.col("agent").is_not_null())  # fmt: skip
    changes = changes.with_columns(track=_tracks_of(changes, tracks, "ALLOCATE BYTES on {agent}", is_bytes=True))
    return _running_sums(
        changes.select("track", pl.col("end_ns").alias("time_ns"), pl.col("size_bytes").alias("value"))
    )


def monitor_points(profile: Profile, tracks: Tracks) -> pl.DataFrame:
    """Clock, power, temperature: the value from the begin of each stretch of time; the last one again at its end."""
    rows = profile.read("monitors").filter(pl.col("process").is_not_null(), pl.col("value").is_not_null())
    found = [pl.DataFrame(schema=_POINT)]
    for (name,), part in rows.group_by([pl.col("name").cast(pl.String)], maintain_order=True):
        placed = part.with_columns(track=_tracks_of(part, tracks, str(name))).sort("track", "begin_ns")
        last = placed.group_by("track", maintain_order=True).last()
        found.append(placed.select("track", pl.col("begin_ns").alias("time_ns"), "value"))
        found.append(last.select("track", pl.col("end_ns").alias("time_ns"), "value"))
    return pl.concat(found)


def sample_points(profile: Profile, tracks: Tracks) -> pl.DataFrame:
    """Counters that were sampled over time, instances added up."""
    info = profile.read("counter_info", ["counter", "name", "agent"])
    rows = profile.read("counters", ["process", "time_ns", "counter", "value"])
    rows = rows.filter(pl.col("time_ns").is_not_null()).group_by("process", "time_ns", "counter").agg(pl.sum("value"))
    rows = rows.join(info, on="counter").sort("name", "agent", "time_ns")
    found = [pl.DataFrame(schema=_POINT)]
    for (name,), part in rows.group_by(["name"], maintain_order=True):
        found.append(part.select(_tracks_of(part, tracks, f"PMC {name}").alias("track"), "time_ns", "value"))
    return pl.concat(found)
