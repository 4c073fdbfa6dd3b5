"""The machine and the dispatches of a counter capture."""

from __future__ import annotations

from dataclasses import fields

import polars as pl

from wavewright.analysis.counters.raw import RawCounters
from wavewright.model import blocks
from wavewright.model.counters import System
from wavewright.words.counters.metric_text import figure
from wavewright.words.kit.declared_tables import declared_table


def system_table(system: System) -> blocks.Table:
    """Facts about the GPU with their sources, then the other fields of the capture about the node."""
    rows = []
    for field in fields(system):
        if field.name in ("said_by", "described"):
            continue
        value = getattr(system, field.name)
        text = "not known" if value is None else figure(value) if isinstance(value, float) else str(value)
        rows.append((field.name.replace("_", " "), text, system.said_by.get(field.name, "")))
    rows += [(name, text, "") for name, text in system.described.items()]
    columns = (blocks.Column("fact", "short"), blocks.Column("value"), blocks.Column("from"))
    return blocks.Table("1 System", columns, tuple(rows))


def dispatch_table(dispatches: pl.DataFrame, *, limit: int) -> blocks.Table:
    """The dispatches of the capture."""
    timed = dispatches.with_columns(time_ns=pl.col("end_ns") - pl.col("start_ns"))
    return declared_table("counters/system/dispatch", timed, limit=limit)


def raw_table(
    answer: RawCounters, *, limit: int, decimals: int | None = None, title: str = "amounts per dispatch"
) -> blocks.Table:
    """Counters as they were measured."""
    rows = answer.counters
    return declared_table(
        "counters/system/raw",
        rows,
        limit=limit,
        title=title,
        has_channels=bool(rows["channel_count"].sum()),
        mean=lambda row: figure(row["mean"], decimals),
        min=lambda row: figure(row["minimum"], decimals),
        max=lambda row: figure(row["maximum"], decimals),
        total=lambda row: figure(row["total"], decimals),
        has_units=bool((rows["unit"] != "").any()),
        has_passes=rows["pass"].n_unique() > 1,
    )
