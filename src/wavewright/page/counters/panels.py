"""Metrics of a counter capture: their declarations, their values, and their values per L2 channel."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.facts.metrics.metric import Panel
from wavewright.facts.metrics.panels import panels_of
from wavewright.model.answer import to_builtins
from wavewright.model.document import Document
from wavewright.page.counters.kernels import choice_of, every_choice, normalized, stored_panels_of
from wavewright.page.protocol.question import PageQuestion, once_per_document
from wavewright.page.protocol.serialize import doubles
from wavewright.questions.kit.parameters import Parameters, place

PARAMETERS: Parameters = {"kernel": place, "normalization": normalized}


def metrics(document: Document) -> list[dict[str, Any]]:
    """The declared panels of the capture's GPU, or those of its stored metrics; none for an unknown GPU."""
    return [
        {name: getattr(panel, name) for name in ("number", "word", "title")}
        | {"tables": [to_builtins(table) | {"columns": table.columns} for table in panel.tables]}
        for panel in _declared(document)
    ]


def _declared(document: Document) -> tuple[Panel, ...]:
    if panels := stored_panels_of(document):  # by the ids of the version that computed them
        return panels.panels
    return panels_of(document.counters.system.target or "")


def panels(document: Document, *, kernel: int | None = None, normalization: str = "kernel") -> dict[str, Any]:
    """Every metric over the dispatches of one kernel, or of all; `channels` has those per channel."""
    if kernel is None:
        answer = _panels_of_all(document, normalization)
    else:
        answer = _evaluated(document, kernel, normalization, per_channel=False)
    rows = answer.rows.filter(pl.col("channel").is_null()).drop("channel")
    return {
        "definition": answer.definition,
        "dispatch_count": answer.dispatch_count,
        "rows": {"row_count": rows.height, "rows": rows.to_dicts()},
        "caveats": answer.caveats,
    }


@once_per_document
def _panels_of_all(document: Document, normalization: str) -> CounterPanels:
    return _evaluated(document, None, normalization, per_channel=False)


def channels(document: Document, *, kernel: int | None = None, normalization: str = "kernel") -> pl.DataFrame:
    """The metrics per L2 channel: table_id, metric_id, name, series, channel, unit, average, reason."""
    answer = _evaluated(document, kernel, normalization, per_channel=True)
    columns = ("table_id", "metric_id", "name", "series", "channel", "unit", "average", "reason")
    # a table whose values are quartiles may have no average: then the median stands for the channel
    value = pl.coalesce("average", "median").alias("average")
    return doubles(answer.rows.filter(pl.col("channel").is_not_null()).with_columns(value).select(columns))


def _evaluated(document: Document, kernel: int | None, normalization: str, *, per_channel: bool) -> CounterPanels:
    """The tables per channel, or all others: those per channel have ten times as many rows, and few users open them."""
    tables = [table.id for panel in _declared(document) for table in panel.tables if table.per_channel == per_channel]
    choice = choice_of(document, kernel)
    return counter_panels(document.counters, choice=choice, panels=tuple(tables), normalization=normalization)


QUESTIONS = (
    PageQuestion("counter_metrics", metrics),
    PageQuestion("counter_panels", panels, PARAMETERS, exported=every_choice),
    PageQuestion("counter_channels", channels, PARAMETERS, exported=every_choice),
)
