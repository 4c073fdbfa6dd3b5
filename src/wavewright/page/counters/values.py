"""Metrics of single dispatches, to find those that are not like the others; and the counters behind all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.counters.raw import raw_counters
from wavewright.analysis.counters.values.evaluated import metric_values
from wavewright.errors import UsageError
from wavewright.facts.metrics.panels import panels_of
from wavewright.page.counters.kernels import choice_of, every_kernel, normalized
from wavewright.page.protocol.doubles import doubles
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import place, text

if TYPE_CHECKING:
    from wavewright.model.document import Document

#: Dispatches that an answer carries, the first ones; its column `dispatch_total` tells how many there are.
MOST_DISPATCHES = 20_000


def dispatch_values(document: Document, *, table: str, normalization: str = "kernel") -> pl.DataFrame:
    """The metrics of one table for each dispatch: kernel, dispatch, dispatch_id, duration_ns, a column per metric id.

    `outlier_ids` names the metrics, and "duration", by which a dispatch is not like the others of its kernel.
    """
    if table not in _tables(document):
        raise UsageError(f"there is no table {table[:40]!r}")
    answer = metric_values(document.counters, by="dispatch", panels=(table,), normalization=normalization)
    series_name = pl.when(pl.col("metric_id") == "").then(pl.lit("duration")).otherwise("metric_id")
    outliers = answer.outliers.group_by("dispatch").agg(series_name.str.join(" ").alias("outlier_ids"))
    page_rows = (
        answer.values.head(MOST_DISPATCHES)
        .join(outliers, on="dispatch", how="left", maintain_order="left")
        .with_columns(pl.col("outlier_ids").fill_null(""), dispatch_total=pl.lit(answer.values.height, pl.UInt32))
        .rename({"duration_ns_mean": "duration_ns"})
        .drop("kernel_name", "gpu", "dispatch_count")
    )
    return doubles(page_rows)


def _tables(document: Document) -> list[str]:
    panels = panels_of(document.counters.system.target or "")
    return [table.id for panel in panels for table in panel.tables if not table.per_channel]


def raw_counters_of(document: Document, *, kernel: int | None = None) -> Any:
    """Every counter of every pass over the dispatches of one kernel, or of all (`analysis.raw_counters`)."""

    return serialize(raw_counters(document.counters, choice=choice_of(document, kernel)), top=None)


def _every_table(document: Document) -> list[dict[str, str]]:
    return [{"table": table} for table in _tables(document)] if document.counters.measured else []


QUESTIONS = (
    PageQuestion(
        "counter_values",
        "counters",
        dispatch_values,
        {"table": text, "normalization": normalized},
        ("table",),
        _every_table,
    ),
    PageQuestion("counter_raw", "counters", raw_counters_of, {"kernel": place}, (), every_kernel),
)
