"""Memory bandwidth as `wavewright l2` judges it: the same numbers and the same decision tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.counters.l2 import l2
from wavewright.analysis.counters.l2.verdict import findings, known_peak_share
from wavewright.analysis.counters.limiters.evidence import EvidenceValue
from wavewright.base.bounds import BYTES_GB, bounded
from wavewright.errors import WavewrightError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.analysis.counters.l2 import L2
    from wavewright.analysis.counters.l2.verdict import L2Finding
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
        reason = missing.reason if missing.missing else _why_not(row) or busy.reason
        values["memory_bandwidth"] = EvidenceValue(
            "memory_bandwidth", None, missing.metric_id, missing=missing.missing, reason=reason
        )
        return values
    rates = [row.get("read_bytes_per_second"), row.get("write_bytes_per_second")]
    peak = row.get("peak_bytes_per_second")
    values["memory_bandwidth"] = EvidenceValue(
        "memory_bandwidth",
        100 * share,
        missing.metric_id,
        amount=share * peak / 1e9 if peak else sum(rate for rate in rates if rate) / 1e9,
        amount_unit="GB/s",
        peak=peak / 1e9 if peak else None,
        level=_LEVELS[busy.kind],
        is_at_least=row.get("peak_share") is None,
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


def _why_not(row: dict[str, Any]) -> str:
    """The reason why there is no share of the peak; empty = the decision tree has it."""
    if known_peak_share(row) is not None:
        return ""
    if row.get("read_bytes_mean") is None and row.get("write_bytes_mean") is None:
        return "bytes from and to memory were not counted"
    if row.get("read_bytes_per_second") is None and row.get("write_bytes_per_second") is None:
        return "no sound timestamps"
    return "the peak bandwidth of this GPU is not known (--target)"


def busy_memory(row: dict[str, Any]) -> L2Finding:
    """The last question of the tree: is the memory busy?"""
    return findings(row)[-1]
