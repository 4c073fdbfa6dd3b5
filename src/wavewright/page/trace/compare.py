"""Comparison of two traces of a page: totals, stall classes and units of code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.trace.compare import KINDS, Comparison, compare
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion, one_of
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import Parameters, place


def compared(document: Document, *, other: int, by: str = "instruction") -> Any:
    """The changes from document `other`, the base, to this trace: totals, stall classes, a verdict in words.

    Traces of different kernels can be compared; `different_kernels` tells.
    """
    comparison = _comparison(document, other, by)
    names = "by noise_from repeat_count unused_repeat_count same_code matched_share different_kernels traces"
    return serialize(
        {
            "definition": comparison.definition,
            "verdict": comparison.verdict(),
            "standing_out_count": comparison.standing_out().height,
            **{name: getattr(comparison, name) for name in names.split()},
            "stall_classes": comparison.stall_classes,
            "idle_parts": comparison.idle_parts,
        }
    )


def units(document: Document, *, other: int, by: str = "instruction") -> pl.DataFrame:
    """The units (instructions, lines, ...) of both traces with their costs, in the order of the code."""
    return _comparison(document, other, by).units.sort("unit").drop("trace", "address", "base_address")


def _comparison(document: Document, other: int, by: str) -> Comparison:
    if document.library is None or not 0 <= other < len(document.library.documents):
        raise UsageError(f"there is no document {other}")
    base = document.library.document(other)
    if base.number == document.number:
        raise UsageError("a trace cannot be compared with itself", advice="open two: `wavewright open BEFORE AFTER`")
    traces, labels = [base.trace, document.trace], [base.label, document.label]
    return document.kept(("compare", other, by), lambda: compare(traces, by=by, labels=labels, force=True))


def _every_pair(document: Document) -> Iterator[dict[str, Any]]:
    """Every other trace with instructions, by every kind of unit."""
    if document.library is None or not document.trace.instructions.height:
        return
    for other in document.library.documents:
        if other.number != document.number and other.kind == "trace" and other.trace.instructions.height:
            yield from ({"other": other.number, "by": by} for by in KINDS)


_PARAMETERS: Parameters = {"other": place, "by": one_of("cannot compare by", KINDS, "one of")}

QUESTIONS = (
    PageQuestion("compare", compared, _PARAMETERS, required=("other",), exported=_every_pair),
    PageQuestion("compare_units", units, _PARAMETERS, required=("other",), exported=_every_pair),
)
