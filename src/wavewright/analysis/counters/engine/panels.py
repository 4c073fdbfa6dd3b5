"""Every metric of the panels over the chosen dispatches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, ranked_kernels
from wavewright.analysis.counters.engine.answer import CounterPanels, requested_panels
from wavewright.analysis.counters.engine.evaluate import Evaluator, Formula, evaluator
from wavewright.analysis.counters.engine.evaluation import Evaluation, Outcome
from wavewright.analysis.counters.engine.metric_caveats import caveats_of
from wavewright.analysis.counters.engine.stored import is_stored, stored_panels
from wavewright.errors import UsageError
from wavewright.facts.metrics.metric import Metric, MetricTable, Panel, metrics_in
from wavewright.facts.metrics.names import NORMALIZATIONS
from wavewright.facts.metrics.panels import RULES, panels_of
from wavewright.model.counters import CounterSet

#: Statistics are computed over about as many values at once: more take memory, fewer take time.
_VALUES = 1 << 18
_STATISTICS = ("deviation", "minimum", "q1", "median", "q3", "maximum")  #: Fields of `Spread`, columns of `rows`.


def counter_panels(
    counters: CounterSet,
    *,
    choice: CounterChoice = ALL_DISPATCHES,
    panels: Sequence[str] = (),
    metrics: Sequence[str] = (),
    normalization: str = "kernel",
    amd: bool = False,
    more: Sequence[Path] = (),
) -> CounterPanels:
    """Evaluate the metrics of the capture's GPU; `more` are TOML files with the user's own.

    `panels` are words, numbers or ids (`l2`, `17`, `17.1`), `metrics` ids or parts of names; none = all. Amounts are
    per `normalization`: kernel, wave, cycle or second. `amd`: by the rules of ROCm Compute Profiler. Raises
    `UsageError` when the choice, a panel, a metric or the normalization does not exist, or a TOML file has a mistake.
    """
    if normalization not in NORMALIZATIONS:
        what = f"no normalization {normalization[:60]!r}"
        raise UsageError(what, advice=f"normalizations: {', '.join(NORMALIZATIONS)}")
    if is_stored(counters):
        return stored_panels(counters, choice=choice, panels=panels, metrics=metrics)
    target = counters.system.target or ""
    declared = panels_of(target, amd=amd, more=more)
    chosen = requested_panels(declared, panels, metrics)
    selected = evaluator(counters, by="all", choice=choice, normalization=normalization, amd=amd)
    dispatches, evaluation = selected.dispatches, selected.evaluation
    rows = _rows(chosen, selected)
    return CounterPanels(
        target=target,
        product=counters.system.product or "",
        normalization=normalization,
        rules=RULES[amd],
        dispatch_count=dispatches.height,
        panels=chosen,
        kernels=kernels_of(counters, dispatches),
        rows=rows,
        caveats=caveats_of(counters, dispatches, evaluation, rows, has_panels=bool(declared)),
    )


def kernels_of(counters: CounterSet, chosen: pl.DataFrame) -> pl.DataFrame:
    """All kernels of the capture, and whether a chosen dispatch is of them."""
    ranked = ranked_kernels(counters.dispatches, counters.run_times())
    is_chosen = pl.col("kernel_name").is_in(chosen["kernel_name"].unique().implode())
    return ranked.with_columns(is_chosen.alias("is_chosen")).select(CounterPanels.tables["kernels"].names)


def _rows(panels: Sequence[Panel], selected: Evaluator) -> pl.DataFrame:
    metrics = list(metrics_in(panels))
    rows = _Rows(selected.evaluation)
    outcomes = selected.outcomes([Formula.of(metric) for _, metric in metrics])
    for (table, metric), outcome in zip(metrics, outcomes, strict=True):
        rows.add(table, metric, outcome)
    return rows.frame()


class _Rows:
    """The table `rows` while it is made: the values of single metrics are gathered, to reduce many of them at once."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._rows_at_once = max(1, _VALUES // max(1, evaluation.count))
        self._single: list[Any] = []
        self._single_spreads: list[Spread] = []
        self._channel_spreads: list[Spread] = []
        self._is_single: list[bool] = []  # Of each metric: whether it is one row; else it has a row for each channel.
        self._rows: list[dict[str, Any]] = []

    def add(self, table: MetricTable, metric: Metric, outcome: Outcome) -> None:
        row = {
            "table_id": table.id,
            "metric_id": metric.id,
            "name": metric.name,
            "series": metric.series,
            "channel": None,
            "unit": metric.unit_per(self._evaluation.normalization),
            "reason": outcome.reason,
            "peak": self._evaluation.constant(metric.peak) if metric.peak else math.nan,
            "is_rounded": table.layout == "value",
            "is_maximum_minimum": metric.maximum == "minimum",
        }
        self._is_single.append(not table.per_channel)
        if table.per_channel:
            self._add_channels(row, metric.formula or "", outcome)
            return
        self._rows.append(row | {"average": math.nan if outcome.average is None else float(outcome.average[0])})
        self._single.append(math.nan if outcome.values is None else outcome.values)
        if len(self._single) == self._rows_at_once:
            self._reduce()

    def _add_channels(self, row: dict[str, Any], formula: str, outcome: Outcome) -> None:
        evaluation = self._evaluation
        count, step = evaluation.channel_count, self._rows_at_once
        values = np.nan if outcome.values is None else outcome.values
        matrix = np.broadcast_to(np.asarray(values, dtype=np.float64), (count, evaluation.count))
        for start in range(0, count, step):
            rows, spoiled = slice(start, start + step), outcome.spoiled
            spread = spread_of(matrix[rows])
            self._channel_spreads.append(spread if spoiled is None else spread.only_median(spoiled[rows]))
        average = np.broadcast_to(np.nan if outcome.average is None else outcome.average, (count, 1))[:, 0].tolist()
        for channel in range(count):
            is_blank = not outcome.reason and not evaluation.is_reference and math.isnan(average[channel])
            reason = evaluation.channel_reason(formula, channel) if is_blank else outcome.reason
            identity = f"{row['table_id']}.{channel}"
            about = {"metric_id": identity, "channel": channel, "reason": reason, "average": average[channel]}
            self._rows.append(row | about)

    def frame(self) -> pl.DataFrame:
        is_reference = self._evaluation.is_reference
        self._reduce()
        spreads = [*self._single_spreads, *self._channel_spreads]
        order = self._order()
        joined = {
            name: np.concatenate([getattr(spread, name) for spread in spreads])[order] if spreads else np.empty(0)
            for name in ("count", "mean", *_STATISTICS)
        }
        columns = {name: [row[name] for row in self._rows] for name in (self._rows[0] if self._rows else ())}
        average, peak = (np.array(columns.get(name, ()), dtype=np.float64) for name in ("average", "peak"))
        if is_reference:
            average = joined["mean"]
            joined["maximum"] = np.where(columns.get("is_maximum_minimum", ()), joined["minimum"], joined["maximum"])
        with np.errstate(all="ignore"):
            share = 100 * average / (peak if is_reference else np.where(peak > 0, peak, np.nan))
        if is_reference:
            average = np.where(columns.get("is_rounded", ()), np.round(average), average)
        numbers = {"average": average, "peak": peak, "peak_share": share, "dispatch_count": joined["count"]}
        numbers |= {name: joined[name] for name in _STATISTICS}
        spec = CounterPanels.tables["rows"]
        # Lists, because polars looks at arrays with numpy.ma, whose import takes longer than all of this.
        columns |= {name: _listed(values) for name, values in numbers.items()}
        return pl.DataFrame({name: columns.get(name, []) for name in spec.names}, schema=spec.dtypes)

    def _order(self) -> list[int]:
        """For each row its place where all single values come first and all channels follow."""
        order: list[int] = []
        singles, channels = itertools.count(), itertools.count(sum(self._is_single))
        for is_single in self._is_single:
            order += [next(singles)] if is_single else itertools.islice(channels, self._evaluation.channel_count)
        return order

    def _reduce(self) -> None:
        """Keep the statistics of the single values that were gathered, not the values."""
        if self._single:
            block = np.empty((len(self._single), self._evaluation.count))
            for row, values in enumerate(self._single):
                block[row] = values
            self._single_spreads.append(spread_of(block))
            self._single.clear()


