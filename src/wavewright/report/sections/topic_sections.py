"""Topics as sections, each with its pictures; those that cannot be answered say why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wavewright.errors import UsageError, WavewrightError
from wavewright.model.report import Picture, Preformatted, Section, Sentence
from wavewright.report.plots import PLOTS
from wavewright.report.topics import TOPICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wavewright.model.report import Block
    from wavewright.page.protocol.document import Document
    from wavewright.report.kit.topic import Topic, Wording


def topic_section(document: Document, topic: Topic, wording: Wording, *, with_pictures: bool = True) -> Section:
    """The answer to a topic as a section; where there is none, with the reason."""
    try:
        answer = topic.answer(document)
        missing = topic.missing(answer)
        if missing:
            return skipped_section(topic, missing)
        section = topic.worded(document, answer, wording)
    except WavewrightError as error:
        return skipped_section(topic, error.what)
    pictures = list(_pictures(document, topic.pictures)) if with_pictures else []
    return replace(section, blocks=with_drawn(section.blocks, pictures)) if pictures else section


def skipped_section(topic: Topic, reason: str) -> Section:
    """A section that says why it has nothing to say."""
    return Section(topic.name, topic.title, topic.question, skipped=reason)


def with_drawn(blocks: tuple[Block, ...], pictures: Iterable[Picture]) -> tuple[Block, ...]:
    """The blocks with pictures after the first, the verdict; charts made of characters and their captions give way."""
    shown: list[Block] = []
    for block in blocks:
        if not (isinstance(block, Preformatted) and block.is_chart):
            shown.append(block)
        elif len(shown) > 1 and isinstance(shown[-1], Sentence) and shown[-1].style == "plain":
            shown.pop()
    return (*shown[:1], *pictures, *shown[1:])


def _pictures(document: Document, names: Iterable[str]) -> Iterator[Picture]:
    for name in names:
        plot = PLOTS[document.kind].get(name)
        if plot is None:
            continue
        try:
            yield plot.draw(document)
        except UsageError:  # it cannot be drawn of this document
            continue


def chosen_topics(kind: str, names: Iterable[str], without: Iterable[str], listed: Iterable[str]) -> list[Topic]:
    """The topics of a report in their order: those asked for, else those listed, else all that reports have."""
    wanted, unwanted, usual = set(names), set(without), set(listed)
    topics = TOPICS[kind].values()
    if wanted:
        return [topic for topic in topics if topic.name in wanted and topic.name not in unwanted]
    return [
        topic
        for topic in topics
        if topic.name not in unwanted and (topic.name in usual if usual else not topic.is_asked_for)
    ]
