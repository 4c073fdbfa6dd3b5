"""Sections of a report that answer a question, with its pictures; without an answer they give the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from wavewright.errors import UsageError, WavewrightError
from wavewright.model.blocks import Picture, Preformatted
from wavewright.model.document import Document
from wavewright.model.report import Section
from wavewright.questions.catalog import QUESTIONS
from wavewright.questions.kit.question import Plot, Question, Wording


def answered_section(
    document: Document, question: Question[Any], wording: Wording, *, with_pictures: bool = True
) -> Section:
    """The section of a question; where it has no answer, a skipped one with the reason."""
    try:
        answer = question.answer(document)
        missing = question.missing(answer)
        if missing:
            return _skipped(question, missing)
        section = question.worded(document, answer, wording)
    except WavewrightError as error:
        return _skipped(question, error.what)
    pictures = list(_pictures(document, question.plots)) if with_pictures else []
    if not pictures:
        return section
    # pictures follow the verdict, which is the first block, and replace charts made of characters
    blocks = [block for block in section.blocks if not (isinstance(block, Preformatted) and block.is_chart)]
    return replace(section, blocks=(*blocks[:1], *pictures, *blocks[1:]))


def _skipped(question: Question[Any], reason: str) -> Section:
    return Section(question.name, question.title, question.sentence, skipped=reason)


def _pictures(document: Document, plots: Iterable[Plot]) -> Iterator[Picture]:
    for plot in plots:
        with suppress(UsageError):  # a picture that this document does not have
            yield plot.draw(document)


def chosen_questions(
    kind: str, names: Iterable[str], without: Iterable[str], listed: Iterable[str]
) -> list[Question[Any]]:
    """The questions of a report in their order: those asked for, else those listed, else all that reports have."""
    excluded, included = set(without), set(names) or set(listed)
    return [
        question
        for question in QUESTIONS[kind].values()
        if question.name not in excluded and (question.name in included if included else not question.is_asked_for)
    ]
