"""What are the metrics of each kernel, or of each dispatch, and which dispatches are not like the others?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from wavescope.analysis.counter_choice import CounterChoice, chosen_dispatches, ranked_kernels
from wavescope.analysis.metrics import counter_panels
from wavescope.analysis.metrics.asked import asked_panels
from wavescope.analysis.metrics.evaluation import Evaluation
from wavescope.errors import UsageError
from wavescope.metrics import RULES, panels_of
from wavescope.model.answer import Answer
from wavescope.model.schema import frame_of, table_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from wavescope.metrics import Metric
    from wavescope.model.counter_set import CounterSet
    from wavescope.model.schema import TableSpec

__all__ = ["MetricValues", "metric_values"]

_FEWEST = 5
"""Dispatches of a kernel from which on one of them can be an outlier."""
_FAR = 5.0
"""Deviations (1.4826 times the median absolute one) from the median."""
_LEAST_DIFFERENCE = 0.05
"""Of the median; smaller differences are no outliers, however equal the others are."""


@dataclass(frozen=True)
class MetricValues(Answer):
    """Values of metrics, one row per kernel or dispatch.

    Examples
    --------
    >>> MetricValues.tables["metrics"].columns[0].name
    'column'
    """

    definition: ClassVar[str] = (
        "Each metric is a formula over the counters of one dispatch (`wavescope metrics NAME`); those of a kernel are "
        "ratios of sums over its dispatches, or means per dispatch. An outlier is more than 5 deviations (1.4826 times "
        "the median absolute deviation) and 5 % away from the median of its kernel, which has at least 5 dispatches."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "metrics": table_spec(
            "metrics",
            "one metric, or one channel of one metric",
            """
            column     String  -  | its column in `values`: the metric's id, with [channel] if it has one
            metric_id  String  -  | panel.table.index
            name       String  -  | name
            series     String  -  | of tables with several values per channel: which one; else empty
            channel    UInt16  -  | L2 channel; null = the metric is not about one
            unit       String  -  | unit, with the normalization put in
            reason     String  -  | why there is no value at all; else empty
            """,
        ),
        "values": table_spec(
            "values",
            "one kernel or one dispatch, with one more column for each row of `metrics`",
            """
            kernel            UInt32   -   | rank of the kernel in the capture; --kernel takes it
            kernel_name       String   -   | its name
            dispatch          UInt32   -   | dispatches.dispatch; null = of all chosen dispatches of the kernel
            dispatch_id       Int64    -   | its id; likewise
            gpu               Int32    -   | its GPU; likewise, or not known
            dispatch_count    UInt32   -   | dispatches
            duration_ns_mean  Float64  ns  | mean duration; null = no sound timestamps
            """,
        ),
        "outliers": table_spec(
            "outliers",
            "one value that is not like those of the other dispatches of its kernel, the farthest first",
            """
            dispatch_id  Int64    -  | id of the dispatch
            kernel_name  String   -  | its kernel
            metric_id    String   -  | panel.table.index; empty = the duration
            name         String   -  | name of the metric
            unit         String   -  | unit
            value        Float64  -  | value of the dispatch
            median       Float64  -  | of the kernel's dispatches
            distance     Float64  -  | from the median, in deviations; null = all others are equal
            """,
        ),
    }

    by: str
    """kernel or dispatch."""
    target: str
    normalization: str
    rules: str
    metrics: pl.DataFrame
    values: pl.DataFrame
    outliers: pl.DataFrame

    def named(self) -> pl.DataFrame:
        """`values` with the names and units of the metrics as names of their columns, for plots.

        Examples
        --------
        >>> MetricValues.named.__name__
        'named'
        """
        names = {}
        for row in self.metrics.iter_rows(named=True):
            unit = f" ({row['unit']})" if row["unit"] else ""
            names[row["column"]] = f"{row['column']} {row['series'] or row['name']}{unit}"
        return self.values.rename(names)


def metric_values(
    counters: CounterSet,
    *,
    by: str,
    choice: CounterChoice | None = None,
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

    Examples
    --------
    >>> from wavescope.model.counter_set import CounterSet
    >>> metric_values(CounterSet({}), by="wave")
    Traceback (most recent call last):
    wavescope.errors.UsageError: no values by 'wave'; by kernel or dispatch
    """
    import numpy as np
    import polars as pl

    if by not in ("kernel", "dispatch"):
        what = f"no values by {by!r}"
        raise UsageError(what, advice="by kernel or dispatch")
    choice = choice or CounterChoice()
    if not counters.measured and counters.stored_metrics.height:
        return _stored(counters, by, choice, panels, metrics, all_channels=all_channels)
    chosen = chosen_dispatches(counters, choice)
    ranks = ranked_kernels(counters.dispatches).select("kernel", "kernel_name")
    rows = chosen.join(ranks, on="kernel_name", how="left", maintain_order="left", nulls_equal=True)
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
    frame = _kernels(rows) if by == "kernel" else _dispatches(rows)
    frame = frame.with_columns(pl.Series(name, values, dtype=pl.Float64) for name, values in named.values.items())
    found = frame_of(MetricValues.tables["metrics"], named.rows)
    outliers = list(_outliers(frame, named.rows)) if by == "dispatch" else []
    outliers.sort(key=lambda row: -(row["distance"] or float("inf")))
    return MetricValues(
        by=by,
        target=counters.system.target or "",
        normalization=normalization,
        rules=rules,
        metrics=found,
        values=frame.fill_nan(None),
        outliers=frame_of(MetricValues.tables["outliers"], outliers),
    )


