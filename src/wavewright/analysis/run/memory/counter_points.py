"""Quantities that change over time: bytes being copied and allocated, clocks and power, counters sampled over time.

Every function gives the points of curves: `process`, `agent`, `name`, `time_ns` (clock of the node) and `value`, which
holds until the next point. Events without a time are left out.
"""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.memory.allocation_rows import allocation_rows
from wavewright.analysis.run.memory.memory import live_bytes
from wavewright.analysis.run.memory.reserved_pools import reserved_points
from wavewright.model.run import Run

_WHERE = ["process", "agent"]


def copied_bytes(run: Run) -> pl.DataFrame:
    """Bytes that are being copied to each agent."""
    columns = ["process", "dst_agent", "start_ns", "end_ns", "size_bytes"]
    copies = run.read("copies", columns).rename({"dst_agent": "agent"})
    copies = copies.filter(pl.col("agent").is_not_null(), pl.col("start_ns").ge(0), pl.col("size_bytes") > 0)
    begins = copies.select(*_WHERE, time_ns="start_ns", value="size_bytes")
    ends = copies.select(*_WHERE, time_ns=pl.max_horizontal("start_ns", "end_ns"), value=-pl.col("size_bytes"))
    return _running_sums(pl.concat([begins, ends]))


def allocated_bytes(run: Run) -> pl.DataFrame:
    """Bytes in use on each agent, as in `memory`; those of a framework's allocator by themselves."""
    live = live_bytes(run).filter(pl.col("agent").is_not_null(), pl.col("time_ns").ge(0))
    name = pl.when(pl.col("pool") == "FRAMEWORK").then(pl.lit("framework")).otherwise(pl.lit(""))
    return _last_at_once(live.with_columns(name=name, value="live_bytes"))


def memory_points(run: Run) -> pl.DataFrame:
    """Bytes in use on each agent, and what the allocator of a framework holds for them."""
    points = reserved_points(run, allocation_rows(run)).filter(pl.col("agent").is_not_null(), pl.col("time_ns").ge(0))
    points = points.with_columns(name=pl.lit("framework, reserved"), value="reserved_bytes")
    return pl.concat([allocated_bytes(run), _last_at_once(points)])


def _last_at_once(points: pl.DataFrame) -> pl.DataFrame:
    """The points; of several at one time, the last."""
    return _ordered(points.unique([*_WHERE, "name", "time_ns"], keep="last", maintain_order=True))


def monitored(run: Run) -> pl.DataFrame:
    """Clock, power, temperature: the value from the start of each interval; the last one again at its end."""
    rows = run.read("monitors").filter(pl.col("process").is_not_null(), pl.col("value").is_not_null())
    rows = rows.with_columns(pl.col("name").cast(pl.String).fill_null("")).sort("start_ns", maintain_order=True)
    units = run.read("counter_info", ["name", "units"]).filter(pl.col("units") != "").unique("name", keep="first")
    named = pl.concat_str("name", pl.lit(" ("), "units", pl.lit(")"))
    rows = rows.join(units, on="name", how="left", maintain_order="left").with_columns(pl.coalesce(named, "name"))
    last = rows.group_by(*_WHERE, "name", maintain_order=True).last()
    points = pl.concat([
        rows.select(*_WHERE, "name", time_ns="start_ns", value="value"),
        last.select(*_WHERE, "name", time_ns="end_ns", value="value"),
    ])  # fmt: skip
    return _ordered(points)


def sampled_counters(run: Run) -> pl.DataFrame:
    """Counters that were sampled over time, instances added up."""
    info = run.read("counter_info", ["counter", "name", "agent"])
    rows = run.read("counters", ["process", "time_ns", "counter", "value"])
    rows = rows.filter(pl.col("time_ns").is_not_null()).group_by("process", "time_ns", "counter").agg(pl.sum("value"))
    points = rows.join(info, on="counter").select(*_WHERE, "name", "time_ns", "value")
    return _ordered(points)


def dispatch_counters(run: Run) -> pl.DataFrame:
    """Counters of dispatches, instances added up: the value from the start of a dispatch, 0 from its end.

    Where dispatches with a counter overlap on a GPU, their values are added up.
    """
    info = run.read("counter_info", ["counter", "name"])
    rows = run.read("counters", ["process", "event", "time_ns", "counter", "value"])
    rows = rows.filter(pl.col("event").is_not_null(), pl.col("time_ns").is_null()).join(info, on="counter")
    values = rows.group_by("process", "event", "name").agg(pl.col("value").sum())
    dispatches = run.read("dispatches", ["process", "event", "agent", "start_ns", "end_ns"])
    dispatches = dispatches.filter(pl.col("start_ns").ge(0), pl.col("end_ns") > pl.col("start_ns"))
    counted = values.join(dispatches, on=["process", "event"])
    changes = pl.concat([
        counted.select(*_WHERE, "name", time_ns="start_ns", value="value"),
        counted.select(*_WHERE, "name", time_ns="end_ns", value=-pl.col("value")),
    ])  # fmt: skip
    return _running_sums(changes)


def _running_sums(changes: pl.DataFrame) -> pl.DataFrame:
    """Changes of a value as its sum at each time."""
    named = changes if "name" in changes.columns else changes.with_columns(name=pl.lit(""))
    keys = [*_WHERE, "name"]
    at_once = named.group_by(*keys, "time_ns").agg(pl.col("value").sum()).sort(*keys, "time_ns")
    return _ordered(at_once.with_columns(pl.col("value").cum_sum().over(keys).cast(pl.Float64)))


def _ordered(points: pl.DataFrame) -> pl.DataFrame:
    """The points with the columns of this module in their types, sorted by name, agent, process and time."""
    columns = [*_WHERE, pl.col("name").cast(pl.String), "time_ns", pl.col("value").cast(pl.Float64)]
    return points.select(columns).sort("name", "agent", "process", "time_ns", maintain_order=True)
