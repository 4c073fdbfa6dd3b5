"""Changes between captures, beyond noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wavewright.base.words import side_label
from wavewright.errors import UsageError
from wavewright.model.blocks import AnyBlock, readable
from wavewright.model.document import DOCUMENTS, Document
from wavewright.model.report import Section
from wavewright.questions.kit.question import WIDTH
from wavewright.words.kit.answer_parts import data_tables, definition_of

NAME, TITLE = "changes", "What changed"
QUESTION = "What changed against the first capture, and is it more than noise?"
_FINE_LINES = 3  #: Equal lines from which on lines are told apart; fewer are too coarse to compare.
_MAPPED_SHARE = 0.5


def check_comparable(documents: Sequence[Document]) -> None:
    """Refuse captures of different kinds.

    Raises
    ------
    UsageError
        When not all are of one kind.
    """
    kinds = dict.fromkeys(document.kind for document in documents)
    if len(kinds) > 1:
        what = f"these are {' and '.join(DOCUMENTS[kind] for kind in kinds)}"
        raise UsageError(what, advice="compare traces with traces, runs with runs, counters with counters")


def comparison_section(documents: Sequence[Document], *, limit: int) -> Section:
    """The captures against the first one.

    Raises
    ------
    UsageError
        When they cannot be compared.
    """
    check_comparable(documents)
    answer = compared(documents)
    parts = _words(documents, answer, limit)
    return Section(NAME, TITLE, QUESTION, readable(parts), data_tables(answer), definition_of(answer))


def verdict_of(documents: Sequence[Document]) -> str:
    """The comparison in a sentence for each capture but the first."""
    answer = compared(documents)
    return "; ".join(answer.verdict(number) for number in range(1, len(documents)))


def labels_of(documents: Sequence[Document]) -> list[str]:
    """Names of the captures: their labels, with letters where several are called alike."""
    labels = [document.label for document in documents]
    if len(set(labels)) == len(labels):
        return labels
    return [f"{label} ({side_label(number)})" for number, label in enumerate(labels)]


def compared(documents: Sequence[Document]) -> Any:
    """The answer of the comparison that suits the kind; computed once."""
    key = ("compared", tuple(id(document) for document in documents))
    return documents[0].kept(key, lambda: _compared(documents))


def _compared(documents: Sequence[Document]) -> Any:
    labels = labels_of(documents)
    kind = documents[0].kind
    if kind == "run":
        from wavewright.analysis.run.compare.compare import compare_runs

        return compare_runs([document.run for document in documents], labels=labels)
    if kind == "counters":
        from wavewright.analysis.counters.compare import counter_compare

        return counter_compare([document.counters for document in documents])
    from wavewright.analysis.trace.compare import compare
    from wavewright.questions.trace.trace_question import check_code

    traces = [document.trace for document in documents]
    for document in documents:
        check_code(document, document.trace)
    return compare(traces, by=_unit(traces), labels=labels, force=True)


def _unit(traces: Sequence[Any]) -> str:
    """Lines, if every trace has them for most of its instructions and they are not too coarse; else instructions."""
    from wavewright.analysis.trace.trust.mapping import mapping

    mapped = [mapping(trace) for trace in traces]
    is_fine = all(each.mapped_share > _MAPPED_SHARE and each.effective_line_count >= _FINE_LINES for each in mapped)
    return "line" if is_fine else "instruction"


def _words(documents: Sequence[Document], answer: Any, limit: int) -> Iterable[AnyBlock]:
    kind = documents[0].kind
    if kind == "run":
        from wavewright.words.run.run_changes import comparison_report

        return comparison_report(answer, paths=labels_of(documents), limit=limit)
    if kind == "counters":
        from wavewright.words.counters.capture_changes import counter_comparison_report

        return counter_comparison_report(answer, width=WIDTH, limit=limit)
    from wavewright.words.trace.trace_changes import compare_report

    return compare_report(answer, limit=limit)
