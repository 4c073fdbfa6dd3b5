"""Records of rocprof (v1), from its database or CSV, as tables of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.readers.run.event_rows import finished, link, numbered, with_numbers

_EVENTS = ("dispatches", "copies", "regions")
#: `name(value)`, where the value may be `{x(1) y(2)}` or the declaration of a function.
_ARGUMENT = r"\w+\((?:\{[^}]*\}|[^(){}]*(?:\([^()]*\)[^(){}]*)*)\)"
_SUFFIX = r"( \[clone \.kd\]| \(\.kd\)|\.kd)$"


def plain_name(name: pl.Expr) -> pl.Expr:
    """Names of kernels without the quotes and the suffix that rocprof leaves in some of its outputs.

    Examples
    --------
    >>> import polars as pl
    >>> pl.DataFrame({"name": ['"fill.kd"']}).select(plain_name(pl.col("name"))).item()
    'fill'
    """
    return name.str.strip_chars('"').str.replace(_SUFFIX, "")


def assembled(
    path: Path, form: str, events: Mapping[str, pl.DataFrame], losses: list[Loss], extras: Mapping[str, pl.DataFrame]
) -> MemorySource:
    """The run of events with the ids `pid`, `tid`, `device`, `queue_id` and `stream_id`."""
    tables: dict[str, pl.DataFrame] = {}
    processes = numbered(events.values(), ["pid"], "process")
    if not processes.height:
        processes = pl.DataFrame({"process": [0], "pid": [None]}, schema={"process": pl.UInt32, "pid": pl.Int64})
    tables["processes"] = processes.with_columns(source=pl.lit(0, pl.UInt32), guid=pl.lit(""))
    placed = {name: _with_process(events[name], processes) for name in _EVENTS if name in events}
    placed = with_numbers(placed, tables)
    agents = numbered(placed.values(), ["process", "device"], "agent")
    placed = {name: link(frame, agents, ["process", "device"], "agent") for name, frame in placed.items()}
    tables["agents"] = agents.with_columns(kind=pl.lit("GPU"), agent_id="device", absolute_index="device")
    first = 0
    for name, frame in placed.items():
        tables[name] = frame.with_columns(pl.int_range(first, first + frame.height).alias("event"))
        first += frame.height
    if "copies" in tables:
        tables["copies"] = _with_ends(tables["copies"])
    if "regions" in tables:
        tables["arguments"] = _arguments(tables["regions"])
    _add_counters(tables, events)
    return MemorySource(str(path), form, tables=finished(tables, losses), losses=losses, extras=extras)


def _with_process(frame: pl.DataFrame, processes: pl.DataFrame) -> pl.DataFrame:
    """Rows without a process id are of the first process."""
    return link(frame, processes, ["pid"], "process").with_columns(pl.col("process").fill_null(0))


def _with_ends(copies: pl.DataFrame) -> pl.DataFrame:
    """The GPU is the end that is not the host."""
    name = pl.col("name").cast(pl.String)
    return copies.with_columns(
        pl.when(~name.str.contains("(?i)HostTo")).then("agent").alias("src_agent"),
        pl.when(~name.str.contains("(?i)ToHost")).then("agent").alias("dst_agent"),
    )


def _arguments(calls: pl.DataFrame) -> pl.DataFrame:
    """The text of the arguments, `( name(value) name(value))`, taken apart."""
    parts = calls.select("process", "event", pl.col("text").str.extract_all(_ARGUMENT).alias("part"))
    parts = parts.filter(pl.col("part").list.len() > 0)
    parts = parts.with_columns(pl.int_ranges(pl.col("part").list.len()).alias("position")).explode("part", "position")
    name, value = pl.col("part").str.extract(r"^(\w+)"), pl.col("part").str.extract(r"^\w+\((.*)\)$")
    return parts.select("process", "event", "position", name.alias("name"), value.alias("value"))


def _add_counters(tables: dict[str, pl.DataFrame], events: Mapping[str, pl.DataFrame]) -> None:
    """`counters` has the row of the dispatch, the name and the value of each."""
    if "counters" not in events:
        return
    dispatches = tables["dispatches"].select("process", "event").with_row_index("row")
    values = (
        events["counters"].with_columns(pl.col("row").cast(pl.UInt32)).join(dispatches, on="row", maintain_order="left")
    )
    tables["counter_info"] = numbered([values], ["process", "name"], "counter")
    tables["counters"] = link(values, tables["counter_info"], ["process", "name"], "counter")
