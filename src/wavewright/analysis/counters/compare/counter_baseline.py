"""Measurements of counter captures, for a baseline: durations of kernels, and the metrics that were asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.compare.sides import MOST_KERNELS, Side
from wavewright.model.baseline import MeasuredCapture, Quantity
from wavewright.model.counters import CounterSet


def counter_baseline(
    counters: CounterSet,
    label: str,
    *,
    choice: CounterChoice | None = None,
    metrics: Sequence[str] = (),
    damages: Sequence[str] = (),
) -> MeasuredCapture:
    """One capture; `metrics` are ids or parts of names. Raises `UsageError` when there is no such metric or kernel."""
    asking = {"panels": (), "metrics": tuple(metrics), "normalization": "kernel", "amd": False, "more": ()}
    side = Side(label, counters, choice or CounterChoice(), asking)
    system = counters.system
    return MeasuredCapture(
        label=label,
        quantities=(*_kernels(side), *(_metrics(side) if metrics else ())),
        target=system.target or side.whole.target or "",
        product=system.product or "",
        damages=tuple(damages),
    )


def _kernels(side: Side) -> Iterator[Quantity]:
    duration_ns = side.duration_ns
    if duration_ns:
        # Shares of kernels are of this; it is not judged by itself: dispatches of counters are not those of a run.
        yield Quantity("gpu-time", "", "ns", sum(each.dispatch_count for each in side.durations.values()), duration_ns)
    for name, durations in sorted(side.durations.items()):
        if durations.mean_ns is not None:
            count = durations.known_count
            error = _error(durations.deviation_ns, count)
            yield Quantity("kernel", name, "ns", count, durations.mean_ns, *error, total=durations.total_ns)


def _error(deviation: float | None, count: int) -> tuple[float | None, int | None]:
    """Standard error of a mean of samples, and its degrees of freedom; None = not known."""
    return (deviation / sqrt(count), count - 1) if deviation is not None and count > 1 else (None, None)


def _metrics(side: Side) -> Iterator[Quantity]:
    """Metrics of the longest kernels, but for those of single channels."""
    for rank, kernel in side.kernels.select("kernel", "kernel_name").head(MOST_KERNELS).iter_rows():
        seen: set[str] = set()
        for row in side.panels(rank).rows.iter_rows(named=True):
            name = ", ".join(part for part in (row["name"], row["series"]) if part)
            if row["average"] is None or row["channel"] is not None or name in seen:
                continue
            seen.add(name)
            count, title = row["dispatch_count"] or 0, f"{row['metric_id']} {name} of {kernel}"
            error = _error(row["deviation"], count)
            yield Quantity("metric", title, row["unit"] or "", count, row["average"], *error)
