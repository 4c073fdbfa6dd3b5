"""Latency of each memory operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import polars as pl

from wavewright.analysis.trace.code.accesses import lanes_per_wave, requested_bytes
from wavewright.analysis.trace.code.row_places import located
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.memory_latency.level_counters import counter_latencies
from wavewright.analysis.trace.memory_latency.narrow import NEIGHBOURS, neighbours
from wavewright.analysis.trace.selection import at_rows
from wavewright.analysis.trace.waits.wait_producers import producer_kinds, resolve
from wavewright.model.answer import Answer
from wavewright.model.schema import TableSpec
from wavewright.model.trace import ThreadTrace


def traffic(trace: ThreadTrace, rows: pl.Series | None = None) -> pl.DataFrame:
    """Requested bytes of all executed accesses, or those of `rows` (`MemoryLatency.tables["traffic"]`)."""
    executed_rows = requested_bytes(trace).join(row_costs(trace).select("row", "hit_count"), on="row")
    executed_rows = at_rows(executed_rows, rows)
    waves = trace.waves.filter(pl.col("instruction_count") > 0)
    total, cycles = pl.col("requested_bytes_total"), cu_cycles(waves)
    return (
        executed_rows.with_columns(total=pl.col("requested_bytes") * pl.col("hit_count"))
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
        .select(MemoryLatency.tables["traffic"].names)
    )  # fmt: skip


def cu_cycles(waves: pl.DataFrame) -> int:
    """Cycles from the first start to the last end of these waves on each CU, added up over the CUs."""
    span = pl.col("end_cycles").max() - pl.col("start_cycles").min()
    return int(waves.group_by("se", "cu").agg(span=span)["span"].sum())


DISTRIBUTION_BINS = 36


@dataclass(frozen=True)
class MemoryLatency(Answer, package=__package__):
    """Latency of every memory operation, from waits and from counters."""

    tables: ClassVar[Mapping[str, TableSpec]] = {"neighbours": NEIGHBOURS}

    by_row: pl.DataFrame
    from_counters: pl.DataFrame
    exposure: pl.DataFrame
    traffic: pl.DataFrame
    neighbours: pl.DataFrame
    lane_count: int | None  #: Lanes of a wave; None = not known.
    cu_cycles: int  #: Cycles of the traced CUs, that of `requested_bytes_per_cycle`.
    traced_unit: str  #: What `requested_bytes_per_cycle` is of: a CU (gfx9), or the traced SIMD of a WGP (RDNA).
    target: str | None  #: GPU of the trace, as recorded.
    bin_cycles: int  #: Width of the bins of `distribution`.
    counter_interval_cycles: int  #: Sampling interval of the counters; 0 = the trace has none of them.


def memory_latency(trace: ThreadTrace, *, rows: pl.Series | None = None) -> MemoryLatency:
    """Latencies by code row; `rows` = only these."""
    samples = resolve(trace).samples
    measured, interval = counter_latencies(trace)
    samples = at_rows(samples, rows)
    measured = at_rows(measured, rows)
    table = _statistics(samples).join(producer_kinds(trace), on="row", how="left", maintain_order="left")
    longest = max(table["latency_cycles_p95"].to_list(), default=0)
    width = _round_width(longest / (DISTRIBUTION_BINS - 1))
    table = table.join(_distributions(samples, width), on="row", how="left", maintain_order="left")
    requested = requested_bytes(trace).select("row", "bytes_per_lane", "requested_bytes")
    table = table.join(requested, on="row", how="left", maintain_order="left")
    total = pl.col("bound_cycles_mean") * pl.col("sample_count")
    table = table.sort(total, "row", descending=[True, False])
    return MemoryLatency(
        by_row=located(table, trace).select(MemoryLatency.tables["by_row"].names),
        from_counters=located(measured, trace).select(MemoryLatency.tables["from_counters"].names),
        exposure=_exposure(trace, rows),
        traffic=traffic(trace, rows),
        neighbours=neighbours(trace, rows),
        lane_count=lanes_per_wave(trace),
        cu_cycles=cu_cycles(trace.waves.filter(pl.col("instruction_count") > 0)),
        traced_unit="CU" if trace.gfxip in (0, 9) else "SIMD",
        target=trace.source.target,
        bin_cycles=width,
        counter_interval_cycles=interval,
    )


def _exposure(trace: ThreadTrace, rows: pl.Series | None) -> pl.DataFrame:
    """Hidden and exposed cycles of the waves' time, part by part."""
    costs = row_costs(trace)
    costs = at_rows(costs, rows)
    sides = ("hidden", "exposed")
    rows_of_parts = [
        (part, *(int(costs[f"{side}_{part}_cycles_total"].sum()) for side in sides))
        for part in ("stall", "issue", "idle")
    ]
    schema = {"part": pl.String, **{f"{side}_cycles_total": pl.Int64 for side in sides}}
    frame = pl.DataFrame(rows_of_parts, schema=schema, orient="row")
    total = pl.col("hidden_cycles_total") + pl.col("exposed_cycles_total")
    share = (pl.col("exposed_cycles_total") / total).fill_nan(0.0)
    return frame.with_columns(cycles_total=total, exposed_share=share).select(MemoryLatency.tables["exposure"].names)


