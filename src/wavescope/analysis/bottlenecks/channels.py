"""How evenly the requests of one kernel fall on the channels of L2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.analysis.bottlenecks.judging import Value

if TYPE_CHECKING:
    import polars as pl

    from wavescope.model.counter_set import CounterSet

__all__ = ["channel_values"]

_COUNTER = "TCC_REQ"
_METRIC = "18.3.0"
"""Requests of every channel."""


def channel_values(counters: CounterSet, dispatches: pl.Series, bandwidth: Value | None) -> dict[str, Value]:
    """Imbalance of L2 channels, and the busiest channel's share of its peak, over these dispatches.

    Examples
    --------
    >>> import polars as pl
    >>> from wavescope.model.counter_set import CounterSet
    >>> channel_values(CounterSet({}), pl.Series([], dtype=pl.UInt32), None)["channel_imbalance"].missing
    ('TCC_REQ',)
    """
    sums, reason = _sums(counters, dispatches)
    if not sums:
        missing: tuple[str, ...] = (_COUNTER,) if not reason else ()
        reason = reason or f"requests of single channels were not collected ({_COUNTER}[i])"
        names = ("channel_imbalance", "busiest_channel")
        exists = bandwidth is None or bandwidth.exists
        return {name: Value(name, None, _METRIC, missing=missing, reason=reason, exists=exists) for name in names}
    times = max(sums) * len(sums) / sum(sums)
    found = {"channel_imbalance": Value("channel_imbalance", times, _METRIC)}
    if bandwidth is None or not bandwidth.is_measured or bandwidth.number is None:
        missing = bandwidth.missing if bandwidth else ()
        reason = bandwidth.reason if bandwidth else "not measured"
        found["busiest_channel"] = Value("busiest_channel", None, missing=missing, reason=reason)
    else:
        found["busiest_channel"] = Value("busiest_channel", bandwidth.number * times)
    return found


def _sums(counters: CounterSet, dispatches: pl.Series) -> tuple[list[float], str]:
    """Requests of every channel in the pass that has most of them; and why they cannot be used."""
    import polars as pl

    own = counters.counters.filter((pl.col("counter") == _COUNTER) & pl.col("channel").is_not_null())
    expected = counters.system.l2_channel_count
    best: list[float] = []
    for (number,), part in own.partition_by("pass", as_dict=True, maintain_order=True).items():
        frame = counters.measured[number].filter(pl.col("dispatch").is_in(dispatches.implode()))
        columns = part["column"].to_list()
        rows = frame.select(columns).drop_nulls()
        if rows.height and len(columns) > len(best):
            best = [float(value) for value in rows.sum().row(0)]
    if not best:
        return [], ""
    if expected and len(best) < expected:
        return [], f"only {len(best)} of {expected:,.0f} channels were collected"
    if sum(best) <= 0:
        return [], "no requests were counted"
    return best, ""
