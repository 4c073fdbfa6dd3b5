"""Dispatches of a counter capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.counters.choice import chosen_dispatches
from wavewright.page.counters.kernels import choice_of, every_kernel, kernels_of
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import MOST_ROWS, serialize
from wavewright.questions.kit.parameters import place

if TYPE_CHECKING:
    from wavewright.model.document import Document


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


QUESTIONS = (PageQuestion("counter_dispatches", "counters", dispatches, {"kernel": place}, (), every_kernel),)
