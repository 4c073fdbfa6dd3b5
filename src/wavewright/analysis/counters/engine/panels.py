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
from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.analysis.counters.engine.evaluate import Evaluator, Formula, evaluator
from wavewright.analysis.counters.engine.evaluation import Evaluation, Outcome
from wavewright.analysis.counters.engine.metric_caveats import caveats_of
from wavewright.analysis.counters.engine.selection import requested_panels
from wavewright.analysis.counters.engine.stored import is_stored, stored_panels
from wavewright.errors import UsageError
from wavewright.facts.metrics.declared import Metric, MetricTable, Panel
from wavewright.facts.metrics.names import NORMALIZATIONS
from wavewright.facts.metrics.panels import RULES, panels_of
from wavewright.model.counters import CounterSet

#: Values that are reduced together: in many steps they take little memory, in few of them little time.
_VALUES = 1 << 18
_STATISTICS = ("deviation", "minimum", "q1", "median", "q3", "maximum")


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
    `UsageError` when the choice, a panel, a metric, the or the normalization do not exist, or a TOML file has a
    mistake.

    >>> from wavewright.model.counters import CounterSet, System
    >>> answer = counter_panels(CounterSet({}, system=System(target="gfx942")), panels=["l2"], metrics=["17.1.0"])
    >>> answer.rows["reason"].to_list()
    ['needs TCC_BUSY and GRBM_GUI_ACTIVE, which were not measured']
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
    metrics = [(table, metric) for panel in panels for table in panel.tables for metric in table.metrics]
    parts = _Parts(selected.evaluation)
    outcomes = selected.outcomes([Formula.of(metric) for _, metric in metrics])
    for (table, metric), outcome in zip(metrics, outcomes, strict=True):
        parts.add(table, metric, outcome)
    return parts.frame()


