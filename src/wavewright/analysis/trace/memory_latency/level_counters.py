"""Latencies from counters that say how many memory operations are in flight (rcv_features 2.8)."""

from __future__ import annotations

from typing import Final

import polars as pl

from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

#: Counter -> categories of the instructions that it counts.
LEVELS = {"SQ_INST_LEVEL_VMEM": (3, 4), "SQ_INST_LEVEL_LDS": (5,)}

DEFAULT_INTERVAL_CYCLES = 40

_MEANS = ("latency_cycles_mean", "latency_cycles_sd", "error_cycles", "stall_cycles_mean", "issue_cycles_mean")
_SCHEMA: Final = {"row": pl.Int32, "counter": pl.String, "sample_count": pl.Int64, **dict.fromkeys(_MEANS, pl.Float64)}


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
        return pl.DataFrame(schema=_SCHEMA), 0
    recorded = [value for value in trace.shader_engines["counter_interval_cycles"].drop_nulls() if value]
    interval = int(min(recorded, default=DEFAULT_INTERVAL_CYCLES))
    engines = trace.sampled_counters["se"].unique().sort()
    places = [(se, *counter) for counter in positions.items() for se in engines]
    ended = pl.concat([_of_engine(trace, *place, interval) for place in places])
    return _statistics(trace, ended, interval), interval


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
    begun = issues["issue"].search_sorted(samples["time_cycles"], side="right").cast(pl.Int64)
    observed = samples.with_columns(begun=begun).filter(pl.col("begun") < issues.height)
    complete = (observed["begun"] - observed["level"]).cum_max()
    if not observed.height:
        return issues.clear().select("row", "instruction", latency=pl.lit(0.0))
    number = pl.Series(range(issues.height), dtype=pl.Int64)
    at = complete.search_sorted(number, side="right").cast(pl.Int64)
    has_end = at < observed.height
    ended = issues.filter(has_end).with_columns(end=observed["time_cycles"].gather(at.filter(has_end)))
    duration = (pl.col("end") - pl.col("issue")).cast(pl.Float64)
    latency = pl.when(duration > interval).then(duration - interval / 2).otherwise(duration / 2)
    return ended.select("row", "instruction", latency=latency)


def _statistics(trace: ThreadTrace, ended: pl.DataFrame, interval: int) -> pl.DataFrame:
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
        .select(*_SCHEMA)
    )
