"""Metrics of a counter capture: what is declared of them, their values, and the values per L2 channel."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.facts.metrics.declared import MetricTable, Panel
from wavewright.facts.metrics.panels import panels_of
from wavewright.model.answer import to_builtins
from wavewright.model.document import Document
from wavewright.page.counters.kernels import choice_of, every_choice, normalized, stored_panels_of
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import doubles
from wavewright.questions.kit.parameters import Parameters, place

PARAMETERS: Parameters = {"kernel": place, "normalization": normalized}


def metrics(document: Document) -> list[dict[str, Any]]:
    """The panels of the capture's GPU as they are declared, or those of stored metrics; none for an unknown GPU."""
    return [
        {
            "number": panel.number,
            "word": panel.word,
            "title": panel.title,
            "tables": [_serialized(table) for table in panel.tables],
        }
        for panel in _declared(document)
    ]


def _declared(document: Document) -> tuple[Panel, ...]:
    if panels := stored_panels_of(document):  # by the ids of the version that computed them
        return panels.panels
    return panels_of(document.counters.system.target or "")


def _serialized(table: MetricTable) -> dict[str, Any]:
    result: dict[str, Any] = to_builtins(table)
    return result | {"columns": table.columns}


def panels(document: Document, *, kernel: int | None = None, normalization: str = "kernel") -> dict[str, Any]:
    """Every metric over the dispatches of one kernel, or of all; those per channel are in `channels`."""

    def make() -> CounterPanels:
        return _evaluated(document, kernel, normalization, per_channel=False)

    # those of all kernels are asked first and again; those of single ones would pile up
    answer = make() if kernel is not None else document.kept(("counters", "panels", normalization), make)
    rows = answer.rows.filter(pl.col("channel").is_null()).drop("channel")
    return {
        "definition": answer.definition,
        "dispatch_count": answer.dispatch_count,
        "rows": {"row_count": rows.height, "rows": rows.to_dicts()},
        "caveats": answer.caveats,
    }


def channels(document: Document, *, kernel: int | None = None, normalization: str = "kernel") -> pl.DataFrame:
    """The metrics per L2 channel: table_id, metric_id, name, series, channel, unit, average, reason."""
    answer = _evaluated(document, kernel, normalization, per_channel=True)
    columns = ("table_id", "metric_id", "name", "series", "channel", "unit", "average", "reason")
    # a table whose values are quartiles may have no average: then the median stands for the channel
    value = pl.coalesce("average", "median").alias("average")
    return doubles(answer.rows.filter(pl.col("channel").is_not_null()).with_columns(value).select(columns))


def _evaluated(document: Document, kernel: int | None, normalization: str, *, per_channel: bool) -> CounterPanels:
    """The tables per channel have ten times as many rows as all others: they are evaluated when they are looked at."""
    tables = [table.id for panel in _declared(document) for table in panel.tables if table.per_channel == per_channel]
    choice = choice_of(document, kernel)
    return counter_panels(document.counters, choice=choice, panels=tuple(tables), normalization=normalization)


QUESTIONS = (
    PageQuestion("counter_metrics", metrics),
    PageQuestion("counter_panels", panels, PARAMETERS, (), every_choice),
    PageQuestion("counter_channels", channels, PARAMETERS, (), every_choice),
)
