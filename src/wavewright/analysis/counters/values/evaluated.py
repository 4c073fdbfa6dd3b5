"""Metrics of the panels for each kernel or dispatch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice, chosen_dispatches, ranked_dispatches
from wavewright.analysis.counters.engine.evaluate import Formula, evaluator, row_frame
from wavewright.analysis.counters.engine.selection import requested_panels
from wavewright.analysis.counters.engine.stored import is_stored, stored_panels
from wavewright.analysis.counters.values.answer import MetricValues, answer_of, declared
from wavewright.errors import UsageError
from wavewright.facts.metrics.panels import RULES, panels_of
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of


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
        for channel, of_channel in [(None, values)] if values.ndim < 2 else enumerate(values):
            column = metric.id if channel is None else f"{metric.id}[{channel}]"
            has_value = np.isfinite(of_channel)
            columns.append(pl.Series(column, np.where(has_value, of_channel, np.nan)))
            row: dict[str, Any] = {
                "column": column,
                "metric_id": metric.id,
                "name": metric.name,
                "series": metric.series,
            }
            row |= {"channel": channel, "unit": metric.unit_per(normalization)}
            rows.append(row | {"reason": "" if has_value.any() else outcome.reason})
    frame = declared(row_frame(selected.dispatches, by)).with_columns(columns)
    return answer_of(counters.system.target, by, frame, rows, normalization=normalization, rules=RULES[amd])


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
    values = {name: [column.get(name) for column in columns] for name in descriptions}
    return MetricValues(
        by=by,
        target=answer.target,
        normalization=answer.normalization,
        rules=answer.rules,
        metrics=frame_of(MetricValues.tables["metrics"], list(descriptions.values())),
        values=declared(kernels).with_columns(pl.Series(name, numbers, pl.Float64) for name, numbers in values.items()),
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
        descriptions += [
            {"column": name, "metric_id": "", "name": name, "unit": "", "series": ""} for name in spellings.values()
        ]
        rows = rows.join(
            frame.select("dispatch", *spellings).rename(spellings), on="dispatch", how="left", maintain_order="left"
        )
    columns = [row["column"] for row in descriptions]
    values = rows.group_by("kernel").agg(pl.col(columns).mean()).sort("kernel") if by == "kernel" else rows
    frame = pl.concat([declared(row_frame(rows, by)), values.select(columns)], how="horizontal")
    for row in descriptions:
        row["reason"] = "" if frame[row["column"]].count() else "no dispatch has a value"
    return answer_of(counters.system.target, by, frame, descriptions, rules="raw")
