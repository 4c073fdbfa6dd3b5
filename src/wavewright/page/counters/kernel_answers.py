"""Results of counter analyses for the page: diagnosis, dispatches, memory chart, roofline, raw counters, comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from wavewright.analysis.counters.choice import chosen_dispatches
from wavewright.analysis.counters.compare import counter_compare
from wavewright.analysis.counters.limiters import limiters
from wavewright.analysis.counters.memory_chart import memory_chart
from wavewright.analysis.counters.raw import raw_counters
from wavewright.analysis.counters.roofline import roofline
from wavewright.analysis.counters.roofline.ceilings import CHOICES
from wavewright.analysis.counters.values import metric_values
from wavewright.errors import UsageError
from wavewright.facts.metrics.panels import panels_of
from wavewright.model.document import Document
from wavewright.page.counters.kernels import choice_of, every_choice, every_kernel, kernels_of, normalized
from wavewright.page.counters.panels import PARAMETERS
from wavewright.page.protocol.question import PageQuestion, every_other, once_per_document, one_of
from wavewright.page.protocol.serialize import MOST_ROWS, doubles, serialize
from wavewright.questions.kit.parameters import Parameters, place, text

# Limits of the rows of an answer; each answer also has the number of all.
_MOST_DIAGNOSED = 20  #: Kernels of the diagnosis of all, the longest.
MOST_KERNELS = 300  #: Kernels of a roofline, the longest (web/src/views/roofline/ceilings.ts knows the number too).
MOST_DISPATCHES = 20_000  #: The first ones.
_MOST_COMPARED = 20_000  #: Metrics of all kernels: more than other tables have.


def diagnosis_of(document: Document, *, kernel: int | None = None) -> Any:
    """Every limiter of one kernel, or of the longest ones, with its verdict and evidence (`limiters`)."""
    return _diagnosis_of_all(document) if kernel is None else _diagnosis(document, kernel)


def _diagnosis(document: Document, kernel: int | None) -> Any:
    return serialize(limiters(document.counters, choice=choice_of(document, kernel), top=_MOST_DIAGNOSED))


@once_per_document
def _diagnosis_of_all(document: Document) -> Any:
    return _diagnosis(document, None)


def dispatches(document: Document, *, kernel: int | None = None) -> dict[str, Any]:
    """The dispatches of one kernel or of all, in the order of the capture, with duration and rank of the kernel."""
    rows = chosen_dispatches(document.counters, choice_of(document, kernel))
    ranks = kernels_of(document).select("kernel_name", "kernel")
    page_rows = (
        rows.head(MOST_ROWS)
        .join(ranks, on="kernel_name", how="left", nulls_equal=True, maintain_order="left")
        .with_columns(pl.col("kernel_name").fill_null(""), duration_ns=pl.col("end_ns") - pl.col("start_ns"))
        .drop("start_ns", "end_ns", "agent", "process_id", "kernel_name_spelled")
    )
    return {"dispatches": serialize(page_rows) | {"row_count": rows.height}}


def memory_chart_of(document: Document, *, kernel: int | None = None, normalization: str = "kernel") -> Any:
    """Blocks, their values and the wires between them (`analysis.counters.memory_chart`)."""
    answer = memory_chart(document.counters, choice=choice_of(document, kernel), normalization=normalization)
    content: dict[str, Any] = serialize(answer, top=None)
    del content["kernel_names"]  # the page knows them; there may be thousands
    return content


def roofline_of(document: Document, *, ceilings: str = "best", kernel: int | None = None) -> Any:
    """Roofs and kernels (`analysis.counters.roofline`), of all kernels or of one."""
    return _roofline_of_all(document, ceilings) if kernel is None else _roofline(document, ceilings, kernel)


@once_per_document
def _roofline_of_all(document: Document, ceilings: str) -> dict[str, Any]:
    return _roofline(document, ceilings, None)


def _roofline(document: Document, ceilings: str, kernel: int | None) -> dict[str, Any]:
    answer = roofline(document.counters, choice=choice_of(document, kernel), ceilings=ceilings)
    kernels = answer.kernels.head(MOST_KERNELS)
    tables = {name: getattr(answer, name).join(kernels, on="kernel", how="semi") for name in ("points", "operations")}
    content: dict[str, Any] = serialize(replace(answer, kernels=kernels, **tables), top=None)
    content["kernels"]["row_count"] = answer.kernels.height
    return content


def _every_ceiling(_: Document) -> list[dict[str, str]]:
    return [{}, *({"ceilings": choice} for choice in CHOICES)]


def dispatch_values(document: Document, *, table: str, normalization: str = "kernel") -> pl.DataFrame:
    """The metrics of one table for each dispatch: kernel, dispatch, dispatch_id, duration_ns, a column per metric id.

    `outlier_ids` names the metrics, or "duration", in which a dispatch differs from the others of its kernel.
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
    """Every counter of every pass over the dispatches of one kernel, or of all (`analysis.counters.raw`)."""
    return serialize(raw_counters(document.counters, choice=choice_of(document, kernel)), top=None)


def _every_table(document: Document) -> list[dict[str, str]]:
    return [{"table": table} for table in _tables(document)] if document.counters.measured else []


@once_per_document
def counters_against(document: Document, *, base: int) -> Any:
    """The changes from document `base` to this capture, beyond noise: kernel times and metrics.

    Rows about a kernel have its rank in this capture; null = only the base has the kernel.
    """
    if document.library is None or base == document.number:
        problem = "a counter capture is compared with another one"
        raise UsageError(problem, advice="open both: wavewright open BEFORE AFTER")
    other = document.library.document(base)
    answer = counter_compare([other.counters, document.counters])
    labels = [f"A: {other.label}", f"B: {document.label}"]  # notes call them by their letters
    ranks = kernels_of(document).select("kernel_name", "kernel")
    rankings = {
        name: getattr(answer, name).join(ranks, on="kernel_name", how="left", nulls_equal=True, maintain_order="left")
        for name in ("kernels", "metrics")
    }
    sides = answer.sides.with_columns(label=pl.Series(labels, dtype=pl.String))
    content: dict[str, Any] = serialize(replace(answer, sides=sides, **rankings), top=_MOST_COMPARED)
    return content | {"verdict": replace(answer, sides=sides).verdict(1)}


_ROOFS: Parameters = {"ceilings": one_of("no roofs", CHOICES, "there are"), "kernel": place}
_VALUES: Parameters = {"table": text, "normalization": normalized}
QUESTIONS = (
    PageQuestion("counter_diagnosis", diagnosis_of, {"kernel": place}, exported=every_kernel),
    PageQuestion("counter_dispatches", dispatches, {"kernel": place}, exported=every_kernel),
    PageQuestion("memory_chart", memory_chart_of, PARAMETERS, exported=every_choice),
    PageQuestion("counter_roofline", roofline_of, _ROOFS, exported=_every_ceiling),
    PageQuestion("counter_values", dispatch_values, _VALUES, required=("table",), exported=_every_table),
    PageQuestion("counter_raw", raw_counters_of, {"kernel": place}, exported=every_kernel),
    PageQuestion("counter_compare", counters_against, {"base": place}, required=("base",), exported=every_other),
)
