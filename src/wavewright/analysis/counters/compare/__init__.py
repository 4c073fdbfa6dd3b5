"""Changes between counter captures: kernel times and metrics against the first capture, beyond noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.analysis.common.noise import LEAST_CHANGE, MEAN_TAIL, difference_bound
from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.compare.sides import Durations, Side, gpu_notes, matched
from wavewright.base.shown import shown
from wavewright.base.words import percent, side_label
from wavewright.errors import UsageError
from wavewright.facts.metrics.metric import SPEED_OF_LIGHT
from wavewright.facts.metrics.panels import RULES, panels_of
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of

CHANGED = ("higher", "lower")  #: Values of `metrics.status` that are a change beyond noise: for more, for less.
_MOVED = 3  #: Metrics that a verdict names, those whose share of the peak changed most.
_LONG_NS = 1e6  #: Durations from here on are written in ms, shorter ones in us.


@dataclass(frozen=True)
class CounterComparison(Answer, package=__package__):
    """Counter captures against the first of them."""

    sides: pl.DataFrame  #: One row per capture; the columns of the three are in `tables.toml`.
    kernels: pl.DataFrame  #: One row per kernel of either side, for each side but the first.
    metrics: pl.DataFrame  #: One row per metric of a matched kernel, for each side but the first.
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
            has_several = moved["kernel_name"].n_unique() > 1
            changes = [_moved(metric, with_kernel=has_several) for metric in moved.head(_MOVED).to_dicts()]
            return f"{headline}; moved most: {', '.join(changes)}"
        if rows.height and (rows["status"] == "same").all():
            return f"{headline}; no speed-of-light metric changed beyond noise"
        return headline

    def _times(self, side: int) -> str:
        rows = self.kernels.filter(self.kernels["side"] == side)
        timed_rows = rows.filter(rows["change"].is_not_null())
        if timed_rows.height == 1:
            kernel = timed_rows.row(0, named=True)
            noise = {"same": ", within noise", "unknown": ", noise not known"}.get(kernel["status"], "")
            times = f"{_time(kernel['base_mean_ns'])} -> {_time(kernel['mean_ns'])}"
            return f"kernel time {times}, {percent(kernel['change'], sign=True)}{noise}"
        if not timed_rows.height:
            return "kernel times cannot be compared"
        counts = Counter(rows["status"])
        statuses = ("slower", "faster", "new", "gone", "unknown", "same")
        known_statuses = [f"{counts[status]:,} {status}" for status in statuses if counts[status]]
        base = sum(mean * count for mean, count in timed_rows.select("base_mean_ns", "base_dispatch_count").iter_rows())
        other = sum(mean * count for mean, count in timed_rows.select("mean_ns", "dispatch_count").iter_rows())
        change = f", {percent(other / base - 1, sign=True)}" if base else ""
        return f"time of kernels {_time(base)} -> {_time(other)}{change} ({', '.join(known_statuses)})"


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

    Raises `UsageError` when there are fewer than two captures, or what `counter_panels` raises.
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
    """Every panel that is not about single channels (whose first table is their sum); none where metrics are named."""
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
    sides = (row["base"], row["value"])
    base, value = (f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:,.4g}" for number in sides)
    return f"{name} {base} -> {value} {row['unit']}{change}"


def _time(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:,.2f} us" if nanoseconds < _LONG_NS else f"{nanoseconds / 1e6:,.3f} ms"


Key = tuple[str, str, str, int | None, int]  #: Table id, name, series, channel; 1 for the second of equal rows, ...
#: The row of a metric that a capture does not have.
_NO_METRIC: dict[str, Any] = {"average": None, "peak_share": None, "reason": "this GPU has no such metric"}


def kernel_rows(number: int, base: Side, side: Side) -> list[dict[str, Any]]:
    """Every kernel of either side, the largest effect first."""
    nothing = Durations()
    rows = []
    for name in dict.fromkeys((*base.durations, *side.durations)):
        before, after = base.durations.get(name, nothing), side.durations.get(name, nothing)
        has_times = before.total_ns is not None and after.total_ns is not None
        rows.append(
            {
                "side": number,
                "kernel_name": name,
                "base_dispatch_count": before.dispatch_count,
                "dispatch_count": after.dispatch_count,
                "base_mean_ns": before.mean_ns,
                "mean_ns": after.mean_ns,
                "delta_ns": (after.total_ns or 0.0) - (before.total_ns or 0.0) if has_times else None,
                **_kernel_change(before, after),
            }
        )
    return sorted(rows, key=lambda row: -abs(row["delta_ns"] or 0.0))


def _kernel_change(before: Durations, after: Durations) -> dict[str, Any]:
    if not before.dispatch_count or not after.dispatch_count:
        return {"status": "gone" if before.dispatch_count else "new"}
    if before.mean_ns is None or after.mean_ns is None or not before.mean_ns:
        return {"status": "unknown"}
    noise = _noise(before.mean_ns, *((durations.deviation_ns, durations.known_count) for durations in (before, after)))
    delta = after.mean_ns - before.mean_ns
    change = delta / before.mean_ns
    status = _status(delta, noise, ("slower", "faster"))
    return {"status": status, "change": change, "noise": None if noise is None else noise / before.mean_ns}


def _status(delta: float, noise: float | None, words: tuple[str, str]) -> str:
    """Whether a difference is beyond noise, and in which direction: `words` for more and for less."""
    if not delta or (noise is not None and abs(delta) <= noise):
        return "same"
    return "unknown" if noise is None else words[delta < 0]


def metric_rows(number: int, base: Side, side: Side, base_rank: int | None, rank: int | None) -> list[dict[str, Any]]:
    """Metrics of a pair of kernels, in the order of the base, then those that only the side has."""
    before, after = dict(_keyed(base.panels(base_rank).rows)), dict(_keyed(side.panels(rank).rows))
    name = _kernel_name(base, base_rank)
    rows = []
    for key in dict.fromkeys((*before, *after)):
        metric_row = before[key] if key in before else after[key]
        row = {column: metric_row[column] for column in ("table_id", "metric_id", "name", "series", "channel", "unit")}
        rows.append({"side": number, "kernel_name": name, **row, **_change(before.get(key), after.get(key))})
    return rows


def _keyed(rows: pl.DataFrame) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Rows by what they are about; the last part of the key tells rows apart that a table has twice."""
    counts: Counter[tuple[str, str, str, int | None]] = Counter()
    for row in rows.iter_rows(named=True):
        key = (row["table_id"], row["name"], row["series"] or "", row["channel"])
        yield (*key, counts[key]), row
        counts[key] += 1


