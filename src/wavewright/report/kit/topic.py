"""A topic: a question about a document whose answer has words, so that reports, agents and notebooks can ask it too."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from wavewright.model.answer import Answer
from wavewright.model.report import DataTable, NextQuestion, Section, Sentence
from wavewright.page.protocol.question import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rich.console import RenderableType

    from wavewright.model.report import Block
    from wavewright.page.protocol.document import Document

WIDTH = 140  #: Characters per line of the words: all columns.


@dataclass(frozen=True)
class Wording:
    """How much the words of an answer may say."""

    limit: int = 20  #: Rows of a table.
    width: int = WIDTH  #: Characters per line; columns that are wide only are left out below 110.


@dataclass(frozen=True, kw_only=True)
class Topic(Question):
    """A question with a heading, with words for its answer, and with what to ask next.

    `answer` gives the `Answer` of an analysis, not what the page gets of it. Functions import what they need when they
    are called: the list of topics itself costs nothing.
    """

    title: str  #: Heading of its section.
    question: str  #: As a sentence, as in `wavewright --help`.
    words: Callable[[Any, Wording], Iterable[RenderableType]]
    #: What to ask next, with arguments ready to be sent; the most useful first.
    next_questions: Callable[[Document, Any], Iterable[NextQuestion]] = field(default=lambda _document, _answer: ())
    pictures: tuple[str, ...] = ()  #: Names of `wavewright plot` that belong to it.
    verb: str = ""  #: The verb of the command line that answers it; empty = the topic's name.
    answer_types: tuple[str, ...] = ()  #: Names of the classes of its answers (`Gaps`), which lead back to its words.
    #: A frame of the answer, the rows from which on it says something, and why it has fewer.
    needs: tuple[str, int, str] | None = None
    is_asked_for: bool = False  #: Whether reports leave it out unless it is asked for.

    def missing(self, answer: Any) -> str:
        """Why an answer says nothing; empty = it says something."""
        if self.needs is None:
            return ""
        name, least, reason = self.needs
        frame = getattr(answer, name, None)
        return reason if frame is not None and frame.height < least else ""

    def section(
        self, document: Document, given: Mapping[str, str] | None = None, wording: Wording | None = None
    ) -> Section:
        """The answer as a section, for parameters as text.

        Raises
        ------
        UsageError
            When a parameter is wrong, or the document cannot answer.
        """
        answer = self.answer(document, **self.parsed(given or {}))
        return self.worded(document, answer, wording or Wording())

    def worded(self, document: Document, answer: Any, wording: Wording) -> Section:
        """An answer that is there already, as a section."""
        from wavewright.report.kit.blocks import blocks_of

        return Section(
            name=self.name,
            title=self.title,
            question=self.question,
            blocks=_headed(blocks_of(self.words(answer, wording))),
            data=data_tables(answer),
            definition=definition_of(answer),
            next_questions=tuple(self.next_questions(document, answer)),
        )


def _headed(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks; the first sentence is the verdict, however a terminal shows it."""
    first = blocks[0] if blocks else None
    has_headline = any(isinstance(block, Sentence) and block.style == "headline" for block in blocks)
    if isinstance(first, Sentence) and first.style == "plain" and not has_headline:
        return (Sentence(first.text, "headline"), *blocks[1:])
    return blocks


def data_tables(answer: Any) -> tuple[DataTable, ...]:
    """The frames of an answer that declare their columns, and those of the answers that it is made of."""
    import polars as pl

    tables: list[DataTable] = []
    for part in _answers(answer):
        for name, spec in part.tables.items():
            frame = getattr(part, name, None)
            if isinstance(frame, pl.DataFrame):
                taken = {table.name for table in tables}
                unique = name if name not in taken else f"{type(part).__name__.lower()}_{name}"
                tables.append(DataTable(unique, spec, frame))
    return tuple(tables)


def definition_of(answer: Any) -> str:
    """How the numbers of an answer are made, and those of the answers that it is made of."""
    return " ".join(dict.fromkeys(part.definition for part in _answers(answer) if part.definition))


def _answers(answer: Any) -> Iterator[Answer]:
    """The answer, then the answers among its fields."""
    if not isinstance(answer, Answer):
        return
    yield answer
    if is_dataclass(answer):
        for each in fields(answer):
            yield from _answers(getattr(answer, each.name))


def leading_to(*topics: tuple[str, str]) -> Callable[[Document, Any], tuple[NextQuestion, ...]]:
    """Topics and reasons that do not depend on the answer."""
    questions = tuple(NextQuestion(topic, {}, reason) for topic, reason in topics)
    return lambda _document, _answer: questions
