"""All quantities of every kernel: counters, launches, memory traffic, L2 channels and what other tools stored."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches, ranked_kernels
from wavewright.analysis.counters.limiters.channels import channel_sums, channel_values
from wavewright.analysis.counters.limiters.counter_values import measured_values
from wavewright.analysis.counters.limiters.evidence import EvidenceValue
from wavewright.analysis.counters.limiters.launch_values import launch_values
from wavewright.analysis.counters.limiters.memory_values import Traffic, memory_values, traffic_of, uncounted_sides
from wavewright.analysis.counters.limiters.profiler_values import derived_values, with_derived
from wavewright.model.counters import CounterSet

#: Columns of `L2.kernels` that need to know how much a dispatch has to read.
_AGAINST_IDEAL = ("over_fetch", "useful_bytes_per_second", "useful_peak_share")


@dataclass(frozen=True)
class KernelValues:
    """The quantities of one kernel."""

    kernel: int
    kernel_name: str
    dispatch_count: int
    duration_ns_total: float | None
    duration_ns_mean: float | None
    duration_share: float | None
    values: dict[str, EvidenceValue]


@dataclass(frozen=True)
class AllValues:
    """The kernels that were asked for, the longest first, and what was said about the traffic."""

    dispatches: pl.DataFrame
    kernel_count: int
    duration_ns_total: float | None
    kernels: tuple[KernelValues, ...]
    traffic: Traffic
    notes: tuple[str, ...]


def kernel_values(
    counters: CounterSet, choice: CounterChoice, *, top: int | None = None, ideal_gb: float | None = None
) -> AllValues:
    """Every quantity of the chosen kernels; `top` = of the longest ones only."""
    rows = chosen_dispatches(counters, choice)
    part = counters if rows.height == counters.dispatches.height else cut(counters, rows)
    ranking = ranked_kernels(counters.dispatches)
    ranks = dict(ranking.select("kernel_name", "kernel").iter_rows())
    order = ranked_kernels(rows, counters.run_times())
    if counters.run_times():
        order = order.sort("duration_share", descending=True, nulls_last=True, maintain_order=True)
    else:
        share = pl.col("duration_ns_total") / (ranking["duration_ns_total"].sum() or None)
        order = order.with_columns(duration_share=share)
    # What a counter of the whole capture tells, that it counted at all, a part of it may not.
    subset = counters if not (choice.dispatches or choice.gpus) else part
    traffic, notes = traffic_of(subset)
    if ideal_gb is not None:
        for name, row in traffic_of(part, ideal_gb=ideal_gb)[0].items():
            traffic[name] |= {column: row[column] for column in _AGAINST_IDEAL}
    by_counters, by_channel, by_profiler = measured_values(part), channel_sums(part), derived_values(part)
    own_rows = rows.partition_by("kernel_name", as_dict=True, maintain_order=True)
    kernels = []
    for row in order.head(order.height if top is None else top).iter_rows(named=True):
        name = row["kernel_name"]
        values = dict(by_counters.of(name))
        lacking = by_counters.lacking(name, *uncounted_sides(traffic.get(name)))
        values |= memory_values(traffic.get(name), lacking, values)
        values |= channel_values(by_channel.get(name, []), counters.system.l2_channel_count, values.get("l2_bandwidth"))
        values = with_derived(values, by_profiler.get(name))
        values |= launch_values(own_rows[(name,)], counters.system, values.get("occupancy"))
        values |= _made_of_others(values)
        kernels.append(
            KernelValues(
                kernel=ranks[name],
                kernel_name=name or "",
                dispatch_count=row["dispatch_count"],
                duration_ns_total=row["duration_ns_total"],
                duration_ns_mean=row["duration_ns_mean"],
                duration_share=row["duration_share"],
                values=values,
            )
        )
    total = float(order["duration_ns_total"].sum()) if order["duration_ns_total"].count() else None
    return AllValues(rows, order.height, total, tuple(kernels), traffic, notes)


def cut(counters: CounterSet, dispatches: pl.DataFrame) -> CounterSet:
    """The same capture with these dispatches only."""
    is_chosen = pl.col("dispatch").is_in(dispatches["dispatch"].implode())
    tables = dict(counters.tables) | {
        "dispatches": dispatches,
        "executions": counters.executions.filter(is_chosen),
        "stored_metrics": counters.stored_metrics.filter(
            pl.col("kernel_name").is_in(dispatches["kernel_name"].implode())
        ),
    }
    measured = {number: frame.filter(is_chosen) for number, frame in counters.measured.items()}
    return replace(counters, tables=tables, measured=measured)


def _made_of_others(values: dict[str, EvidenceValue]) -> dict[str, EvidenceValue]:
    derived = {}
    busy, lanes = values.get("valu_busy"), values.get("active_lanes")
    if busy and lanes and busy.is_measured and lanes.is_measured:
        idle = (busy.number or 0.0) * (1 - min(lanes.number or 0.0, 100.0) / 100)
        derived["idle_lanes_time"] = EvidenceValue("idle_lanes_time", idle)
    return derived