def _kernel_name(side: Side, rank: int | None) -> str | None:
    if rank is None:
        return None
    names = side.kernels.filter(side.kernels["kernel"] == rank)["kernel_name"]
    return str(names[0]) if names.len() else None


def _change(base_row: dict[str, Any] | None, side_row: dict[str, Any] | None) -> dict[str, Any]:
    """The difference; a side that did not measure the metric has no difference, which is not the same as 0."""
    before, after = base_row or _NO_METRIC, side_row or _NO_METRIC
    base, value = before["average"], after["average"]
    fields: dict[str, Any] = {
        "base": base,
        "base_peak_share": before["peak_share"],
        "base_reason": before["reason"],
        "value": value,
        "peak_share": after["peak_share"],
        "reason": after["reason"],
    }
    if base is None or value is None:
        status = "blank" if base is None and value is None else "not in base" if base is None else "not in side"
        return fields | {"status": status}
    if before["unit"] != after["unit"]:
        return fields | {"status": "other unit"}
    delta = value - base
    noise = _noise(base, *((row["deviation"], row["dispatch_count"] or 0) for row in (before, after)))
    status = _status(delta, noise, CHANGED)
    change = delta / abs(base) if base else None
    return fields | {"status": status, "delta": delta, "change": change, "noise": noise}


def _noise(base: float, *spreads: tuple[float | None, int]) -> float | None:
    """Difference that averages of equal captures may have; each spread: sample deviation and number of dispatches."""
    samples = [(deviation, count) for deviation, count in spreads if deviation is not None and count > 1]
    if not samples:
        return None
    largest = max(samples, key=lambda sample: sample[1])  # stands in for a side whose spread is not known
    errors = []
    for deviation, count in spreads:
        spread, sample_count = (deviation, count) if deviation is not None and count > 1 else largest
        errors.append((spread / sqrt(max(count, 1)), sample_count - 1))  # standard error, degrees of freedom
    return max(difference_bound(MEAN_TAIL, errors[0], errors[1]), LEAST_CHANGE * abs(base))
