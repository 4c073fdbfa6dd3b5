"""Answers of the analyses of counters, as they are, and single dispatches."""

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
from wavewright.analysis.counters.values.evaluated import metric_values
from wavewright.errors import UsageError
from wavewright.facts.metrics.panels import panels_of
from wavewright.model.document import Document
from wavewright.page.counters.kernels import choice_of, every_choice, every_kernel, kernels_of, normalized
from wavewright.page.counters.panels import PARAMETERS
from wavewright.page.protocol.question import PageQuestion, every_other
from wavewright.page.protocol.serialize import MOST_ROWS, doubles, serialize
from wavewright.questions.kit.parameters import Parameters, place, text

#: Kernels, the longest, that an answer about all of them carries; its `kernel_count` tells how many there are.
_MOST_LIMITS = 20


def diagnosis_of(document: Document, *, kernel: int | None = None) -> Any:
    """Every limiter of one kernel, or of the longest ones, with its verdict and evidence (`limiters`)."""

    def make() -> Any:
        return serialize(limiters(document.counters, choice=choice_of(document, kernel), top=_MOST_LIMITS))

    return make() if kernel is not None else document.kept(("counters", "diagnosis"), make)


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


#: Kernels, the longest, that an answer about all of them carries (web/src/views/roofline/ceilings.ts knows it, too).
MOST_KERNELS = 300


def ceilings(name: str) -> str:
    """A parser of which roofs kernels are compared with.

    >>> ceilings("empirical")
    'empirical'
    """
    if name not in CHOICES:
        raise UsageError(f"no roofs {name[:40]!r}", advice=f"there are {', '.join(CHOICES)}")
    return name


def roofline_of(document: Document, *, ceilings: str = "best", kernel: int | None = None) -> Any:
    """Roofs and kernels (`analysis.counters.roofline`), or one kernel; `kernels` tells how many rows it has."""
    if kernel is not None:
        return _roofline(document, ceilings, kernel)
    return document.kept(("counters", "roofline", ceilings), lambda: _roofline(document, ceilings, None))


def _roofline(document: Document, ceilings: str, kernel: int | None) -> dict[str, Any]:

    answer = roofline(document.counters, choice=choice_of(document, kernel), ceilings=ceilings)
    kernels = answer.kernels.head(MOST_KERNELS)
    tables = {name: getattr(answer, name).join(kernels, on="kernel", how="semi") for name in ("points", "operations")}
    content: dict[str, Any] = serialize(replace(answer, kernels=kernels, **tables), top=None)
    content["kernels"]["row_count"] = answer.kernels.height
    return content


def _every_ceiling(_: Document) -> list[dict[str, str]]:
    return [{}, *({"ceilings": choice} for choice in CHOICES)]


_ROOFS: Parameters = {"ceilings": ceilings, "kernel": place}

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
    """Every counter of every pass over the dispatches of one kernel, or of all (`analysis.counters.raw`)."""
    return serialize(raw_counters(document.counters, choice=choice_of(document, kernel)), top=None)


def _every_table(document: Document) -> list[dict[str, str]]:
    return [{"table": table} for table in _tables(document)] if document.counters.measured else []


_MOST_COMPARED = 20_000  # metrics of all kernels: more than other tables have


def counters_against(document: Document, *, base: int) -> Any:
    """The capture against the document `base` (`analysis.counters.compare`): kernel times and metrics, beyond noise.

    Rows about a kernel have its rank in this capture, too; null = only the base has it.
    """
    if document.library is None or base == document.number:
        problem = "a counter capture is compared with another one"
        raise UsageError(problem, advice="open both: wavewright open BEFORE AFTER")
    other = document.library.document(base)
    return document.kept(("counters", "compare", base), lambda: _compared(other, document))


def _compared(base: Document, document: Document) -> dict[str, Any]:

    answer = counter_compare([base.counters, document.counters])
    labels = [f"A: {base.label}", f"B: {document.label}"]  # notes call them by their letters
    ranks = kernels_of(document).select("kernel_name", "kernel")
    rankings = {
        name: getattr(answer, name).join(ranks, on="kernel_name", how="left", nulls_equal=True, maintain_order="left")
        for name in ("kernels", "metrics")
    }
    sides = answer.sides.with_columns(label=pl.Series(labels, dtype=pl.String))
    content: dict[str, Any] = serialize(replace(answer, sides=sides, **rankings), top=_MOST_COMPARED)
    return content | {"verdict": replace(answer, sides=sides).verdict(1)}


QUESTIONS = (
    PageQuestion("counter_diagnosis", diagnosis_of, {"kernel": place}, (), every_kernel),
    PageQuestion("counter_dispatches", dispatches, {"kernel": place}, (), every_kernel),
    PageQuestion("memory_chart", memory_chart_of, PARAMETERS, (), every_choice),
    PageQuestion("counter_roofline", roofline_of, _ROOFS, (), _every_ceiling),
    PageQuestion(
        "counter_values",
        dispatch_values,
        {"table": text, "normalization": normalized},
        ("table",),
        _every_table,
    ),
    PageQuestion("counter_raw", raw_counters_of, {"kernel": place}, (), every_kernel),
    PageQuestion("counter_compare", counters_against, {"base": place}, ("base",), every_other),
)
