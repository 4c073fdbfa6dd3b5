"""Metrics of each kernel that another tool computed and stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavescope.analysis.counters.choice import CounterChoice
from wavescope.analysis.counters.engine.panels import counter_panels
from wavescope.analysis.counters.values.answer import MetricValues
from wavescope.analysis.counters.values.rows import declared
from wavescope.errors import UsageError
from wavescope.model.schema import frame_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.model.counters import CounterSet


def stored_values(
    counters: CounterSet,
    by: str,
    choice: CounterChoice,
    panels: Sequence[str],
    metrics: Sequence[str],
    *,
    all_channels: bool,
) -> MetricValues:
    """Values that another tool computed: of kernels only.

    Raises
    ------
    UsageError
        When they are asked for by dispatch, or nothing is chosen.
    """
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
        values=declared(kernels).with_columns(pl.Series(name, own, pl.Float64) for name, own in values.items()),
        outliers=frame_of(MetricValues.tables["outliers"], []),
    )
