"""Any formulas over a capture, per kernel or per dispatch: what roofline, memory chart and diagnosis are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from wavescope.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, ranked_dispatches
from wavescope.analysis.counters.engine.evaluation import Evaluation
from wavescope.analysis.counters.engine.reference import dispatches_under
from wavescope.errors import UsageError
from wavescope.facts.metrics.panels import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavescope.model.counters import CounterSet

_BY = ("kernel", "dispatch", "all")


@dataclass(frozen=True)
class Measured:
    """Values of formulas."""

    #: One row per kernel (the longest first), per dispatch, or one: kernel, kernel_name, dispatch, dispatch_count,
    #: duration_ns_mean, and one Float64 column per formula; null = no value.
    frame: pl.DataFrame
    reasons: dict[str, str] = field(hash=False)  #: Formula -> why it has no value in any row.


def measure(
    counters: CounterSet,
    formulas: Mapping[str, str],
    *,
    by: str = "kernel",
    choice: CounterChoice = ALL_DISPATCHES,
    rules: str = "corrected",
    levels: Mapping[str, str] | None = None,
) -> Measured:
    """Evaluate formulas; ratios are ratios of sums over the dispatches of a row, amounts are means per dispatch.

    `levels`: formula -> level counter whose pass it reads. Under the reference's rules a row is the mean over its
    dispatches.

    Raises
    ------
    UsageError
        When a formula is not of the notation, or the choice or `by` does not exist.
    """
    if by not in _BY:
        raise UsageError(f"no rows by {by[:60]!r}", advice=f"rows are by {', '.join(_BY)}")
    dispatches = dispatches_under(rules, counters, choice)
    described, groups = _described(ranked_dispatches(counters, dispatches), by)
    evaluation = Evaluation(counters, dispatches, is_reference=rules != RULES[0], groups=groups)
    evaluation.load(formulas.values())
    columns: dict[str, Any] = {}
    reasons = {}
    for name, formula in formulas.items():
        outcome = evaluation.evaluate(formula, level=(levels or {}).get(name, ""))
        values = np.full(described.height, np.nan)
        if outcome.values is not None:
            if by == "dispatch":
                values = np.broadcast_to(np.asarray(outcome.values, dtype=np.float64), (dispatches.height,))
            else:
                values = evaluation.means(outcome.values) if outcome.average is None else outcome.average
        if not np.isfinite(values).any():
            reasons[name] = outcome.reason or "no dispatch has a value"
        columns[name] = pl.Series(name, np.array(values, dtype=np.float64)).fill_nan(None)
    return Measured(described.with_columns(columns.values()), reasons)


def _described(named: pl.DataFrame, by: str) -> tuple[pl.DataFrame, Any]:
    """The rows without values, and for each dispatch its row; None = all are one row."""
    duration = pl.col("end_ns") - pl.col("start_ns")
    if by == "dispatch":
        columns = ("kernel", "kernel_name", "dispatch")
        rows = named.select(*columns, pl.lit(1, pl.UInt32).alias("dispatch_count"), duration_ns_mean=duration)
        return rows, pl.int_range(named.height, eager=True).to_numpy()
    counted = (pl.len().cast(pl.UInt32).alias("dispatch_count"), duration.mean().alias("duration_ns_mean"))
    if by == "all":
        whole = named.select(*counted)
        blank = {"kernel": pl.UInt32, "kernel_name": pl.String, "dispatch": pl.UInt32}
        return whole.select(*(pl.lit(None, kind).alias(name) for name, kind in blank.items()), *whole.columns), None
    rows = named.group_by("kernel", "kernel_name").agg(*counted).sort("kernel")
    place = named.join(
        rows.with_row_index("row").select("kernel", "row"), on="kernel", maintain_order="left", how="left"
    )
    order = ("kernel", "kernel_name", "dispatch", "dispatch_count", "duration_ns_mean")
    return rows.with_columns(pl.lit(None, pl.UInt32).alias("dispatch")).select(order), place["row"].cast(
        pl.Int64
    ).to_numpy()
