"""Distribution of the requests of each kernel over the channels of L2."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.counters.limiters.evidence import EvidenceValue
from wavewright.model.counters import CounterSet

_COUNTER = "TCC_REQ"
_METRIC = "18.3.0"  #: Requests of every channel.

Sums = dict[str | None, list[float]]  #: Kernel name -> requests of each channel.


def channel_sums(counters: CounterSet) -> Sums:
    """Requests per channel of every kernel, in the pass that has most channels."""
    channel_counters = counters.counters.filter((pl.col("counter") == _COUNTER) & pl.col("channel").is_not_null())
    names = counters.dispatches.select("dispatch", "kernel_name")
    best: Sums = {}
    for (number,), part in channel_counters.partition_by("pass", as_dict=True, maintain_order=True).items():
        columns = part["column"].to_list()
        rows = counters.measured[number].select("dispatch", *columns).drop_nulls()
        summed = rows.join(names, on="dispatch").group_by("kernel_name").agg(pl.col(columns).sum())
        for kernel, *values in summed.select("kernel_name", *columns).iter_rows():
            if len(values) > len(best.get(kernel, ())):
                best[kernel] = values
    return best


def channel_values(
    sums: list[float], channel_count: float | None, bandwidth: EvidenceValue | None
) -> dict[str, EvidenceValue]:
    """Imbalance of L2 channels, and the busiest channel's share of its peak.

    Examples
    --------
    >>> channel_values([10.0, 10.0, 10.0, 50.0], 4, EvidenceValue("l2_bandwidth", 30.0))["channel_imbalance"].number
    2.5
    """
    missing: tuple[str, ...] = ()
    reason = ""
    if not sums:
        missing, reason = (_COUNTER,), f"requests of single channels were not collected ({_COUNTER}[i])"
    elif channel_count and len(sums) < channel_count:
        reason = f"only {len(sums)} of {channel_count:,.0f} channels were collected"
    elif sum(sums) <= 0:
        reason = "no requests were counted"
    if reason:
        exists = bandwidth is None or bandwidth.exists
        names = ("channel_imbalance", "busiest_channel")
        return {
            name: EvidenceValue(name, None, _METRIC, missing=missing, reason=reason, exists=exists) for name in names
        }
    times = max(sums) * len(sums) / sum(sums)
    if bandwidth is None or not bandwidth.is_measured or bandwidth.number is None:
        lacking = bandwidth or EvidenceValue("l2_bandwidth", None, reason="not measured")
        busiest = EvidenceValue("busiest_channel", None, missing=lacking.missing, reason=lacking.reason)
    else:
        busiest = EvidenceValue("busiest_channel", bandwidth.number * times)
    return {"channel_imbalance": EvidenceValue("channel_imbalance", times, _METRIC), "busiest_channel": busiest}
