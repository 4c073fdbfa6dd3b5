"""All quantities of every kernel: counters, launches, memory traffic, L2 channels and what other tools stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches, ranked_kernels
from wavewright.analysis.counters.l2 import L2, l2
from wavewright.analysis.counters.l2.verdict import findings, known_peak_share
from wavewright.analysis.counters.limiters.counter_values import derived_values, measured_values, with_derived
from wavewright.analysis.counters.limiters.evidence import EvidenceValue, QuantityValues
from wavewright.analysis.counters.limiters.launch_values import launch_values
from wavewright.base.bounds import BYTES_GB, bounded
from wavewright.base.words import amount
from wavewright.errors import WavewrightError
from wavewright.model.counters import CounterSet

#: Columns of `L2.kernels` that need to know how much a dispatch has to read.
_AGAINST_IDEAL = ("over_fetch", "useful_bytes_per_second", "useful_peak_share")


@dataclass(frozen=True)
class KernelTimes:
    """One kernel, and the time that its dispatches took."""

    kernel: int  #: Its rank by total duration; --kernel takes it.
    kernel_name: str
    dispatch_count: int
    duration_ns_total: float | None
    duration_ns_mean: float | None
    duration_share: float | None  #: Of all dispatches of the capture, or of the run: see `KernelLimit.is_time_of_run`.


@dataclass(frozen=True)
class KernelValues(KernelTimes):
    """The quantities of one kernel."""

    values: QuantityValues


@dataclass(frozen=True)
class AllValues:
    """The kernels that were asked for, the longest first, with their memory traffic and the notes of `l2` about it."""

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
    # Only the whole capture may show that a counter counted at all, so a choice of kernels alone does not cut it.
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
        values |= _time_of_idle_lanes(values)
        columns = ("dispatch_count", "duration_ns_total", "duration_ns_mean", "duration_share")
        times = {column: row[column] for column in columns}
        kernels.append(KernelValues(kernel=ranks[name], kernel_name=name or "", values=values, **times))
    total = float(order["duration_ns_total"].sum()) if order["duration_ns_total"].count() else None
    return AllValues(rows, order.height, total, tuple(kernels), traffic, notes)


def cut(counters: CounterSet, dispatches: pl.DataFrame) -> CounterSet:
    """The same capture with these dispatches only."""
    is_chosen = pl.col("dispatch").is_in(dispatches["dispatch"].implode())
    tables = dict(counters.tables) | {
        "dispatches": dispatches,
        "executions": counters.executions.filter(is_chosen),
        "stored_metrics": counters.stored_metrics.join(dispatches, on="kernel_name", how="semi", maintain_order="left"),
    }
    measured = {number: frame.filter(is_chosen) for number, frame in counters.measured.items()}
    return replace(counters, tables=tables, measured=measured)


def _time_of_idle_lanes(values: QuantityValues) -> QuantityValues:
    """Percent of the time that the vector ALU spends on lanes that are not active; empty = not measured."""
    busy, lanes = values.get("valu_busy"), values.get("active_lanes")
    if not (busy and lanes and busy.is_measured and lanes.is_measured):
        return {}
    idle = (busy.number or 0.0) * (1 - min(lanes.number or 0.0, 100.0) / 100)
    return {"idle_lanes_time": EvidenceValue("idle_lanes_time", idle)}


_REQUESTS = "TCC_REQ"  #: The counter of requests to a channel of L2.
_REQUESTS_METRIC = "18.3.0"  #: Id of the metric that shows it for every channel.

Sums = dict[str | None, list[float]]  #: Kernel name -> requests of each channel.


def channel_sums(counters: CounterSet) -> Sums:
    """Requests per channel of every kernel, in the pass that has most channels."""
    channel_counters = counters.counters.filter((pl.col("counter") == _REQUESTS) & pl.col("channel").is_not_null())
    names = counters.dispatches.select("dispatch", "kernel_name")
    best: Sums = {}
    for (number,), part in channel_counters.partition_by("pass", as_dict=True, maintain_order=True).items():
        columns = part["column"].to_list()
        rows = counters.measured[number].select("dispatch", *columns).drop_nulls()
        kernel_sums = rows.join(names, on="dispatch").group_by("kernel_name").agg(pl.col(columns).sum())
        for kernel, *values in kernel_sums.select("kernel_name", *columns).iter_rows():
            if len(values) > len(best.get(kernel, ())):
                best[kernel] = values
    return best


def channel_values(sums: list[float], channel_count: float | None, bandwidth: EvidenceValue | None) -> QuantityValues:
    """Imbalance of L2 channels, and the busiest channel's share of its peak."""
    reason = ""
    if not sums:
        reason = f"requests of single channels were not collected ({_REQUESTS}[i])"
    elif channel_count and len(sums) < channel_count:
        reason = f"only {len(sums)} of {channel_count:,.0f} channels were collected"
    elif sum(sums) <= 0:
        reason = "no requests were counted"
    if reason:
        missing, exists = () if sums else (_REQUESTS,), bandwidth is None or bandwidth.exists
        return {
            name: EvidenceValue(name, None, _REQUESTS_METRIC, missing=missing, reason=reason, exists=exists)
            for name in ("channel_imbalance", "busiest_channel")
        }
    times = max(sums) * len(sums) / sum(sums)  # the busiest channel against the mean of all
    if bandwidth is None or not bandwidth.is_measured or bandwidth.number is None:
        absence = bandwidth or EvidenceValue("l2_bandwidth", None, reason="not measured")
        busiest = EvidenceValue("busiest_channel", None, missing=absence.missing, reason=absence.reason)
    else:
        busiest = EvidenceValue("busiest_channel", bandwidth.number * times)
    return {
        "channel_imbalance": EvidenceValue("channel_imbalance", times, _REQUESTS_METRIC),
        "busiest_channel": busiest,
    }


