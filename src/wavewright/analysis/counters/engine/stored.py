"""Metrics that another tool computed and stored: the source for panels, values, rooflines and limiters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wavewright.analysis.counters.choice import CounterChoice, ranked_kernels
from wavewright.analysis.counters.engine.answer import CounterPanels, requested_panels
from wavewright.base.bounds import integer_of
from wavewright.errors import UsageError
from wavewright.facts.metrics.metric import Metric, MetricTable, Panel, metrics_in
from wavewright.facts.metrics.names import STORED_LAYOUTS, STORED_STATISTICS
from wavewright.facts.metrics.panels import panels_of
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of

_SHOWN = 5  #: Kernels that an error names.


@dataclass(frozen=True)
class StoredMetric:
    """One metric of one kernel."""

    kernel_name: str | None  #: None = of the whole workload.
    metric_id: str
    name: str
    unit: str
    panel_title: str
    table_title: str
    #: Column of `CounterPanels.rows` -> value; None = stored as empty.
    statistics: dict[str, float | None] = field(default_factory=dict, hash=False)


def is_stored(counters: CounterSet) -> bool:
    """True if a capture has computed metrics instead of counters."""
    return not counters.measured and counters.stored_metrics.height > 0


def stored_metrics(counters: CounterSet) -> list[StoredMetric]:
    """The stored metrics, in the order of the file."""
    metrics: dict[tuple[str | None, str], StoredMetric] = {}
    for row in counters.stored_metrics.iter_rows(named=True):
        key = row["kernel_name"], row["metric_id"] or ""
        if key not in metrics:
            name, unit, panel, table = (row[part] or "" for part in ("name", "unit", "panel_title", "table_title"))
            metrics[key] = StoredMetric(*key, name, unit, panel, table)
        column = STORED_STATISTICS.get((row["statistic"] or "").strip().lower())
        if column:
            metrics[key].statistics[column] = row["value"]
    return list(metrics.values())


def stored_panels(
    counters: CounterSet, *, choice: CounterChoice, panels: Sequence[str] = (), metrics: Sequence[str] = ()
) -> CounterPanels:
    """The stored values of one kernel, or of the whole workload; nothing is computed anew.

    Raises `UsageError` when the kernel, a panel or a metric is not among what is stored, or single dispatches are asked
    for.
    """
    if choice.dispatches or choice.gpus:
        what = "the file holds computed metrics of kernels, not of single dispatches or GPUs"
        raise UsageError(what, where=counters.path, advice="leave out --dispatch and --gpu")
    ranked = _ranked(counters)
    names = list(ranked)
    has_workload = counters.stored_metrics["kernel_name"].null_count() > 0
    kernel, others = _chosen_kernel(names, choice, counters.path, has_workload=has_workload)
    stored = [metric for metric in stored_metrics(counters) if metric.kernel_name == kernel]
    chosen = requested_panels(_panels(stored, counters.system.target or ""), panels, metrics)
    selected = {metric.id for _, metric in metrics_in(chosen)}
    kernels = [
        {**times, "kernel": rank, "kernel_name": name, "is_chosen": name == kernel or kernel is None}
        for rank, (name, times) in enumerate(ranked.items())
    ]
    caveats = [f"values are as {counters.path or 'the file'} stores them; how they were averaged is not said"]
    if others:
        caveats.append(f"values are of the kernel {kernel!r}; {others} more are chosen by --kernel")
    return CounterPanels(
        target=counters.system.target or "",
        product=counters.system.product or "",
        normalization="kernel",
        rules="stored",
        dispatch_count=counters.dispatches.height,
        panels=chosen,
        kernels=frame_of(CounterPanels.tables["kernels"], kernels),
        rows=frame_of(CounterPanels.tables["rows"], [_row(each) for each in stored if each.metric_id in selected]),
        caveats=tuple(caveats),
    )


def _ranked(counters: CounterSet) -> dict[str, dict[str, Any]]:
    """Kernels with stored values -> their row of `ranked_kernels`, empty = without dispatches; the longest first."""
    names = counters.stored_metrics["kernel_name"].drop_nulls().unique(maintain_order=True).to_list()
    row_by_name = {row["kernel_name"]: row for row in ranked_kernels(counters.dispatches).iter_rows(named=True)}
    ordered = [name for name in row_by_name if name in names]
    return {name: row_by_name.get(name, {}) for name in dict.fromkeys((*ordered, *names))}


def _chosen_kernel(names: list[str], choice: CounterChoice, path: str, *, has_workload: bool) -> tuple[str | None, int]:
    """The kernel whose values are given, None = the workload; and how many more there are to choose."""
    if not choice.kernels:
        return (None, 0) if has_workload else (names[0], len(names) - 1)
    matches: list[str] = []
    for word in choice.kernels:
        rank = integer_of(word, below=len(names))
        matches += [name for name in names if word in name] if rank is None else [names[rank]]
    matches = list(dict.fromkeys(matches))
    if not matches:
        what = f"no kernel {choice.kernels[0][:80]!r} among the stored metrics"
        have = ", ".join(repr(name[:60]) for name in names[:_SHOWN])
        advice = f"kernels: {have}" if names else "it has no metrics of single kernels"
        raise UsageError(what, where=path, advice=advice)
    return matches[0], len(matches) - 1


def _row(metric: StoredMetric) -> dict[str, Any]:
    has_value = metric.statistics.get("average") is not None or metric.statistics.get("median") is not None
    return {
        "table_id": _table_id(metric),
        "metric_id": metric.metric_id,
        "name": metric.name,
        "series": "",
        "unit": metric.unit,
        "reason": "" if has_value else "stored as empty",
        **metric.statistics,
    }


def _table_id(metric: StoredMetric) -> str:
    return metric.metric_id.rpartition(".")[0] or metric.metric_id


def _panels(stored: Sequence[StoredMetric], target: str) -> tuple[Panel, ...]:
    words = {str(panel.number): panel.word for panel in panels_of(target)}
    panels: dict[str, dict[str, list[StoredMetric]]] = {}  # Panel number -> table id -> its metrics.
    for metric in stored:
        table = _table_id(metric)
        panels.setdefault(table.split(".", 1)[0], {}).setdefault(table, []).append(metric)
    declared = []
    for number, tables in panels.items():
        title = next(iter(tables.values()))[0].panel_title
        metric_tables = tuple(_table(table, metrics) for table, metrics in tables.items())
        word = words.get(number, title.lower())
        declared.append(Panel(integer_of(number, below=1 << 31) or 0, word, title, metric_tables))
    return tuple(declared)


def _table(table: str, stored: Sequence[StoredMetric]) -> MetricTable:
    columns = {column for metric in stored for column in metric.statistics}
    layouts = (layout for column, layout in STORED_LAYOUTS.items() if column in columns)
    source = "stored in the file"
    metrics = tuple(Metric(metric.metric_id, metric.name, metric.unit, None, source=source) for metric in stored)
    return MetricTable(table, stored[0].table_title, next(layouts, "average"), metrics)
