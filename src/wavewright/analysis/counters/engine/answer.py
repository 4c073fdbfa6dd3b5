"""The result about the metrics of a capture, table by table, and the choice of the panels and metrics in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from wavewright.errors import UsageError
from wavewright.facts.metrics.metric import Metric, MetricTable, Panel, metrics_in
from wavewright.model.answer import Answer


@dataclass(frozen=True)
class CounterPanels(Answer, package=__package__):  # its definition and columns are in tables.toml of this package
    """Metrics of a counter capture, table by table."""

    target: str
    product: str
    normalization: str  #: kernel, wave, cycle or second.
    rules: str  #: corrected, or the reference whose rules were applied.
    dispatch_count: int  #: Chosen dispatches.
    panels: tuple[Panel, ...]  #: What was evaluated, in order.
    kernels: pl.DataFrame  #: One row per kernel of the capture, the longest first.
    rows: pl.DataFrame  #: One row per metric, or per channel of a metric.
    caveats: tuple[str, ...]  #: What limits the trust in the numbers.


def requested_panels(declared: Sequence[Panel], panels: Sequence[str], metrics: Sequence[str]) -> tuple[Panel, ...]:
    """The panels with only the requested tables and metrics; no request = all.

    `panels` are words, numbers or ids of tables and metrics (`l2`, `17`, `17.1`); `metrics` are ids or parts of names.
    Raises `UsageError` when a word fits nothing.
    """
    chosen = tuple(declared)
    if not declared and (panels or metrics):
        what = "there are no panels: the GPU is not known, or not one whose counters are"
        raise UsageError(what, advice="--target NAME says which it is; --panel raw shows the counters themselves")
    if panels:
        words = [word.strip().lower() for word in panels]
        chosen = _kept(chosen, lambda panel, table, metric: any(_is_in(word, panel, table, metric) for word in words))
        for word in words:
            places = ((panel, table, metric) for panel in declared for table, metric in metrics_in([panel]))
            if not any(_is_in(word, *place) for place in places):
                what = f"no panel {word[:60]!r}"
                have = ", ".join(f"{panel.word} ({panel.number})" for panel in declared)
                raise UsageError(what, advice=f"panels: {have}")
    if metrics:
        parts = [part.strip().lower() for part in metrics]
        matching = _kept(chosen, lambda _, table, metric: any(_is_named(part, table, metric) for part in parts))
        for part, word in zip(parts, metrics, strict=True):
            if not any(_is_named(part, table, metric) for table, metric in metrics_in(chosen)):
                what = f"no metric {word[:60]!r}{' in these panels' if panels else ''}"
                advice = "`wavewright metrics` lists them; those of a counter: `wavewright metrics COUNTER`"
                raise UsageError(what, advice=f"{advice}; --panel raw shows the counters themselves")
        chosen = matching
    return chosen


def _kept(panels: Sequence[Panel], is_kept: Callable[[Panel, MetricTable, Metric], bool]) -> tuple[Panel, ...]:
    selected = []
    for panel in panels:
        tables = []
        for table in panel.tables:
            metrics = tuple(metric for metric in table.metrics if is_kept(panel, table, metric))
            if metrics:
                tables.append(table if len(metrics) == len(table.metrics) else replace(table, metrics=metrics))
        if tables:
            selected.append(replace(panel, tables=tuple(tables)))
    return tuple(selected)


def _is_in(word: str, panel: Panel, table: MetricTable, metric: Metric) -> bool:
    return word in (panel.word, str(panel.number), table.id, metric.id, panel.title.lower())


def _is_named(part: str, table: MetricTable, metric: Metric) -> bool:
    return part in (metric.id, table.id) or part in metric.name.lower()
