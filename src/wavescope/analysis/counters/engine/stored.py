"""Metrics that another tool computed and stored, in the same form as those computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavescope.analysis.counters.choice import ranked_kernels
from wavescope.analysis.counters.engine.answer import CounterPanels
from wavescope.analysis.counters.engine.asked import asked_panels
from wavescope.errors import UsageError
from wavescope.facts.metrics.declared import Metric, MetricTable, Panel
from wavescope.facts.metrics.panels import panels_of
from wavescope.model.schema import frame_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.analysis.counters.choice import CounterChoice
    from wavescope.model.counters import CounterSet

_STATISTICS = {
    "avg": "average",
    "value": "average",
    "min": "minimum",
    "max": "maximum",
    "peak": "peak",
    "pct of peak": "peak_share",
    "percent of peak": "peak_share",
    "std dev": "deviation",
    "q1": "q1",
    "median": "median",
    "q3": "q3",
}
_LAYOUTS = (
    ("peak", "peak"),
    ("q1", "quartiles"),
    ("deviation", "deviation"),
    ("minimum", "spread"),
    ("maximum", "spread"),
)
_SHOWN = 5


def stored_panels(
    counters: CounterSet, *, choice: CounterChoice, panels: Sequence[str] = (), metrics: Sequence[str] = ()
) -> CounterPanels:
    """The stored values of one kernel, or of the whole workload; nothing is computed anew.

    Raises
    ------
    UsageError
        When the kernel, a panel or a metric is not among what is stored, or single dispatches are asked for.

    Examples
    --------
    >>> import polars as pl
    >>> from wavescope.analysis.counters.choice import CounterChoice
    >>> from wavescope.model.counters import COUNTER_SET, CounterSet
    >>> row = {"metric_id": "17.1.2", "name": "Hit Rate", "statistic": "Avg", "value": 75.0, "unit": "Percent"}
    >>> held = CounterSet({"stored_metrics": frame_of(COUNTER_SET["stored_metrics"], [row])})
    >>> stored_panels(held, choice=CounterChoice()).rows.row(0, named=True)["average"]
    75.0
    """
    if choice.dispatches or choice.gpus:
        what = "the file holds computed metrics of kernels, not of single dispatches or GPUs"
        raise UsageError(what, where=counters.path, advice="leave out --dispatch and --gpu")
    stored = counters.stored_metrics
    ranked = _ranked(counters)
    names = list(ranked)
    kernel, others = _chosen_kernel(stored, names, choice, counters.path)
    mine = stored.filter(pl.col("kernel_name").eq_missing(pl.lit(kernel, pl.String)))
    rows, declared = _tables(mine, counters.system.target or "")
    chosen = asked_panels(declared, panels, metrics)
    wanted = {metric.id for panel in chosen for table in panel.tables for metric in table.metrics}
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
        rows=frame_of(CounterPanels.tables["rows"], [row for row in rows if row["metric_id"] in wanted]),
        caveats=tuple(caveats),
    )


def _ranked(counters: CounterSet) -> dict[str, dict[str, Any]]:
    """Kernels with stored values and what is known about their times, the longest first."""
    names = counters.stored_metrics["kernel_name"].drop_nulls().unique(maintain_order=True).to_list()
    known = {row["kernel_name"]: row for row in ranked_kernels(counters.dispatches).iter_rows(named=True)}
    ordered = [name for name in known if name in names]
    return {name: known.get(name, {}) for name in dict.fromkeys((*ordered, *names))}


def _chosen_kernel(
    stored: pl.DataFrame, names: Sequence[str], choice: CounterChoice, path: str
) -> tuple[str | None, int]:
    """The kernel whose values are given, None = the workload; and how many more there are to choose."""
    if not choice.kernels:
        if stored["kernel_name"].null_count():
            return None, 0
        return names[0], len(names) - 1
    found = []
    for word in choice.kernels:
        ranked = [names[int(word)]] if word.isascii() and word.isdigit() and int(word) < len(names) else []
        found += ranked or [name for name in names if word in name]
    found = list(dict.fromkeys(found))
    if not found:
        what = f"no kernel {choice.kernels[0][:80]!r} among the stored metrics"
        have = ", ".join(repr(name[:60]) for name in names[:_SHOWN])
        raise UsageError(
            what, where=path, advice=f"kernels: {have}" if names else "it has no metrics of single kernels"
        )
    return found[0], len(found) - 1


def _tables(stored: pl.DataFrame, target: str) -> tuple[list[dict[str, Any]], tuple[Panel, ...]]:
    words = {str(panel.number): panel.word for panel in panels_of(target)}
    rows: dict[str, dict[str, Any]] = {}
    titles: dict[str, tuple[str, str]] = {}
    for row in stored.iter_rows(named=True):
        identity = row["metric_id"] or ""
        table = identity.rpartition(".")[0] or identity
        titles.setdefault(table, (row["panel_title"] or "", row["table_title"] or ""))
        kept = rows.setdefault(
            identity,
            {
                "table_id": table,
                "metric_id": identity,
                "name": row["name"] or "",
                "series": "",
                "unit": row["unit"] or "",
                "reason": "",
            },
        )
        column = _STATISTICS.get((row["statistic"] or "").lower())
        if column:
            kept[column] = row["value"]
    for kept in rows.values():
        if kept.get("average") is None and kept.get("median") is None:
            kept["reason"] = "stored as empty"
    found: dict[str, dict[str, list[Metric]]] = {}
    for kept in rows.values():
        metric = Metric(kept["metric_id"], kept["name"], kept["unit"], None, source="stored in the file")
        found.setdefault(kept["table_id"].split(".", 1)[0], {}).setdefault(kept["table_id"], []).append(metric)
    panels = []
    for number, tables in found.items():
        made = tuple(
            MetricTable(table, titles[table][1], _layout([rows[m.id] for m in metrics]), tuple(metrics))
            for table, metrics in tables.items()
        )
        title = titles[next(iter(tables))][0]
        word = words.get(number, title.lower())
        panels.append(Panel(int(number) if number.isdigit() else 0, word, title, made))
    return list(rows.values()), tuple(panels)


def _layout(rows: Sequence[dict[str, Any]]) -> str:
    for column, layout in _LAYOUTS:
        if any(column in row for row in rows):
            return layout
    return "average"
