"""The captures of a comparison: their metrics per kernel, the durations of their dispatches, which kernels match.

Also what a capture measures for a baseline: durations of kernels, and the metrics that were asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple

import polars as pl

from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches
from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.base.words import counted
from wavewright.model.baseline import MeasuredCapture, Quantity
from wavewright.model.counters import CounterSet

MOST_KERNELS = 8  #: Kernels whose metrics are compared; times are compared of all.


class Durations(NamedTuple):
    """Durations of the chosen dispatches of a kernel; None = not known."""

    dispatch_count: int = 0
    known_count: int = 0  #: Dispatches with sound times.
    mean_ns: float | None = None
    deviation_ns: float | None = None  #: Of a sample.

    @property
    def total_ns(self) -> float | None:
        """Of all dispatches, as if those without sound times took the mean; 0 = there is none."""
        if not self.dispatch_count:
            return 0.0
        return None if self.mean_ns is None else self.dispatch_count * self.mean_ns


class Side:
    """One capture, evaluated per kernel when that is asked for."""

    def __init__(self, label: str, counters: CounterSet, choice: CounterChoice, asking: dict[str, Any]) -> None:
        self.label = label
        self.counters = counters
        self.choice = choice
        self.asking = asking
        self.whole = counter_panels(counters, choice=choice, **asking)
        self.kernels = self.whole.kernels.filter(self.whole.kernels["is_chosen"])
        self._kept: dict[int, CounterPanels] = {}

    def panels(self, rank: int | None) -> CounterPanels:
        """Metrics of the kernel of this rank; None = of all chosen dispatches."""
        if rank is None or self.kernels.height == 1:
            return self.whole
        if rank not in self._kept:
            choice = replace(self.choice, kernels=(str(rank),))
            self._kept[rank] = counter_panels(self.counters, choice=choice, **self.asking)
        return self._kept[rank]

    @cached_property
    def durations(self) -> dict[str, Durations]:
        """By kernel, in the order of their first dispatch."""
        spent = pl.col("end_ns") - pl.col("start_ns")
        frame = chosen_dispatches(self.counters, self.choice).group_by("kernel_name", maintain_order=True)
        rows = frame.agg(pl.len(), known=spent.count(), mean=spent.mean(), deviation=spent.std())
        return {name: Durations(*numbers) for name, *numbers in rows.iter_rows()}

    @property
    def duration_ns(self) -> float | None:
        """Of all chosen dispatches; None where a kernel has no sound times."""
        totals = [durations.total_ns for durations in self.durations.values()]
        sound_totals = [total for total in totals if total is not None]
        return sum(sound_totals) if sound_totals and len(sound_totals) == len(totals) else None


def matched(base: Side, side: Side) -> tuple[list[tuple[int | None, int | None]], list[str]]:
    """Pairs of ranks whose metrics can be compared, and what to know about the match.

    Kernels match by name. Where none does, single kernels are compared all the same, several as a whole.
    """
    ranks, base_ranks = (dict(each.kernels.select("kernel_name", "kernel").iter_rows()) for each in (side, base))
    common = [name for name in base_ranks if name in ranks]
    notes = list(_unmatched(base, side, len(common)))
    if common:
        if len(common) > MOST_KERNELS:
            part = f"{MOST_KERNELS} of {counted(len(common), 'kernels')}"
            notes.append(f"showing metrics of {part}, the longest ones; --kernel chooses others")
        return [(base_ranks[name], ranks[name]) for name in common[:MOST_KERNELS]], notes
    if not ranks or not base_ranks:
        return [], notes
    if len(ranks) == len(base_ranks) == 1:
        names = f"the kernels of {base.label} and {side.label} have different names"
        notes.append(f"{names}: they are compared all the same")
        return [(next(iter(base_ranks.values())), next(iter(ranks.values())))], notes
    notes.append(f"no kernel is in both {base.label} and {side.label}: all their dispatches are compared as a whole")
    return [(None, None)], notes


def _unmatched(base: Side, side: Side, common: int) -> Iterator[str]:
    for left, right in ((base, side), (side, base)):
        missing = left.kernels.height - common
        if missing and common:
            verb = "is" if missing == 1 else "are"
            yield f"{counted(missing, 'kernels')} of {left.label} {verb} not in {right.label}"


def gpu_notes(sides: Sequence[Side]) -> list[str]:
    """Differences of the GPUs: other targets, other numbers of CUs, other clocks."""
    notes = []
    for side in sides[1:]:
        base = sides[0]
        base_system, system = base.counters.system, side.counters.system
        if base.whole.target != side.whole.target:
            names = (base.whole.target or "an unknown GPU", side.whole.target or "an unknown GPU")
            notes.append(
                f"{base.label} is from {names[0]}, {side.label} from {names[1]}: peaks differ, and so may counters of "
                "the same name"
            )
            continue
        for what, first, second in (
            ("CUs", base_system.cu_count, system.cu_count),
            ("MHz", base_system.clock_mhz_max, system.clock_mhz_max),
            ("MHz of the memory", base_system.memory_clock_mhz_max, system.memory_clock_mhz_max),
        ):
            if first and second and first != second:
                notes.append(f"{base.label} has {first:,.0f} {what}, {side.label} {second:,.0f}: peaks differ")
    return notes


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