_LEVELS = {"saturated": 2, "healthy": 1, "not bound": 0}  #: Answers about a busy memory -> level of the limiter.

#: Kernel name -> its row of `L2.kernels`, with the peak as `peak_bytes_per_second`.
Traffic = dict[str, dict[str, Any]]


@bounded(ideal_gb=BYTES_GB)
def traffic_of(counters: CounterSet, *, ideal_gb: float | None = None) -> tuple[Traffic, tuple[str, ...]]:
    """The row of `l2` for every kernel, and its notes; empty when `l2` has no result."""
    try:
        answer: L2 = l2(counters, ideal_gb=ideal_gb)
    except WavewrightError:
        return {}, ()
    peak = {"peak_bytes_per_second": answer.memory_bytes_per_second_peak}
    return {row["kernel_name"]: row | peak for row in answer.kernels.iter_rows(named=True)}, answer.notes


def uncounted_sides(row: dict[str, Any] | None) -> tuple[str, ...]:
    """The quantities of bytes from and to memory that no counter tells, the profiler's own ones neither."""
    sides = ("read", "write")
    return tuple(f"memory_{side}" for side in sides if (row or {}).get(f"{side}_bytes_mean") is None)


def memory_values(
    row: dict[str, Any] | None, missing: EvidenceValue, same: Mapping[str, EvidenceValue] | None = None
) -> QuantityValues:
    """Memory bandwidth, hit rate and 32-byte reads of one kernel.

    `missing` names the counters that were not collected; `same` are the values of metrics for the same quantities.
    """
    row = row or {}
    values = {}
    for quantity, column in (("l2_hit_rate", "hit_rate"), ("read_32b", "read_32b_share")):
        if row.get(column) is not None:
            counterpart = (same or {}).get(quantity)
            values[quantity] = EvidenceValue(quantity, 100 * row[column], counterpart.metric_id if counterpart else "")
    busy = findings(row)[-1]  # the last question of the decision tree: is the memory busy?
    share = known_peak_share(row)
    if row.get("read_bytes_mean") is None and (metric_value := _of_metrics(same or {}, missing.metric_id)):
        return values | {"memory_bandwidth": metric_value}
    if busy.kind not in _LEVELS or share is None:
        reason = busy.reason if share is not None else _why_not(row, missing.reason)
        unknown = EvidenceValue("memory_bandwidth", None, missing.metric_id, missing=missing.missing, reason=reason)
        return values | {"memory_bandwidth": unknown}
    rates = [row.get("read_bytes_per_second"), row.get("write_bytes_per_second")]
    sides = [(same or {}).get(name) for name in ("memory_read", "memory_write")]
    peak = row.get("peak_bytes_per_second")
    values["memory_bandwidth"] = EvidenceValue(
        "memory_bandwidth",
        100 * share,
        missing.metric_id or next((side.metric_id for side in sides if side), ""),
        amount=share * peak / 1e9 if peak else sum(rate for rate in rates if rate) / 1e9,
        amount_unit="GB/s",
        peak=peak / 1e9 if peak else None,
        level=1 if row.get("infinity_cache_bytes") and _LEVELS[busy.kind] else _LEVELS[busy.kind],
        is_at_least=row.get("peak_share") is None,
        remark="or of the Infinity Cache, which can hold all of it" if row.get("infinity_cache_bytes") else "",
    )
    return values


def _of_metrics(same: Mapping[str, EvidenceValue], metric_id: str) -> EvidenceValue | None:
    """The memory bandwidth from stored metrics of reads and writes; None = there are none."""
    reads, writes = same.get("memory_read"), same.get("memory_write")
    if not reads or not writes or reads.number is None or writes.number is None or not reads.peak:
        return None
    rate = reads.number + writes.number
    share = 100 * rate / reads.peak
    return EvidenceValue("memory_bandwidth", share, metric_id, amount=rate, amount_unit="GB/s", peak=reads.peak)


def _why_not(row: dict[str, Any], reason: str) -> str:
    """The reason why there is no share of the peak, with what is known of the bytes all the same."""
    rates = {side: row.get(f"{side}_bytes_per_second") for side in ("read", "write")}
    words = " and ".join(f"{amount(rate)} {side} per second" for side, rate in rates.items() if rate)
    if words:
        return f"{words}, but the peak bandwidth of this GPU is not known (--target)"
    if row.get("read_bytes_mean") is None and row.get("write_bytes_mean") is None:
        return reason or "bytes from and to memory were not counted"
    return "no sound timestamps"
