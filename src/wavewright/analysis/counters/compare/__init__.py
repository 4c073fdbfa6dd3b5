"""Changes between counter captures: kernel times and metrics against the first capture, beyond noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.compare.differences import kernel_rows, metric_rows
from wavewright.analysis.counters.compare.sides import Side, gpu_notes, matched
from wavewright.base.shown import shown
from wavewright.base.words import percent, side_label
from wavewright.errors import UsageError
from wavewright.facts.metrics.declared import SPEED_OF_LIGHT
from wavewright.facts.metrics.panels import RULES, panels_of
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of

CHANGED = ("higher", "lower")  #: What counts as a change of a metric.

_MOVED = 3
_LONG_NS = 1e6


@dataclass(frozen=True)
class CounterComparison(Answer, package=__package__):
    """Counter captures against the first of them."""

    sides: pl.DataFrame
    kernels: pl.DataFrame
    metrics: pl.DataFrame
    normalization: str  #: kernel, wave, cycle or second.
    rules: str  #: corrected, or the reference whose rules were applied.
    notes: tuple[str, ...]  #: What to know about the comparison: other GPUs, kernels that are not matched.

    def changes(self, side: int) -> pl.DataFrame:
        """Metrics of a side that changed beyond noise."""
        rows = self.metrics
        return rows.filter((rows["side"] == side) & rows["status"].is_in(CHANGED))

    def regressions(self, side: int, above: float) -> pl.DataFrame:
        """Kernels of a side whose mean duration grew by more than `above` (a share), unless that may be noise."""
        rows = self.kernels
        return rows.filter((rows["side"] == side) & (rows["change"] > above) & (rows["status"] != "same"))

    def verdict(self, side: int) -> str:
        """Changes on a side, in one sentence: kernel time first."""
        row, base = self.sides.row(side, named=True), self.sides.row(0, named=True)
        headline = f"{row['label']} against {base['label']}: {self._times(side)}"
        rows = self.metrics.filter((pl.col("side") == side) & (pl.col("table_id") == SPEED_OF_LIGHT))
        moved = self.changes(side).filter(pl.col("table_id") == SPEED_OF_LIGHT)
        moved = moved.with_columns(points=(pl.col("peak_share") - pl.col("base_peak_share")).abs())
        moved = moved.sort("points", descending=True, nulls_last=True, maintain_order=True)
        if moved.height:
            names = moved["kernel_name"].n_unique() > 1
            return f"{headline}; moved most: " + ", ".join(
                _moved(row_moved, with_kernel=names) for row_moved in moved.head(_MOVED).to_dicts()
            )
        if rows.height and (rows["status"] == "same").all():
            return f"{headline}; no speed-of-light metric changed beyond noise"
        return headline

    def _times(self, side: int) -> str:
        rows = self.kernels.filter(self.kernels["side"] == side)
        both = rows.filter(rows["change"].is_not_null())
        if both.height == 1:
            kernel = both.row(0, named=True)
            noise = {"same": ", within noise", "unknown": ", noise not known"}.get(kernel["status"], "")
            times = f"{_time(kernel['base_mean_ns'])} -> {_time(kernel['mean_ns'])}"
            return f"kernel time {times}, {percent(kernel['change'], sign=True)}{noise}"
        if not both.height:
            return "kernel times cannot be compared"
        parts = [
            f"{count:,} {status}"
            for status in ("slower", "faster", "new", "gone", "unknown", "same")
            if (count := int((rows["status"] == status).sum()))
        ]
        base = sum(mean * count for mean, count in both.select("base_mean_ns", "base_dispatch_count").iter_rows())
        other = sum(mean * count for mean, count in both.select("mean_ns", "dispatch_count").iter_rows())
        change = f", {percent(other / base - 1, sign=True)}" if base else ""
        return f"time of kernels {_time(base)} -> {_time(other)}{change} ({', '.join(parts)})"


def counter_compare(
    captures: Sequence[CounterSet],
    *,
    choices: Sequence[CounterChoice] = (),
    panels: Sequence[str] = (),
    metrics: Sequence[str] = (),
    normalization: str = "kernel",
    amd: bool = False,
    more: Sequence[Path] = (),
) -> CounterComparison:
    """Captures against the first; without `panels` and `metrics` every panel but those about single channels.

    Raises
    ------
    UsageError
        When there are fewer than two captures, or what `counter_panels` raises.

    Examples
    --------
    >>> counter_compare([])
    Traceback (most recent call last):
    wavewright.errors.UsageError: nothing to compare with; give two captures or more
    """
    if len(captures) < 2:
        raise UsageError("nothing to compare with", advice="give two captures or more")
    chosen = choices or [CounterChoice()] * len(captures)
    asking = {"metrics": metrics, "normalization": normalization, "amd": amd, "more": more}
    labels = [side_label(number) for number in range(len(captures))]
    sides = [
        Side(label, counters, choice, {**asking, "panels": panels or _panels(counters, metrics, amd=amd)})
        for label, counters, choice in zip(labels, captures, chosen, strict=True)
    ]
    kernels: list[dict[str, Any]] = []
    metric_changes: list[dict[str, Any]] = []
    notes = gpu_notes(sides)
    for number, side in enumerate(sides[1:], start=1):
        kernels += kernel_rows(number, sides[0], side)
        pairs, match_notes = matched(sides[0], side)
        notes += match_notes
        for base_rank, rank in pairs:
            metric_changes += metric_rows(number, sides[0], side, base_rank, rank)
    return CounterComparison(
        sides=frame_of(CounterComparison.tables["sides"], _side_rows(sides)),
        kernels=frame_of(CounterComparison.tables["kernels"], kernels),
        metrics=frame_of(CounterComparison.tables["metrics"], metric_changes),
        normalization=normalization,
        rules=RULES[amd],
        notes=tuple(dict.fromkeys(notes)),
    )


def _panels(counters: CounterSet, metrics: Sequence[str], *, amd: bool) -> tuple[str, ...]:
    """Every panel that is not about single channels; none where metrics are named."""
    if metrics or not counters.system.target or not counters.measured:
        return ()
    panels = panels_of(counters.system.target, amd=amd)
    return tuple(
        panel.word for panel in panels if not all(table.per_channel for table in panel.tables[1:] or panel.tables)
    )


def _side_rows(sides: Sequence[Side]) -> list[dict[str, Any]]:
    base = sides[0].duration_ns
    return [
        {
            "side": number,
            "label": side.label,
            "path": shown(side.counters.path),
            "target": side.whole.target,
            "product": side.whole.product,
            "dispatch_count": side.whole.dispatch_count,
            "kernel_count": side.kernels.height,
            "duration_ns": side.duration_ns,
            "change": side.duration_ns / base - 1 if number and base and side.duration_ns is not None else None,
        }
        for number, side in enumerate(sides)
    ]


def _moved(row: dict[str, Any], *, with_kernel: bool) -> str:
    """One metric with both values; percent and shares of a peak in points."""
    name = f"{row['name']} of {row['kernel_name'][:40]}" if with_kernel and row["kernel_name"] else row["name"]
    if row["unit"] == "%" or row["unit"].lower() == "pct":
        return f"{name} {row['base']:.1f} -> {row['value']:.1f} %"
    change = "" if row["change"] is None else f" ({percent(row['change'], sign=True)})"
    base, value = (
        f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:,.4g}" for number in (row["base"], row["value"])
    )
    return f"{name} {base} -> {value} {row['unit']}{change}"


def _time(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:,.2f} us" if nanoseconds < _LONG_NS else f"{nanoseconds / 1e6:,.3f} ms"
