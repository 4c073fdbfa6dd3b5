"""Captures of one kind against the first of them: what reports and agents answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.errors import UsageError
from wavewright.questions.beside import words_beside_questions
from wavewright.questions.kit.question import Wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.model.document import Document
    from wavewright.questions.kit.question import Parts


def check_comparable(kinds: Sequence[str], labels: Sequence[str] = ()) -> None:
    """Refuse captures of different kinds, which the message calls by their labels.

    Raises `UsageError` when not all are of one kind.
    """
    from wavewright.model.document import DOCUMENTS

    if len(set(kinds)) < 2:
        return
    words = [DOCUMENTS[kind] for kind in kinds]
    sentences = [f"{label} is {word}" for label, word in zip(labels, words, strict=True)] if labels else []
    sentence = ", ".join(sentences) or f"these are {' and '.join(dict.fromkeys(words))}"
    raise UsageError(sentence, advice="compare traces with traces, runs with runs, counters with counters")


def compared(documents: Sequence[Document], labels: list[str], *, step: str | None = None, force: bool = True) -> Any:
    """The answer of the comparison that suits the kind, computed once.

    Of runs, `step` names a marker: times are then of each step. Traces of different kernels need `force`.
    """
    # By their openers, not their ids: a document that left memory may give its id to another one.
    key = ("compared", tuple(document.opener for document in documents), tuple(labels), step)
    return documents[0].kept(key, lambda: _compared(documents, labels, step, force=force))


def _compared(documents: Sequence[Document], labels: Sequence[str], step: str | None, *, force: bool) -> Any:
    kind = documents[0].kind
    if kind == "run":
        from wavewright.analysis.run.compare.compare import compare_runs

        return compare_runs([document.run for document in documents], labels=labels, step=step)
    if kind == "counters":
        from wavewright.analysis.counters.compare import counter_compare

        return counter_compare([document.counters for document in documents])
    from wavewright.analysis.trace.compare import compare
    from wavewright.questions.trace.trace_question import check_code

    for document in documents:
        check_code(document, document.trace)
    return compare([document.trace for document in documents], by=None, labels=labels, force=force)


def comparison_words(answer: Any, labels: Sequence[str], kind: str, limit: int) -> Parts:
    """The words of a comparison of captures with these labels."""
    words = words_beside_questions(answer)
    keywords = {"paths": labels} if kind == "run" else {}
    return words(answer, Wording(limit, how=keywords)) if words else ()
