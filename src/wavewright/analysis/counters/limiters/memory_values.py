"""Memory bandwidth as `wavewright l2` judges it: the same numbers and the same decision tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wavewright.analysis.counters.l2 import L2, l2
from wavewright.analysis.counters.l2.verdict import L2Finding, findings, known_peak_share
from wavewright.analysis.counters.limiters.evidence import EvidenceValue
from wavewright.base.bounds import BYTES_GB, bounded
from wavewright.base.words import amount
from wavewright.errors import WavewrightError
from wavewright.model.counters import CounterSet

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
) -> dict[str, EvidenceValue]:
    """Memory bandwidth, hit rate and 32-byte reads of one kernel.

    `missing` says which counters lack, if any; `same` are values of the same quantities, whose metrics have ids.

    Examples
    --------
    >>> row = {"kernel_name": "copy", "hit_rate": 0.02, "peak_share": 0.55, "read_32b_share": 0.0}
    >>> found = memory_values(row, EvidenceValue("memory_bandwidth", None))
    >>> found["memory_bandwidth"].number, found["memory_bandwidth"].level
    (55.00000000000001, 1)
    """
    row = row or {}
    values = {}
    for quantity, column in (("l2_hit_rate", "hit_rate"), ("read_32b", "read_32b_share")):
        if row.get(column) is not None:
            counterpart = (same or {}).get(quantity)
            values[quantity] = EvidenceValue(quantity, 100 * row[column], counterpart.metric_id if counterpart else "")
    busy = busy_memory(row)
    share = known_peak_share(row)
    if row.get("read_bytes_mean") is None and (stored := _of_metrics(same or {}, missing.metric_id)):
        return values | {"memory_bandwidth": stored}
    if busy.kind not in _LEVELS or share is None:
        reason = busy.reason if share is not None else _why_not(row, missing.reason)
        values["memory_bandwidth"] = EvidenceValue(
            "memory_bandwidth", None, missing.metric_id, missing=missing.missing, reason=reason
        )
        return values
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
    """From metrics that another tool stored instead of counters."""
    read, written = same.get("memory_read"), same.get("memory_write")
    if not read or not written or read.number is None or written.number is None or not read.peak:
        return None
    rate = read.number + written.number
    return EvidenceValue(
        "memory_bandwidth", 100 * rate / read.peak, metric_id, amount=rate, amount_unit="GB/s", peak=read.peak
    )


def _why_not(row: dict[str, Any], reason: str) -> str:
    """The reason why there is no share of the peak, with what is known of the bytes all the same."""
    rates = {side: row.get(f"{side}_bytes_per_second") for side in ("read", "write")}
    words = " and ".join(f"{amount(rate)} {side} per second" for side, rate in rates.items() if rate)
    if words:
        return f"{words}, but the peak bandwidth of this GPU is not known (--target)"
    if row.get("read_bytes_mean") is None and row.get("write_bytes_mean") is None:
        return reason or "bytes from and to memory were not counted"
    return "no sound timestamps"


def busy_memory(row: dict[str, Any]) -> L2Finding:
    """The last question of the tree: is the memory busy?"""
    return findings(row)[-1]
