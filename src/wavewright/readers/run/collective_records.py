"""Runs that are logs of collectives, written by a library or a framework: the extra table `collective_records`.

Its column `recorder` is the writer of a row; null = the log does not say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from wavewright.base.bounds import integer_of
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
RCCL = "RCCL"  #: A recorder: the log of the library itself.


def records_source(
    path: Path,
    form: str,
    version: str,
    rows: list[dict[str, Any]],
    losses: list[Loss],
    processes: list[tuple[str, int | None]],
) -> MemorySource:
    """A run that has nothing but such records, of `processes`: host name and pid of each, by their number."""
    records = pl.DataFrame(rows, schema=RECORD_COLUMNS, strict=False)
    ranks = dict(records.group_by("process").agg(pl.col("rank").drop_nulls().unique()).iter_rows())
    nodes = list(dict.fromkeys(host for host, _ in processes if host))
    process_rows = [
        {"process": number, "source": 0, "guid": "", "pid": pid, "node": nodes.index(host) if host else None,
         "rank": ranks[number][0] if len(ranks.get(number, ())) == 1 else None}
        for number, (host, pid) in enumerate(processes)
    ]  # fmt: skip
    tables = {
        "nodes": frame_of(RUN["nodes"], [{"node": number, "hostname": name} for number, name in enumerate(nodes)]),
        "processes": frame_of(RUN["processes"], process_rows),
    }
    return MemorySource(str(path), form, version, tables, losses, {TABLE: records})


def whole(value: Any, largest: int = 1 << 62) -> int | None:
    """An integer from 0 to `largest`, also one written as a string; None for anything else."""
    if isinstance(value, str):
        value = integer_of(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= largest else None


def amount(value: Any, unit: float = 1.0) -> float | None:
    """A number from 0 to 10^18, times `unit`; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e18
    return float(value) * unit if is_number else None