def _stored(
    counters: CounterSet,
    by: str,
    choice: CounterChoice,
    panels: Sequence[str],
    metrics: Sequence[str],
    *,
    all_channels: bool,
) -> MetricValues:
    """Values that another tool computed: of kernels only."""
    import polars as pl

    if by != "kernel":
        what = "the file holds computed metrics of kernels, not of single dispatches"
        raise UsageError(what, where=counters.path, advice="--by kernel")
    whole = counter_panels(counters, choice=choice, panels=panels, metrics=metrics)
    kernels = whole.kernels.filter(pl.col("is_chosen"))
    described: dict[str, dict[str, Any]] = {}
    columns: list[dict[str, float | None]] = []
    for rank in kernels["kernel"]:
        one = counter_panels(counters, choice=CounterChoice(kernels=(str(rank),)), panels=panels, metrics=metrics)
        found = one.rows.filter(pl.col("channel").is_null() | all_channels)
        columns.append({})
        for row in found.iter_rows(named=True):
            name = row["metric_id"] if row["channel"] is None else f"{row['metric_id']}[{row['channel']}]"
            described.setdefault(name, row | {"column": name})
            columns[-1][name] = row["average"]
    values = {name: [one.get(name) for one in columns] for name in described}
    return MetricValues(
        by=by,
        target=whole.target,
        normalization=whole.normalization,
        rules=whole.rules,
        metrics=frame_of(MetricValues.tables["metrics"], list(described.values())),
        values=_declared(kernels).with_columns(pl.Series(name, own, pl.Float64) for name, own in values.items()),
        outliers=frame_of(MetricValues.tables["outliers"], []),
    )


class _Named:
    """Columns of values and the metrics that they are about."""

    def __init__(self, evaluation: Evaluation, *, is_grouped: bool) -> None:
        self._evaluation = evaluation
        self._is_grouped = is_grouped
        self.rows: list[dict[str, Any]] = []
        self.values: dict[str, Any] = {}

    def add(self, metric: Metric) -> None:
        """One metric, or one for each channel."""
        import numpy as np

        evaluation = self._evaluation
        row: dict[str, Any] = {"metric_id": metric.id, "name": metric.name, "series": metric.series, "channel": None}
        per = {"second": "s"}.get(evaluation.normalization, evaluation.normalization)
        row["unit"] = metric.unit.replace("/N", f"/{per}")
        if metric.formula is None:
            self._add(row, None, "this GPU has no counters for it")
            return
        outcome = evaluation.evaluate(metric.formula, level=metric.level, zero=metric.zero, prefix=metric.fabric_prefix)
        found = outcome.average if self._is_grouped else outcome.values
        if found is None and outcome.values is not None:
            each = np.asarray(outcome.values, np.float64)
            total, count = evaluation.over_groups(np.broadcast_to(each, (*each.shape[:-1], evaluation.count)))
            found = total / np.where(count, count, np.nan)
        if found is None or np.ndim(found) < 2:
            self._add(row, found, outcome.reason)
            return
        for channel, values in enumerate(found):
            self._add(row | {"channel": channel}, values, outcome.reason)

    def _add(self, row: dict[str, Any], values: Any, reason: str) -> None:
        import numpy as np

        count = self._evaluation.group_count if self._is_grouped else self._evaluation.count
        column = row["metric_id"] if row["channel"] is None else f"{row['metric_id']}[{row['channel']}]"
        known = np.full(count, np.nan) if values is None else np.broadcast_to(np.asarray(values, np.float64), count)
        self.values[column] = np.where(np.isfinite(known), known, np.nan)
        is_blank = bool(np.isnan(self.values[column]).all())
        self.rows.append(row | {"column": column, "reason": reason if is_blank else ""})


def _kernels(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    spent = pl.col("end_ns") - pl.col("begin_ns")
    found = rows.group_by("kernel").agg(
        pl.col("kernel_name").first(), dispatch_count=pl.len(), duration_ns_mean=spent.mean()
    )
    return _declared(found.sort("kernel"))


def _dispatches(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    spent = pl.col("end_ns") - pl.col("begin_ns")
    return _declared(rows.with_columns(dispatch_count=pl.lit(1), duration_ns_mean=spent))


def _declared(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    types = MetricValues.tables["values"].dtypes
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in types.items()
    )


def _outliers(frame: pl.DataFrame, metrics: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Durations and metrics of dispatches far from the median of their kernel."""
    import numpy as np

    asked = [{"column": "duration_ns_mean", "metric_id": "", "name": "duration", "unit": "ns"}, *metrics]
    for part in frame.partition_by("kernel", maintain_order=True):
        if part.height < _FEWEST:
            continue
        for metric in asked:
            values = part[metric["column"]].cast(float).fill_null(float("nan")).to_numpy()
            if np.isfinite(values).sum() < _FEWEST:
                continue
            median = float(np.nanmedian(values))
            away = np.abs(values - median)
            deviation = 1.4826 * float(np.nanmedian(away))
            far = (away > _FAR * deviation) & (away > _LEAST_DIFFERENCE * abs(median))
            for at in np.flatnonzero(far):
                yield {
                    **{name: metric[name] for name in ("metric_id", "name", "unit")},
                    "dispatch_id": part["dispatch_id"][int(at)],
                    "kernel_name": part["kernel_name"][int(at)],
                    "value": float(values[at]),
                    "median": median,
                    "distance": float(away[at] / deviation) if deviation else None,
                }