def _shown(samples: pl.DataFrame) -> pl.DataFrame:
    """The tight samples of rows that have some, all samples of the others."""
    tight = samples.filter(pl.col("is_tight") == 1)
    others = samples.join(tight.select("row").unique(), on="row", how="anti")
    merged = others.group_by("row", "latency_cycles").agg(pl.col("count").sum())
    return pl.concat([tight.select("row", "latency_cycles", "count"), merged])


def _statistics(samples: pl.DataFrame) -> pl.DataFrame:
    """Mean, spread and percentiles of the latencies of every row."""
    value, count = pl.col("latency_cycles").cast(pl.Float64), pl.col("count")
    mean = (value * count).sum() / count.sum()
    spread = ((value - mean) ** 2 * count).sum()
    values = pl.col("latency_cycles").cast(pl.Int64)
    statistics = (
        _shown(samples)
        .sort("row", "latency_cycles")
        .group_by("row", maintain_order=True)
        .agg(
            latency_cycles_mean=mean,
            latency_cycles_sd=pl.when(count.sum() > 1).then((spread / (count.sum() - 1)).sqrt()),
            latency_cycles_min=values.first(),
            latency_cycles_p50=values.filter(count.cum_sum() >= 0.5 * count.sum()).first(),
            latency_cycles_p95=values.filter(count.cum_sum() >= 0.95 * count.sum()).first(),
            latency_cycles_max=values.last(),
        )
    )
    tight = pl.col("is_tight") == 1
    counts = samples.group_by("row").agg(
        sample_count=count.sum(), tight_count=count.filter(tight).sum(), bound_cycles_mean=mean
    )
    return statistics.join(counts, on="row").with_columns(is_bound=pl.col("tight_count") == 0)


def _round_width(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... that is not below `least`: edges of bins are round numbers."""
    widths = (int(factor * 10**power) for power in count() for factor in (1, 2, 5))
    return next(width for width in widths if width >= least)


def _distributions(samples: pl.DataFrame, width: int) -> pl.DataFrame:
    """The counts of every row in the bins of its distribution, as lists."""
    bins = pl.DataFrame({"bin": range(DISTRIBUTION_BINS)}, schema={"bin": pl.UInt32})
    binned = (
        _shown(samples)
        .group_by("row", (pl.col("latency_cycles") // width).clip(upper_bound=DISTRIBUTION_BINS - 1).alias("bin"))
        .agg(pl.col("count").sum())
    )
    return (
        binned.select("row")
        .unique()
        .join(bins, how="cross")
        .join(binned, on=["row", "bin"], how="left")
        .sort("row", "bin")
        .group_by("row", maintain_order=True)
        .agg(distribution=pl.col("count").fill_null(0).cast(pl.UInt32))
    )
