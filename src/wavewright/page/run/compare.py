"""A run against another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.run.compare.compare import compare_runs
from wavewright.errors import UsageError
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.run.answers import serialized
from wavewright.questions.kit.parameters import place

if TYPE_CHECKING:
    from wavewright.model.document import Document


def run_against(document: Document, *, base: int) -> Any:
    """The run against the document `base` (`analysis.run.compare.compare`): what got slower or faster, beyond noise."""
    if document.library is None or base == document.number:
        raise UsageError("a run is compared with another one", advice="open both: wavewright open BEFORE AFTER")
    other = document.library.document(base)
    labels = [other.label, document.label]
    if labels[0] == labels[1]:
        labels = [f"{label} ({letter})" for label, letter in zip(labels, "AB", strict=True)]

    def make() -> Any:
        answer = compare_runs([other.run, document.run], labels=labels)
        return serialized(document, answer) | {"verdict": answer.verdict(1), "time_verdict": answer.time_verdict(1)}

    return document.kept(("run", "compare", base), make)


def _every_other_run(document: Document) -> list[dict[str, int]]:
    others = document.library.documents if document.library else []
    return [{"base": other.number} for other in others if other.number != document.number and other.kind == "run"]


QUESTIONS = (PageQuestion("run_compare", "run", run_against, {"base": place}, ("base",), _every_other_run),)
