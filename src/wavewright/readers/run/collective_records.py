"""Collectives that a library or a framework logged by itself: the extra table `collective_records` of a run.

`recorder` is who wrote a row; null = it does not say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from wavewright.model.losses import Loss
from wavewright.model.run import MemorySource
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of

TABLE = "collective_records"
RECORD_COLUMNS: dict[str, Any] = {
    "process": pl.UInt32, "rank": pl.Int32, "recorder": pl.String, "group": pl.String, "group_size": pl.Int64,
    "group_ranks": pl.String, "sequence": pl.Int64, "collective": pl.String, "is_point_to_point": pl.Boolean,
    "size_bytes": pl.Int64, "shapes": pl.String, "state": pl.String, "start_ns": pl.Int64, "duration_ns": pl.Int64,
    "time_source": pl.String, "algorithm_bytes_per_second": pl.Float64, "bus_bytes_per_second": pl.Float64,
    "site": pl.String,
}  # fmt: skip
MOST_RECORDS = 5_000_000


def records_source(
    path: Path, form: str, version: str, rows: list[dict[str, Any]], losses: list[Loss], **process: Any
) -> MemorySource:
    """A run of one process that has nothing but such records."""
    records = pl.DataFrame(rows, schema={name: RECORD_COLUMNS[name] for name in RECORD_COLUMNS}, strict=False)
    ranks = records["rank"].drop_nulls().unique()
    about = {"process": 0, "source": 0, "guid": "", "rank": ranks[0] if ranks.len() == 1 else None} | process
    hostname = about.pop("hostname", None)
    nodes = [{"node": 0, "hostname": hostname}] if hostname else []
    tables = {
        "nodes": frame_of(RUN["nodes"], nodes),
        "processes": frame_of(RUN["processes"], [about | ({"node": 0} if nodes else {})]),
    }
    records = records.with_columns(process=pl.lit(0, pl.UInt32))
    return MemorySource(str(path), form, version, tables, losses, {TABLE: records})


def whole(value: Any, largest: int = 1 << 62) -> int | None:
    """A number without a fraction, from 0 on; also of text, as JSON of some writers has it."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= largest else None


def amount(value: Any, unit: float = 1.0) -> float | None:
    """A finite number from 0 on, in `unit`."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e18
    return float(value) * unit if is_number else None
