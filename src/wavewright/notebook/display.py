"""Displays for notebooks: plain text, Markdown and HTML without script, made of the blocks of reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, NamedTuple

from wavewright.base.shown import printable
from wavewright.base.words import counted, truncation
from wavewright.errors import WavewrightError
from wavewright.model.answer import Answer
from wavewright.model.blocks import Block, Column, Picture, Sentence, Table, readable
from wavewright.model.document import Document, Shown
from wavewright.model.report import DataTable, Report
from wavewright.notebook.documents import document_of, label_of
from wavewright.questions.beside import words_beside_questions
from wavewright.questions.catalog import PLOTS, QUESTIONS, question_answered
from wavewright.questions.kit.question import Question, Wording
from wavewright.words.kit.answer_parts import data_tables
from wavewright.writers.html.blocks import block_styles, html_of
from wavewright.writers.markdown.blocks import markdown_of

#: Kind of document -> plots, of which the first that can be drawn is shown.
_PICTURES = {"trace": ("states", "heat"), "run": ("budget",), "counters": ("roofline", "memory-chart")}
_WORDING = Wording(limit=5)  #: Of documents: 5 rows of each table.
_ANSWER_WORDING = Wording(limit=10)  #: Of single answers: 10 rows of each table.
_LONGEST = 80  #: Characters of a cell.


def answer_blocks(answer: Answer, wording: Wording) -> tuple[Block, ...]:
    """The blocks of an answer; those of an answer without words are made of its fields."""
    question = question_answered(answer)
    words = question.words if question else words_beside_questions(answer)
    return (readable(words(answer, wording)) if words else ()) or _of_fields(answer, wording)


def _of_fields(answer: Answer, wording: Wording) -> tuple[Block, ...]:
    """A table of single values, then the first rows of each declared table."""
    values: list[tuple[str, Any]] = []
    if is_dataclass(answer):
        values = [(field.name, getattr(answer, field.name)) for field in fields(answer)]
    rows = [(name, _cell(value)) for name, value in values if isinstance(value, str | int | float) and value != ""]
    value_tables = [Table("", (Column("value of"), Column("value")), tuple(rows))] if rows else []
    tables = [frame_block(table, wording.limit) for table in data_tables(answer)]
    return (Sentence(title_of(answer), "headline"), *value_tables, *tables)


def title_of(answer: Answer) -> str:
    """The class of an answer, and the number of rows of its tables."""
    tables = ", ".join(f"{table.name} ({counted(table.frame.height, 'rows')})" for table in data_tables(answer))
    return f"{type(answer).__name__}: {tables}" if tables else type(answer).__name__


def frame_block(table: DataTable, limit: int) -> Table:
    """The first rows of a declared table, with units in the headings."""
    units = {spec.name: spec.unit for spec in table.spec.columns}
    columns = []
    for name, dtype in table.frame.schema.items():
        heading = f"{name} ({units[name]})" if units.get(name) else name
        form: Literal["number", "words"] = "number" if dtype.is_numeric() else "words"
        columns.append(Column(heading, form, dtype.base_type().__name__ == "String"))
    rows = tuple(tuple(map(_cell, row)) for row in table.frame.head(limit).iter_rows())
    title = f"{table.name}: {truncation(len(rows), table.frame.height, 'rows')}"
    return Table(title, tuple(columns), rows)


def _cell(value: Any) -> str:
    """A value in one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else str(value)
    text = printable(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


class Display(NamedTuple):
    """A display: as plain text, and as blocks."""

    plain: str
    blocks: tuple[Block, ...]

    @property
    def bundle(self) -> dict[str, str]:
        """The display by media type."""
        return {"text/plain": self.plain, "text/markdown": markdown_of(self.blocks), "text/html": self.html}

    @property
    def html(self) -> str:
        """The display as HTML without script, with styles that apply to nothing else in the notebook."""
        return f'<div class="wavewright"><style>{block_styles()}</style>\n{html_of(self.blocks)}\n</div>'

    @property
    def brief(self) -> Display:
        """The display without pictures."""
        return Display(self.plain, tuple(block for block in self.blocks if not isinstance(block, Picture)))


def bundle_of(shown: Any) -> dict[str, str]:
    """The display of a trace, a run, counters, an answer or a report, by media type."""
    try:
        return _display(shown).bundle
    except WavewrightError as error:  # the display shows the error; the cell must not fail
        return Display(f"{type(shown).__name__}: {error}", (Sentence(str(error), "loss"),)).bundle


def _display(shown: Any) -> Display:
    if isinstance(shown, Answer):
        blocks = answer_blocks(shown, _ANSWER_WORDING)
        return Display(_plain(title_of(shown), blocks), blocks)
    if isinstance(shown, Report):
        blocks = tuple(_report_blocks(shown))
        return Display(_plain(shown.title, blocks), blocks)
    return document_display(shown)


def _plain(title: str, blocks: Iterable[Block]) -> str:
    """The title and the verdicts, a line each."""
    verdicts = [block.text for block in blocks if isinstance(block, Sentence) and block.style == "headline"]
    return "\n".join(printable(line) for line in dict.fromkeys([title, *verdicts]))


def document_display(opened: Shown) -> Display:
    """Display of a trace, a run or counters: verdicts, first tables, a picture."""
    document = document_of(opened)
    sentences: list[Block] = []
    tables: list[Block] = []
    for topic in _topics(document.kind):
        try:
            section = topic.section(document, wording=_WORDING)
        except WavewrightError as error:
            sentences.append(Sentence(f"{topic.title}: {error}", "note"))
            continue
        sentences += [block for block in section.blocks if isinstance(block, Sentence)][: topic.display.sentence_count]
        tables += [block for block in section.blocks if isinstance(block, Table)][: topic.display.table_count]
    plain = _plain(f"{type(opened).__name__} {label_of(opened)}", sentences)
    return Display(plain, (*_one_headline(sentences), *tables, *_picture(document)))


def _topics(kind: str) -> list[Question[Any]]:
    """The questions that are part of the display of a document, the verdict first."""
    about, verdict, *others = (question for question in QUESTIONS[kind].values() if any(question.display))
    return [verdict, about, *others]


def _one_headline(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks with only the first verdict as a headline."""
    is_first = True
    for block in blocks:
        if isinstance(block, Sentence) and block.style == "headline":
            yield block if is_first else replace(block, style="plain")
            is_first = False
        else:
            yield block


def _picture(document: Document) -> list[Block]:
    """The first picture of a document's kind that can be drawn."""
    for name in _PICTURES[document.kind]:
        plot = PLOTS[document.kind].get(name)
        with suppress(WavewrightError):
            if plot is not None:
                return [plot.draw(document)]
    return []


def _report_blocks(report: Report) -> Iterable[Block]:
    yield Sentence(report.title, "headline")
    for section in report.sections:
        if section.skipped:
            yield Sentence(f"{section.title}: {section.skipped}", "note")
            continue
        yield Sentence(section.title, "headline")
        yield from (block for block in section.blocks if not isinstance(block, Picture) or block.svg)
    for loss in report.losses:
        yield Sentence(loss, "loss")
