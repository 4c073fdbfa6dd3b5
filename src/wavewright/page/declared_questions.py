"""Every declared question on the page: the list of them, and the answer to one as blocks of text and tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl

from wavewright.errors import UsageError, WavewrightError
from wavewright.model.blocks import Block
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion
from wavewright.questions.catalog import QUESTIONS as DECLARED
from wavewright.questions.catalog import question_of
from wavewright.questions.kit.parameters import text
from wavewright.questions.kit.question import Wording

_WORDING = Wording(limit=50)
_MOST_FIELDS = 50


def declared_questions(document: Document) -> list[dict[str, Any]]:
    """The questions about the document; `view` is the view that shows the same, empty = this one alone."""
    return [
        {name: getattr(each, name) for name in ("name", "title", "sentence", "view")}
        | {"parameters": list(each.parameters)}
        for each in DECLARED.get(document.kind, {}).values()
    ]


def declared_answer(document: Document, *, name: str, given: str = "") -> dict[str, Any]:
    """The answer to a declared question, as reports have it; where there is none, the reason.

    `given`: its parameters as a query, `grid=1024&arg=n%3D4`. Pictures are those that can be drawn of the answer.
    """
    question = question_of(document.kind, name)
    pictures: list[str] = []
    try:
        answer = question.answer(document, **question.parsed(dict(parse_qsl(given, max_num_fields=_MOST_FIELDS))))
        reason = question.missing(answer)
        section = None if reason else question.worded(document, answer, _WORDING)
        with suppress(UsageError):
            pictures = [plot.of_answer(answer, "auto").svg for plot in question.plots if plot.of_answer]
    except WavewrightError as error:
        reason, section = error.what, None
    except ValueError:
        reason, section = "too many parameters", None
    if section is None:
        return {"reason": reason, "blocks": [], "pictures": [], "definition": "", "next": []}
    follow = [{"name": each.topic, "reason": each.reason} for each in section.next_questions]
    blocks = [block for part in section.blocks for block in sent_block(part)]
    return {"reason": "", "blocks": blocks, "pictures": pictures, "definition": section.definition, "next": follow}


def sent_block(block: Block) -> Iterator[dict[str, Any]]:
    """A block for the page: a paragraph, a table, or text whose spaces matter."""
    from wavewright.model.blocks import Code, Finding, Labelled, Preformatted, Sentence, Table

    if isinstance(block, Sentence):
        yield {"kind": block.style, "text": block.text}
    elif isinstance(block, Labelled):
        yield {"kind": "plain", "text": f"{block.label}: {block.text}"}
    elif isinstance(block, Finding):
        yield {"kind": "headline", "text": f"{block.number}. {block.verdict}"}
        for paragraph in block.paragraphs:
            yield from sent_block(paragraph)
    elif isinstance(block, Table):
        columns = [{"heading": column.heading, "is_number": column.is_number} for column in block.columns]
        yield {"kind": "table", "text": block.title, "columns": columns, "rows": block.rows}
    elif isinstance(block, Code):
        lines = [f"{line.cost:>12}  {line.text}" for line in block.lines]
        yield {"kind": "preformatted", "text": "\n".join([block.file, *lines])}
    elif isinstance(block, Preformatted):
        yield {"kind": "preformatted", "text": block.text}


def _without_view(document: Document) -> Iterator[dict[str, str]]:
    """An exported page holds what no other of its views shows."""
    for each in DECLARED.get(document.kind, {}).values():
        if not each.view and not each.is_asked_for:
            yield {"name": each.name}


QUESTIONS = (
    PageQuestion("declared_questions", declared_questions),
    PageQuestion("declared_answer", declared_answer, {"name": text, "given": text}, ("name",), _without_view),
)
