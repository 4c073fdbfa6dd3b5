"""Metrics of the panels for each kernel or dispatch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from wavescope.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, ranked_dispatches
from wavescope.analysis.counters.engine.asked import asked_panels
from wavescope.analysis.counters.engine.evaluation import Evaluation
from wavescope.analysis.counters.engine.reference import dispatches_under
from wavescope.analysis.counters.values.answer import MetricValues, answer_of
from wavescope.analysis.counters.values.rows import dispatch_frame, kernel_frame
from wavescope.analysis.counters.values.stored import stored_values
from wavescope.errors import UsageError
from wavescope.facts.metrics.panels import RULES, panels_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wavescope.facts.metrics.declared import Metric
    from wavescope.model.counters import CounterSet


def metric_values(
    counters: CounterSet,
    *,
    by: str,
    choice: CounterChoice = ALL_DISPATCHES,
    panels: Sequence[str] = (),
    metrics: Sequence[str] = (),
    normalization: str = "kernel",
    rules: str = "corrected",
    more: Sequence[Path] = (),
    all_channels: bool = False,
) -> MetricValues:
    """Values of the chosen metrics of each kernel or dispatch; `all_channels`: those of single channels, too.

    Raises
    ------
    UsageError
        When `by` is neither kernel nor dispatch, or nothing is chosen.
    """
    if by not in ("kernel", "dispatch"):
        raise UsageError(f"no values by {by!r}", advice="by kernel or dispatch")
    if not counters.measured and counters.stored_metrics.height:
        return stored_values(counters, by, choice, panels, metrics, all_channels=all_channels)
    chosen = dispatches_under(rules, counters, choice)
    rows = ranked_dispatches(counters, chosen)
    present = rows["kernel"].unique().sort()
    groups = np.searchsorted(present.to_numpy(), rows["kernel"].to_numpy()) if by == "kernel" else None
    evaluation = Evaluation(
        counters, chosen, normalization=normalization, is_reference=rules != RULES[0], groups=groups
    )
    known = panels_of(counters.system.target or "", rules=rules, more=more)
    tables = [table for panel in asked_panels(known, panels, metrics) for table in panel.tables]
    tables = [table for table in tables if all_channels or not table.per_channel]
    asked = [metric for table in tables for metric in table.metrics]
    evaluation.load(metric.formula for metric in asked if metric.formula)
    named = _Named(evaluation, is_grouped=by == "kernel")
    for metric in asked:
        named.add(metric)
    frame = kernel_frame(rows) if by == "kernel" else dispatch_frame(rows)
    frame = frame.with_columns(pl.Series(name, values, dtype=pl.Float64) for name, values in named.values.items())
    return answer_of(counters.system.target, by, frame, named.rows, normalization=normalization, rules=rules)


class _Named:
    """Columns of values and the metrics that they are about."""

    def __init__(self, evaluation: Evaluation, *, is_grouped: bool) -> None:
        self._evaluation = evaluation
        self._is_grouped = is_grouped
        self.rows: list[dict[str, Any]] = []
        self.values: dict[str, Any] = {}

    def add(self, metric: Metric) -> None:
        """One metric, or one for each channel."""
        evaluation = self._evaluation
        row: dict[str, Any] = {"metric_id": metric.id, "name": metric.name, "series": metric.series, "channel": None}
        row["unit"] = metric.unit_per(evaluation.normalization)
        if metric.formula is None:
            self._add(row, None, "this GPU has no counters for it")
            return
        outcome = evaluation.evaluate(metric.formula, level=metric.level, zero=metric.zero, prefix=metric.fabric_prefix)
        found = outcome.average if self._is_grouped else outcome.values
        if found is None and outcome.values is not None:
            found = evaluation.means(outcome.values)
        if found is None or np.ndim(found) < 2:
            self._add(row, found, outcome.reason)
            return
        for channel, values in enumerate(found):
            self._add(row | {"channel": channel}, values, outcome.reason)

    def _add(self, row: dict[str, Any], values: Any, reason: str) -> None:
        count = self._evaluation.group_count if self._is_grouped else self._evaluation.count
        column = row["metric_id"] if row["channel"] is None else f"{row['metric_id']}[{row['channel']}]"
        known = np.full(count, np.nan) if values is None else np.broadcast_to(np.asarray(values, np.float64), count)
        self.values[column] = np.where(np.isfinite(known), known, np.nan)
        is_blank = bool(np.isnan(self.values[column]).all())
        self.rows.append(row | {"column": column, "reason": reason if is_blank else ""})
