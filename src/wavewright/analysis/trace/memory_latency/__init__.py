"""Latency of each memory operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, Final

import polars as pl

from wavewright.analysis.trace.code.accesses import lanes_per_wave, requested_bytes
from wavewright.analysis.trace.code.attribution import located
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.memory_latency.narrow import NEIGHBOURS, neighbours
from wavewright.analysis.trace.selection import at_rows
from wavewright.analysis.trace.waits.wait_producers import producer_kinds, resolve
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.schema import TableSpec, packaged_spec
from wavewright.model.trace import ThreadTrace


def traffic(trace: ThreadTrace, rows: pl.Series | None = None) -> pl.DataFrame:
    """Requested bytes of all executed accesses, or those of `rows` (`MemoryLatency.tables["traffic"]`)."""
    executed_rows = at_rows(requested_bytes(trace), rows).join(row_costs(trace).select("row", "hit_count"), on="row")
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


DISTRIBUTION_BINS = 36  #: Bins of `distribution`; the last one has all longer latencies.


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
    samples = at_rows(resolve(trace).samples, rows)
    of_counters, interval = counter_latencies(trace)
    measured = at_rows(of_counters, rows)
    table = _statistics(samples).join(producer_kinds(trace), on="row", how="left", maintain_order="left")
    width = _round_width(max(table["latency_cycles_p95"].to_list(), default=0) / (DISTRIBUTION_BINS - 1))
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
    costs = at_rows(row_costs(trace), rows)
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
    """The tight samples of rows that have some, all samples of the others: `row`, `latency_cycles`, `count`."""
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


#: Counter -> categories of the instructions that it counts.
LEVELS = {"SQ_INST_LEVEL_VMEM": (3, 4), "SQ_INST_LEVEL_LDS": (5,)}

DEFAULT_INTERVAL_CYCLES = 40  #: Sampling interval where the trace does not record it.

_COUNTER_SCHEMA: Final = packaged_spec(__package__, "counter_latencies").dtypes


@once_per_trace
def counter_latencies(trace: ThreadTrace) -> tuple[pl.DataFrame, int]:
    """Latencies by counter and code row, and the sampling interval; empty and 0 without such counters.

    Per shader engine the samples of the traced CU are taken. Where two are further apart than the interval, the
    level was zero one interval after the first. The n-th issue (by time of issue plus the number of its SIMD, which
    keeps equal times in a fixed order) is complete at the first sample at which fewer operations are in flight than
    were issued behind it; half an interval is taken off, or half of what is less than an interval.
    """
    positions = _positions(trace)
    if not positions or not trace.sampled_counters.height:
        return pl.DataFrame(schema=_COUNTER_SCHEMA), 0
    recorded = [value for value in trace.shader_engines["counter_interval_cycles"].drop_nulls() if value]
    interval = int(min(recorded, default=DEFAULT_INTERVAL_CYCLES))
    engines = trace.sampled_counters["se"].unique().sort()
    places = [(se, *counter) for counter in positions.items() for se in engines]
    ended = pl.concat([_of_engine(trace, *place, interval) for place in places])
    return _counter_statistics(trace, ended, interval), interval


def _positions(trace: ThreadTrace) -> dict[str, int]:
    """Level counters of the first bank and their columns; a SIMD mask may follow the name."""
    first = trace.counter_names.filter(pl.col("bank") == 0)
    positions = {name.partition(":")[0]: position for position, name in first.select("position", "name").iter_rows()}
    return {name: positions[name] for name in LEVELS if name in positions}


def _of_engine(trace: ThreadTrace, se: int, counter: str, position: int, interval: int) -> pl.DataFrame:
    """Issues of one shader engine whose end a sample showed."""
    waves = trace.waves.filter(pl.col("se") == se)
    cu = waves["cu"].drop_nulls().mode().sort().to_list()
    chosen = trace.sampled_counters.filter((pl.col("se") == se) & (pl.col("bank") == 0) & pl.col("cu").is_in(cu[:1]))
    samples = _filled(chosen.select("time_cycles", level=pl.col(f"value{position}").cast(pl.Int64)), interval)
    issue = pl.col("time_cycles") + pl.col("stall_cycles") + pl.col("simd").cast(pl.Int64)
    issues = (
        trace.instructions.with_row_index("instruction")
        .filter(pl.col("category").is_in(LEVELS[counter]))
        .join(waves.select("wave", "simd"), on="wave", maintain_order="left")
        .select("row", "instruction", issue=issue)
        .sort("issue", maintain_order=True)
    )
    if not samples.height or not issues.height:
        return issues.clear().select("row", "instruction", latency=pl.lit(0.0), counter=pl.lit(counter))
    return _ended(issues, samples, interval).with_columns(counter=pl.lit(counter))


def _filled(samples: pl.DataFrame, interval: int) -> pl.DataFrame:
    """The samples in order, with zeros where they pause, and a zero after the last."""
    if not samples.height:
        return samples
    step = pl.col("time_cycles").shift(-1) - pl.col("time_cycles")
    zeros = samples.filter(step > interval).with_columns(pl.col("time_cycles") + interval, level=pl.lit(0, pl.Int64))
    ordered = pl.concat([samples, zeros]).sort("time_cycles", maintain_order=True)
    end = ordered.tail(1).with_columns(pl.col("time_cycles") + interval, level=pl.lit(0, pl.Int64))
    return pl.concat([ordered, end])


def _ended(issues: pl.DataFrame, samples: pl.DataFrame, interval: int) -> pl.DataFrame:
    """The sample at which each issue ends. Samples after the last issue are ignored."""
    issued = issues["issue"].search_sorted(samples["time_cycles"], side="right").cast(pl.Int64)
    observed = samples.with_columns(issued=issued).filter(pl.col("issued") < issues.height)
    complete = (observed["issued"] - observed["level"]).cum_max()
    if not observed.height:
        return issues.clear().select("row", "instruction", latency=pl.lit(0.0))
    at = complete.search_sorted(pl.Series(range(issues.height), dtype=pl.Int64), side="right").cast(pl.Int64)
    has_end = at < observed.height
    ended = issues.filter(has_end).with_columns(end=observed["time_cycles"].gather(at.filter(has_end)))
    duration = (pl.col("end") - pl.col("issue")).cast(pl.Float64)
    latency = pl.when(duration > interval).then(duration - interval / 2).otherwise(duration / 2)
    return ended.select("row", "instruction", latency=latency)


def _counter_statistics(trace: ThreadTrace, ended: pl.DataFrame, interval: int) -> pl.DataFrame:
    costs = trace.instructions.select(
        stall=pl.col("stall_cycles").cast(pl.Int64),
        issue=pl.col("duration_cycles").cast(pl.Int64) - pl.col("stall_cycles").cast(pl.Int64),
    )
    count, spread = pl.len(), pl.col("latency").std().fill_null(0.0)
    bias = pl.when(count > 1).then((count.cast(pl.Float64) - 1.5).clip(lower_bound=0).sqrt()).otherwise(0.1)
    return (
        pl.concat([ended, costs[ended["instruction"]]], how="horizontal")
        .filter(pl.col("row") >= 0)
        .group_by("counter", "row")
        .agg(
            sample_count=count.cast(pl.Int64),
            latency_cycles_mean=pl.col("latency").mean(),
            latency_cycles_sd=spread,
            error_cycles=(spread**2 + interval**2 / 3).sqrt() / bias,
            stall_cycles_mean=pl.col("stall").mean(),
            issue_cycles_mean=pl.col("issue").mean(),
        )
        .sort("latency_cycles_mean", "row", descending=[True, False])
        .select(*_COUNTER_SCHEMA)
    )
