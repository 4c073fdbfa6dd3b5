"""The machine and the dispatches of a counter capture."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from wavewright.base.words import duration, grouped
from wavewright.model import blocks
from wavewright.words.counters.metric_text import figure
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.frame_tables import Column, frame_table

if TYPE_CHECKING:
    import polars as pl

    from wavewright.analysis.counters.raw import RawCounters
    from wavewright.model.counters import System


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
    columns = [
        Column("id", lambda row: grouped(row["dispatch_id"])),
        Column("GPU", lambda row: grouped(row["gpu"])),
        Column("time", lambda row: duration(_spent(row))),
        Column("grid", lambda row: grouped(row["grid_size"])),
        Column("workgroup", lambda row: grouped(row["workgroup_size"])),
        Column("VGPRs", lambda row: grouped(row["arch_vgprs"]), is_wide=True),
        Column("AGPRs", lambda row: grouped(row["accum_vgprs"]), is_wide=True),
        Column("SGPRs", lambda row: grouped(row["sgprs"]), is_wide=True),
        Column("LDS", lambda row: grouped(row["lds_bytes"]), is_wide=True),
        Column("kernel", lambda row: brief_kernel(row["kernel_name"], 200), takes_rest=True),
    ]
    return frame_table(dispatches, columns, limit=limit, what="dispatches")


def _spent(row: dict[str, Any]) -> float | None:
    return None if row["end_ns"] is None or row["start_ns"] is None else row["end_ns"] - row["start_ns"]


def raw_table(
    answer: RawCounters, *, limit: int, decimals: int | None = None, title: str = "amounts per dispatch"
) -> blocks.Table:
    """Counters as they were measured."""
    rows = answer.counters
    has_channels = bool(rows["channel_count"].sum())
    has_passes = rows["pass"].n_unique() > 1
    has_units = bool((rows["unit"] != "").any())
    columns = [
        Column("counter", lambda row: row["counter"], is_text=True, is_name=True),
        *([Column("channels", lambda row: grouped(row["channel_count"] or None))] if has_channels else []),
        Column("mean", lambda row: figure(row["mean"], decimals)),
        Column("min", lambda row: figure(row["minimum"], decimals)),
        Column("max", lambda row: figure(row["maximum"], decimals)),
        Column("total", lambda row: figure(row["total"], decimals), is_wide=True),
        *([Column("unit", lambda row: row["unit"], is_text=True)] if has_units else []),
        Column("dispatches", lambda row: grouped(row["dispatch_count"])),
        *([Column("pass", lambda row: row["pass_name"], is_text=True)] if has_passes else []),
    ]
    return frame_table(rows, columns, limit=limit, what="counters", title=title)
