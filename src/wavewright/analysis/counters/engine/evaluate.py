"""The evaluator of formulas over a capture: per kernel, per dispatch, or over all selected dispatches.

Panels, metric values, roofline, memory chart and limiters evaluate through it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, ranked_dispatches
from wavewright.analysis.counters.engine.evaluation import Evaluation, Outcome
from wavewright.analysis.counters.engine.reference import chosen_with_rules
from wavewright.errors import UsageError
from wavewright.facts.metrics.metric import Metric
from wavewright.model.counters import CounterSet

_BY = ("kernel", "dispatch", "all")  #: What a row of values is about; all = one row for all selected dispatches.
_NO_COUNTERS = Outcome(None, None, "this GPU has no counters for it")


class Formula(NamedTuple):
    """A formula and how it is read; see `Metric`."""

    text: str | None  #: None = this GPU has no counters for it.
    level: str = ""
    zero: str = "blank"
    prefix: str = ""

    @classmethod
    def of(cls, metric: Metric) -> Formula:
        """The formula of a metric."""
        return cls(metric.formula, metric.level, metric.zero, metric.fabric_prefix)


@dataclass(frozen=True)
class Evaluator:
    """Formulas over selected dispatches."""

    evaluation: Evaluation
    dispatches: pl.DataFrame  #: The selected ones, with the rank of their kernel.
    by: str  #: kernel, dispatch or all.

    def outcomes(self, formulas: Sequence[Formula]) -> Iterator[Outcome]:
        """The outcomes in order. Each is computed when it is taken: values of all dispatches can be large."""
        self.evaluation.load(formula.text for formula in formulas if formula.text)
        for text, level, zero, prefix in formulas:
            yield self.evaluation.evaluate(text, level=level, zero=zero, prefix=prefix) if text else _NO_COUNTERS

    def per_row(self, outcome: Outcome) -> Any:
        """Values of the rows, the last axis of the array; NaN = no value. Channels are the first axis, if any."""
        if outcome.values is None:
            return np.full(self._row_count, np.nan)
        values = outcome.values
        if self.by != "dispatch":
            values = self.evaluation.means(values) if outcome.average is None else outcome.average
        values = np.asarray(values, dtype=np.float64)
        return np.broadcast_to(values, (*values.shape[:-1], self._row_count))

    @property
    def _row_count(self) -> int:
        return self.evaluation.count if self.by == "dispatch" else self.evaluation.group_count


def row_frame(dispatches: pl.DataFrame, by: str) -> pl.DataFrame:
    """The rows without values: kernel, kernel_name, dispatch, dispatch_id, gpu, dispatch_count, duration_ns_mean.

    `dispatches` have the rank of their kernel. What is not the same for all dispatches of a row is null.
    """
    duration = (pl.col("end_ns") - pl.col("start_ns")).alias("duration_ns_mean")
    identity = ("kernel", "kernel_name")
    if by == "dispatch":
        count = pl.lit(1, pl.UInt32).alias("dispatch_count")
        return dispatches.select(*identity, "dispatch", "dispatch_id", "gpu", count, duration)
    totals = (pl.len().cast(pl.UInt32).alias("dispatch_count"), duration.mean())
    blank: dict[str, type[pl.DataType]] = {"dispatch": pl.UInt32, "dispatch_id": pl.Int64, "gpu": pl.Int32}
    if by == "kernel":
        rows = dispatches.group_by("kernel").agg(pl.col("kernel_name").first(), *totals).sort("kernel")
    else:
        rows = dispatches.select(*totals)
        blank |= {"kernel": pl.UInt32, "kernel_name": pl.String}
    rows = rows.with_columns(pl.lit(None, dtype).alias(name) for name, dtype in blank.items())
    return rows.select(*identity, "dispatch", "dispatch_id", "gpu", "dispatch_count", "duration_ns_mean")


def evaluator(
    counters: CounterSet,
    *,
    by: str,
    choice: CounterChoice = ALL_DISPATCHES,
    normalization: str = "kernel",
    amd: bool = False,
) -> Evaluator:
    """An evaluator; ratios are ratios of sums over the dispatches of a row, amounts are means per dispatch.

    With AMD's rules (`amd`) a row is the mean over its dispatches. Raises `UsageError` when the choice or `by` does not
    exist.
    """
    if by not in _BY:
        raise UsageError(f"no rows by {by[:60]!r}", advice=f"rows are by {', '.join(_BY)}")
    dispatches = ranked_dispatches(counters, chosen_with_rules(counters, choice, amd=amd))
    groups = dispatches["kernel"].rank("dense").cast(pl.Int64).to_numpy() - 1 if by == "kernel" else None
    evaluation = Evaluation(counters, dispatches, normalization=normalization, is_reference=amd, groups=groups)
    return Evaluator(evaluation, dispatches, by)


@dataclass(frozen=True)
class Measured:
    """Values of formulas."""

    frame: pl.DataFrame  #: `row_frame`, and one Float64 column per formula; null = no value.
    reasons: dict[str, str] = field(hash=False)  #: Formula -> why it has no value in any row.


def evaluate(
    counters: CounterSet,
    formulas: Mapping[str, str | Formula],
    *,
    by: str = "kernel",
    choice: CounterChoice = ALL_DISPATCHES,
    amd: bool = False,
) -> Measured:
    """Values of named formulas as a table.

    Raises `UsageError` when a formula is not of the notation, or the choice or `by` does not exist.
    """
    selected = evaluator(counters, by=by, choice=choice, amd=amd)
    parsed = [Formula(formula) if isinstance(formula, str) else formula for formula in formulas.values()]
    columns = []
    reasons = {}
    for name, outcome in zip(formulas, selected.outcomes(parsed), strict=True):
        values = selected.per_row(outcome)
        if not np.isfinite(values).any():
            reasons[name] = outcome.reason or "no dispatch has a value"
        columns.append(pl.Series(name, np.array(values)).fill_nan(None))
    return Measured(row_frame(selected.dispatches, by).with_columns(columns), reasons)
