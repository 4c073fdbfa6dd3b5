"""Metrics of the panels and measured counters for each kernel or dispatch, and the dispatches that stand out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, chosen_dispatches, ranked_dispatches
from wavewright.analysis.counters.engine.answer import requested_panels
from wavewright.analysis.counters.engine.evaluate import Formula, evaluator, row_frame
from wavewright.analysis.counters.engine.stored import is_stored, stored_panels
from wavewright.errors import UsageError
from wavewright.facts.metrics.panels import RULES, panels_of
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of


@dataclass(frozen=True)
class MetricValues(Answer, package=__package__):
    """Values of metrics, one row per kernel or dispatch."""

    by: str  #: kernel or dispatch.
    target: str
    normalization: str
    rules: str  #: corrected, the reference whose rules were applied, stored, or raw: counters as they were measured.
    metrics: pl.DataFrame  #: One row per column of `values` that is a metric.
    values: pl.DataFrame  #: The columns in `tables.toml`, and a Float64 column per metric.
    outliers: pl.DataFrame

    def named(self) -> pl.DataFrame:
        """`values` with the names and units of the metrics as names of their columns, for plots."""
        names = {}
        for row in self.metrics.iter_rows(named=True):
            unit = f" ({row['unit']})" if row["unit"] else ""
            if row["metric_id"]:
                names[row["column"]] = f"{row['column']} {row['series'] or row['name']}{unit}"
        return self.values.rename(names)


def _declared_columns(rows: pl.DataFrame) -> pl.DataFrame:
    """The declared columns of `values`; what the rows lack is null."""
    types = MetricValues.tables["values"].dtypes
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in types.items()
    )


def metric_values(
    counters: CounterSet,
    *,
    by: str,
    choice: CounterChoice = ALL_DISPATCHES,
    panels: Sequence[str] = (),
    metrics: Sequence[str] = (),
    normalization: str = "kernel",
    amd: bool = False,
    more: Sequence[Path] = (),
    all_channels: bool = False,
) -> MetricValues:
    """Values of the chosen metrics of each kernel or dispatch; `all_channels`: those of single channels, too.

    Raises `UsageError` when `by` is neither kernel nor dispatch, or nothing is chosen.
    """
    if by not in ("kernel", "dispatch"):
        raise UsageError(f"no values by {by!r}", advice="by kernel or dispatch")
    if is_stored(counters):
        return _stored_values(counters, by, choice, panels, metrics, all_channels=all_channels)
    selected = evaluator(counters, by=by, choice=choice, normalization=normalization, amd=amd)
    panels_of_target = panels_of(counters.system.target or "", amd=amd, more=more)
    tables = [table for panel in requested_panels(panels_of_target, panels, metrics) for table in panel.tables]
    requested = [metric for table in tables if all_channels or not table.per_channel for metric in table.metrics]
    rows: list[dict[str, Any]] = []
    columns = []
    outcomes = selected.outcomes([Formula.of(metric) for metric in requested])
    for metric, outcome in zip(requested, outcomes, strict=True):
        values = selected.per_row(outcome)
        about = {"metric_id": metric.id, "name": metric.name, "series": metric.series}
        about["unit"] = metric.unit_per(normalization)
        for channel, channel_values in [(None, values)] if values.ndim < 2 else enumerate(values):
            column = metric.id if channel is None else f"{metric.id}[{channel}]"
            has_value = np.isfinite(channel_values)
            columns.append(pl.Series(column, np.where(has_value, channel_values, np.nan)))
            reason = "" if has_value.any() else outcome.reason
            rows.append(about | {"column": column, "channel": channel, "reason": reason})
    frame = _declared_columns(row_frame(selected.dispatches, by)).with_columns(columns)
    return _with_outliers(counters.system.target, by, frame, rows, normalization=normalization, rules=RULES[amd])


def _stored_values(
    counters: CounterSet,
    by: str,
    choice: CounterChoice,
    panels: Sequence[str],
    metrics: Sequence[str],
    *,
    all_channels: bool,
) -> MetricValues:
    """Values that another tool computed: of kernels only.

    Raises `UsageError` when they are asked for by dispatch, or nothing is chosen.
    """
    if by != "kernel":
        what = "the file holds computed metrics of kernels, not of single dispatches"
        raise UsageError(what, where=counters.path, advice="--by kernel")
    answer = stored_panels(counters, choice=choice, panels=panels, metrics=metrics)
    kernels = answer.kernels.filter(pl.col("is_chosen"))
    descriptions: dict[str, dict[str, Any]] = {}
    columns: list[dict[str, float | None]] = []
    for rank in kernels["kernel"]:
        stored = stored_panels(counters, choice=CounterChoice(kernels=(str(rank),)), panels=panels, metrics=metrics)
        rows = stored.rows.filter(pl.col("channel").is_null() | all_channels)
        columns.append({})
        for row in rows.iter_rows(named=True):
            name = row["metric_id"] if row["channel"] is None else f"{row['metric_id']}[{row['channel']}]"
            descriptions.setdefault(name, row | {"column": name})
            columns[-1][name] = row["average"]
    values = [pl.Series(name, [column.get(name) for column in columns], pl.Float64) for name in descriptions]
    return MetricValues(
        by=by,
        target=answer.target,
        normalization=answer.normalization,
        rules=answer.rules,
        metrics=frame_of(MetricValues.tables["metrics"], list(descriptions.values())),
        values=_declared_columns(kernels).with_columns(values),
        outliers=frame_of(MetricValues.tables["outliers"], []),
    )


def raw_values(counters: CounterSet, *, by: str, choice: CounterChoice = ALL_DISPATCHES) -> MetricValues:
    """Amounts of all counters, channels aside, of each dispatch, or the means over the dispatches of each kernel.

    A counter that several passes measured has a column for each of them, as `SQ_WAVES (pass name)`. Raises `UsageError`
    when nothing is chosen.
    """
    rows = ranked_dispatches(counters, chosen_dispatches(counters, choice))
    column_rows = counters.counters.filter(pl.col("channel").is_null())
    times = dict(column_rows.group_by("counter").len().iter_rows())
    names = dict(counters.passes.select("pass", "name").iter_rows())
    descriptions = []
    for number, frame in sorted(counters.measured.items()):
        pass_counters = column_rows.filter(pl.col("pass") == number).select("column", "counter").rows()
        pass_name = names.get(number)
        if list(names.values()).count(pass_name) > 1:
            pass_name = f"{pass_name}, pass {number}"
        spellings = {column: name if times[name] == 1 else f"{name} ({pass_name})" for column, name in pass_counters}
        blank = {"metric_id": "", "unit": "", "series": ""}
        descriptions += [{"column": name, "name": name} | blank for name in spellings.values()]
        values = frame.select("dispatch", *spellings).rename(spellings)
        rows = rows.join(values, on="dispatch", how="left", maintain_order="left")
    columns = [row["column"] for row in descriptions]
    values = rows.group_by("kernel").agg(pl.col(columns).mean()).sort("kernel") if by == "kernel" else rows
    frame = pl.concat([_declared_columns(row_frame(rows, by)), values.select(columns)], how="horizontal")
    for row in descriptions:
        row["reason"] = "" if frame[row["column"]].count() else "no dispatch has a value"
    return _with_outliers(counters.system.target, by, frame, descriptions, rules="raw")


def _with_outliers(
    target: str | None,
    by: str,
    frame: pl.DataFrame,
    metrics: list[dict[str, Any]],
    *,
    normalization: str = "kernel",
    rules: str = "corrected",
) -> MetricValues:
    """The answer for `frame`, which has the columns of `values` and those of `metrics`, with the outliers in it."""
    outliers = list(outlier_rows(frame, metrics)) if by == "dispatch" else []
    outliers.sort(key=lambda row: -(row["distance"] or float("inf")))
    return MetricValues(
        by=by,
        target=target or "",
        normalization=normalization,
        rules=rules,
        metrics=frame_of(MetricValues.tables["metrics"], metrics),
        values=frame.fill_nan(None),
        outliers=frame_of(MetricValues.tables["outliers"], outliers),
    )


_FEWEST = 5  #: A kernel with fewer dispatches has no outliers.
_FAR = 5.0  #: An outlier is more than this many deviations away from the median.
_DEVIATION_PER_MEDIAN = 1.4826  #: Standard deviation of a normal distribution over its median absolute one.
_LEAST_DIFFERENCE = 0.05  #: Share of the median that an outlier differs by at least, however equal the others are.


def outlier_rows(frame: pl.DataFrame, metrics: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Durations and metrics of dispatches far from the median of their kernel, which `frame` has a row for each of."""
    columns = [{"column": "duration_ns_mean", "metric_id": "", "name": "duration", "unit": "ns"}, *metrics]
    for part in frame.partition_by("kernel", maintain_order=True):
        if part.height < _FEWEST:
            continue
        for metric in columns:
            values = part[metric["column"]].cast(float).fill_null(float("nan")).to_numpy()
            if np.isfinite(values).sum() < _FEWEST:
                continue
            median = float(np.nanmedian(values))
            distances = np.abs(values - median)
            deviation = _DEVIATION_PER_MEDIAN * float(np.nanmedian(distances))
            is_far = (distances > _FAR * deviation) & (distances > _LEAST_DIFFERENCE * abs(median))
            for row in map(int, np.flatnonzero(is_far)):
                yield {
                    **{name: metric[name] for name in ("metric_id", "name", "unit")},
                    **{name: part[name][row] for name in ("dispatch", "dispatch_id", "kernel_name")},
                    "value": float(values[row]),
                    "median": median,
                    "distance": float(distances[row] / deviation) if deviation else None,
                }
