"""The section of changes: captures compared with the first, beyond noise."""

from __future__ import annotations

from collections.abc import Sequence

from wavewright.base.words import side_label
from wavewright.model.blocks import readable
from wavewright.model.document import Document
from wavewright.model.report import Section
from wavewright.questions.comparison import check_comparable, compared, comparison_words
from wavewright.words.kit.answer_parts import data_tables, definition_of

NAME, TITLE = "changes", "What changed"
QUESTION = "What changed against the first capture, and is it more than noise?"


def comparison_section(documents: Sequence[Document], *, limit: int) -> Section:
    """The section about captures compared with the first one. Raises `UsageError` when they cannot be compared."""
    check_comparable([document.kind for document in documents])
    labels = labels_of(documents)
    answer = compared(documents, labels)
    parts = comparison_words(answer, labels, documents[0].kind, limit)
    return Section(NAME, TITLE, QUESTION, readable(parts), data_tables(answer), definition_of(answer))


def verdict_of(documents: Sequence[Document]) -> str:
    """The verdict about each capture but the first."""
    answer = compared(documents, labels_of(documents))
    return "; ".join(answer.verdict(number) for number in range(1, len(documents)))


def labels_of(documents: Sequence[Document]) -> list[str]:
    """The labels of captures, with letters where two are the same."""
    labels = [document.label for document in documents]
    if len(set(labels)) == len(labels):
        return labels
    return [f"{label} ({side_label(number)})" for number, label in enumerate(labels)]
