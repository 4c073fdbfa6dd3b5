"""A counter capture against another one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.counters.compare import counter_compare
from wavewright.errors import UsageError
from wavewright.page.counters.kernels import kernels_of
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import place

if TYPE_CHECKING:
    from wavewright.model.document import Document

_MOST_ROWS = 20_000  # metrics of all kernels: more than other tables have


def counters_against(document: Document, *, base: int) -> Any:
    """The capture against the document `base` (`analysis.counter_compare`): kernel times and metrics, beyond noise.

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
    sides = answer.sides.with_columns(label=_column(labels))
    content: dict[str, Any] = serialize(replace(answer, sides=sides, **rankings), top=_MOST_ROWS)
    return content | {"verdict": replace(answer, sides=sides).verdict(1)}


def _column(values: list[str]) -> Any:
    return pl.Series(values, dtype=pl.String)


def _every_other(document: Document) -> list[dict[str, int]]:
    others = document.library.documents if document.library else []
    return [{"base": other.number} for other in others if other.number != document.number and other.kind == "counters"]


QUESTIONS = (PageQuestion("counter_compare", "counters", counters_against, {"base": place}, ("base",), _every_other),)
