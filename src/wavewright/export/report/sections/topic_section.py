"""Questions as sections, each with its pictures; those that cannot be answered say why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from wavewright.errors import UsageError, WavewrightError
from wavewright.model.blocks import Block, Picture, Preformatted
from wavewright.model.document import Document
from wavewright.model.report import Section
from wavewright.questions.catalog import QUESTIONS
from wavewright.questions.kit.plot import Plot
from wavewright.questions.kit.question import Question, Wording


def answered_section(
    document: Document, question: Question[Any], wording: Wording, *, with_pictures: bool = True
) -> Section:
    """The answer to a question as a section; where there is none, with the reason."""
    try:
        answer = question.answer(document)
        missing = question.missing(answer)
        if missing:
            return skipped_section(question, missing)
        section = question.worded(document, answer, wording)
    except WavewrightError as error:
        return skipped_section(question, error.what)
    pictures = list(_pictures(document, question.plots)) if with_pictures else []
    return replace(section, blocks=with_drawn(section.blocks, pictures)) if pictures else section


def skipped_section(question: Question[Any], reason: str) -> Section:
    """A section that says why it has nothing to say."""
    return Section(question.name, question.title, question.sentence, skipped=reason)


def with_drawn(blocks: tuple[Block, ...], pictures: Iterable[Picture]) -> tuple[Block, ...]:
    """The blocks with pictures after the first, the verdict; charts made of characters give way."""
    others = [block for block in blocks if not (isinstance(block, Preformatted) and block.is_chart)]
    return (*others[:1], *pictures, *others[1:])


def _pictures(document: Document, plots: Iterable[Plot]) -> Iterator[Picture]:
    for plot in plots:
        try:
            yield plot.draw(document)
        except UsageError:  # it cannot be drawn of this document
            continue


def chosen_questions(
    kind: str, names: Iterable[str], without: Iterable[str], listed: Iterable[str]
) -> list[Question[Any]]:
    """The questions of a report in their order: those asked for, else those listed, else all that reports have."""
    wanted, unwanted, usual = set(names), set(without), set(listed)
    questions = QUESTIONS[kind].values()
    if wanted:
        return [question for question in questions if question.name in wanted and question.name not in unwanted]
    return [
        question
        for question in questions
        if question.name not in unwanted and (question.name in usual if usual else not question.is_asked_for)
    ]
