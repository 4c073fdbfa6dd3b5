"""Bytes that the traced waves requested, by memory, direction and width."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.trace.code.access_bytes import requested_bytes
from wavewright.analysis.trace.costs.exposure import row_costs
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

TRAFFIC = packaged_spec(__package__, "traffic")


def traffic(trace: ThreadTrace, rows: pl.Series | None = None) -> pl.DataFrame:
    """Requested bytes of all executed accesses, or those of `rows` (`TRAFFIC`)."""
    executed = requested_bytes(trace).join(row_costs(trace).select("row", "hit_count"), on="row")
    if rows is not None:
        executed = executed.filter(pl.col("row").is_in(rows.implode()))
    waves = trace.waves.filter(pl.col("instruction_count") > 0)
    total, cycles = pl.col("requested_bytes_total"), cu_cycles(waves)
    return (
        executed.with_columns(total=pl.col("requested_bytes") * pl.col("hit_count"))
        .group_by("space", "direction", "bytes_per_lane")
        .agg(
            row_count=pl.len().cast(pl.Int64),
            execution_count=pl.col("hit_count").sum(),
            requested_bytes_total=pl.when(pl.col("total").is_not_null().all()).then(pl.col("total").sum()),
        )
        .with_columns(
            requested_bytes_per_wave=total / max(waves.height, 1),
            requested_bytes_per_cycle=total / cycles if cycles else pl.lit(None, pl.Float64),
        )
        .sort("requested_bytes_total", "space", "direction", "bytes_per_lane", descending=[True, *[False] * 3],
              nulls_last=True)
        .select(TRAFFIC.names)
    )  # fmt: skip


def cu_cycles(waves: pl.DataFrame) -> int:
    """Cycles from the first start to the last end of these waves on each CU, added up over the CUs."""
    span = pl.col("end_cycles").max() - pl.col("start_cycles").min()
    return int(waves.group_by("se", "cu").agg(span=span)["span"].sum())