class _Parts:
    """The columns of `rows`, while they are made: single values are gathered, so that they are reduced together."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._rows_at_once = max(1, _VALUES // max(1, evaluation.count))
        self._single: list[Any] = []
        self._single_spreads: list[Spread] = []
        self._channel_spreads: list[Spread] = []
        self._is_single: list[bool] = []  # Whether the next row is a single value; else the next rows are channels.
        self._texts: dict[str, list[Any]] = {
            name: [] for name in ("table_id", "metric_id", "name", "series", "channel", "unit", "reason")
        }
        self._average: list[float] = []
        self._peak: list[float] = []
        self._rounded: list[bool] = []
        self._swapped: list[int] = []

    def add(self, table: MetricTable, metric: Metric, outcome: Outcome) -> None:
        peak = self._evaluation.constant(metric.peak) if metric.peak else math.nan
        if table.per_channel:
            self._add_channels(table, metric, outcome, peak)
            return
        self._describe(table, metric, None, metric.id, outcome.reason, peak)
        self._average.append(math.nan if outcome.average is None else float(outcome.average[0]))
        self._is_single.append(True)
        self._single.append(math.nan if outcome.values is None else outcome.values)
        if len(self._single) == self._rows_at_once:
            self._reduce()

    def frame(self) -> pl.DataFrame:
        evaluation = self._evaluation
        self._reduce()
        spreads = [*self._single_spreads, *self._channel_spreads]
        order = self._order()
        joined = {
            name: np.concatenate([getattr(spread, name) for spread in spreads])[order] if spreads else np.empty(0)
            for name in ("count", "mean", *_STATISTICS)
        }
        average = joined["mean"] if evaluation.is_reference else np.array(self._average)
        peak = np.array(self._peak)
        with np.errstate(all="ignore"):
            share = 100 * average / (peak if evaluation.is_reference else np.where(peak > 0, peak, np.nan))
        if evaluation.is_reference:
            average = np.where(self._rounded, np.round(average), average)
            joined["maximum"][self._swapped] = joined["minimum"][self._swapped]
        numbers = {"average": average, "peak": peak, "peak_share": share, "dispatch_count": joined["count"]}
        numbers |= {name: joined[name] for name in _STATISTICS}
        spec = CounterPanels.tables["rows"]
        frame = pl.DataFrame(
            # lists, because polars looks at arrays with numpy.ma, whose import takes longer than all of this
            self._texts | {name: _listed(values) for name, values in numbers.items()},
            schema_overrides=spec.dtypes,
        )
        return frame.select(spec.names)

    def _order(self) -> list[int]:
        """For each row its place where all single values come first and all channels follow."""
        order: list[int] = []
        singles, channels = itertools.count(), itertools.count(sum(self._is_single))
        for is_single in self._is_single:
            if is_single:
                order.append(next(singles))
            else:
                order += itertools.islice(channels, self._evaluation.channel_count)
        return order

    def _reduce(self) -> None:
        """Keep the statistics of the single values that were gathered, not the values."""
        if not self._single:
            return
        block = np.empty((len(self._single), self._evaluation.count))
        for row, values in enumerate(self._single):
            block[row] = values
        self._single_spreads.append(spread_of(block))
        self._single.clear()

    def _add_channels(self, table: MetricTable, metric: Metric, outcome: Outcome, peak: float) -> None:
        evaluation = self._evaluation
        count = evaluation.channel_count
        values = np.nan if outcome.values is None else outcome.values
        matrix = np.broadcast_to(np.asarray(values, dtype=np.float64), (count, evaluation.count))
        step = self._rows_at_once
        for start in range(0, count, step):
            spread = spread_of(matrix[start : start + step])
            spoiled = outcome.spoiled
            self._channel_spreads.append(
                spread if spoiled is None else spread.only_median(spoiled[start : start + step])
            )
        self._is_single.append(False)
        average = (
            np.full(count, np.nan) if outcome.average is None else np.broadcast_to(outcome.average, (count, 1))[:, 0]
        )
        self._average += average.tolist()
        for channel in range(count):
            reason = outcome.reason
            if not reason and not evaluation.is_reference and math.isnan(average[channel]):
                reason = evaluation.channel_reason(metric.formula or "", channel)
            self._describe(table, metric, channel, f"{table.id}.{channel}", reason, peak)

    def _describe(
        self, table: MetricTable, metric: Metric, channel: int | None, identity: str, reason: str, peak: float
    ) -> None:
        unit = metric.unit_per(self._evaluation.normalization)
        described = (table.id, identity, metric.name, metric.series, channel, unit, reason)
        if metric.maximum == "minimum":
            self._swapped.append(len(self._peak))
        for values, value in zip(self._texts.values(), described, strict=True):
            values.append(value)
        self._peak.append(peak)
        self._rounded.append(table.layout == "value")


def _listed(values: Any) -> list[Any]:
    return [None if value != value else value for value in values.tolist()]  # NaN


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
        """The same without the other statistics of some rows.

        >>> found = spread_of([[1.0, 3.0]]).only_median([True])
        >>> found.median.tolist(), found.mean.tolist()
        ([2.0], [nan])
        """
        others = ("mean", "deviation", "minimum", "q1", "q3", "maximum")
        return replace(self, **{name: np.where(rows, np.nan, getattr(self, name)) for name in others})


def spread_of(values: Any) -> Spread:
    """Statistics along the last axis; quartiles are interpolated between the two nearest values.

    >>> found = spread_of([[4.0, float("nan"), 1.0, 2.0]])
    >>> found.count.tolist(), found.median.tolist(), found.q1.tolist()
    ([3], [2.0], [1.5])
    """
    sorted_values = np.sort(np.asarray(values, dtype=np.float64), axis=-1)  # NaN comes last
    has_value = ~np.isnan(sorted_values)
    count = has_value.sum(axis=-1)
    if sorted_values.shape[-1] == 0:
        blank = np.full(sorted_values.shape[:-1], np.nan)
        return Spread(count, blank, blank, blank, blank, blank, blank, blank)
    with np.errstate(all="ignore"):
        apart = np.where(has_value, sorted_values, 0.0)
        mean = apart.sum(axis=-1) / np.where(count, count, np.nan)
        apart -= mean[..., None]  # in place: there may be many values
        apart[~has_value] = 0.0
        apart *= apart
        deviation = np.sqrt(apart.sum(axis=-1) / np.where(count > 1, count - 1, np.nan))
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