def _listed(values: Any) -> list[Any]:
    return [None if value != value else value for value in values.tolist()]  # only NaN is unequal to itself


@dataclass(frozen=True)
class Spread:
    """One number per row of values; NaN = no value."""

    count: Any  #: Values that are known.
    mean: Any
    deviation: Any  #: Of a sample; one value has none.
    minimum: Any
    q1: Any
    median: Any
    q3: Any
    maximum: Any

    def only_median(self, rows: Any) -> Spread:
        """The same without the other statistics of some rows."""
        others = ("mean", "deviation", "minimum", "q1", "q3", "maximum")
        return replace(self, **{name: np.where(rows, np.nan, getattr(self, name)) for name in others})


def spread_of(values: Any) -> Spread:
    """Statistics along the last axis; quartiles are interpolated between the two nearest values."""
    sorted_values = np.sort(np.asarray(values, dtype=np.float64), axis=-1)  # NaN comes last
    has_value = ~np.isnan(sorted_values)
    count = has_value.sum(axis=-1)
    if sorted_values.shape[-1] == 0:
        blank = np.full(sorted_values.shape[:-1], np.nan)
        return Spread(count, blank, blank, blank, blank, blank, blank, blank)
    with np.errstate(all="ignore"):
        distances = np.where(has_value, sorted_values, 0.0)
        mean = distances.sum(axis=-1) / np.where(count, count, np.nan)
        distances -= mean[..., None]  # in place: there may be many values
        distances[~has_value] = 0.0
        distances *= distances
        deviation = np.sqrt(distances.sum(axis=-1) / np.where(count > 1, count - 1, np.nan))
        last = np.maximum(count - 1, 0)

        def at(position: Any) -> Any:
            return np.take_along_axis(sorted_values, position[..., None], axis=-1)[..., 0]

        def quantile(share: float) -> Any:
            place = share * last
            below = np.floor(place).astype(np.int64)
            low, high, between = at(below), at(np.minimum(below + 1, last)), place - below
            return np.where(between < 0.5, low + (high - low) * between, high - (high - low) * (1 - between))

        middle = (at(last // 2) + at((last + 1) // 2)) / 2
        lowest = sorted_values[..., 0].copy()  # no view: it would keep all values
        return Spread(count, mean, deviation, lowest, quantile(0.25), middle, quantile(0.75), at(last))
