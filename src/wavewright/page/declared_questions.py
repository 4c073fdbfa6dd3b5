"""The declared questions (`wavewright.questions`) on the page: a list, and each answer as blocks of text and tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl

from wavewright.errors import UsageError, WavewrightError
from wavewright.model.blocks import Block, Code, Finding, Labelled, Preformatted, Sentence, Table
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion
from wavewright.questions.catalog import QUESTIONS as DECLARED
from wavewright.questions.catalog import question_of
from wavewright.questions.kit.parameters import text
from wavewright.questions.kit.question import Wording

_WORDING = Wording(limit=50)  #: At most 50 rows of each table.
_MOST_PARAMETERS = 50


def declared_questions(document: Document) -> list[dict[str, Any]]:
    """The questions about the document; `view` is the view that shows the same numbers, empty = there is none."""
    return [
        {name: getattr(question, name) for name in ("name", "title", "sentence", "view")}
        | {"parameters": list(question.parameters)}
        for question in DECLARED.get(document.kind, {}).values()
    ]


def declared_answer(document: Document, *, name: str, given: str = "") -> dict[str, Any]:
    """The answer to a declared question, as reports have it, with its pictures; or the reason why there is none.

    `given` has its parameters in the form of a URL's query: `grid=1024&arg=n%3D4`.
    """
    question = question_of(document.kind, name)
    pictures: list[str] = []
    try:
        answer = question.answer(document, **question.parsed(dict(parse_qsl(given, max_num_fields=_MOST_PARAMETERS))))
        reason = question.missing(answer)
        section = None if reason else question.worded(document, answer, _WORDING)
        with suppress(UsageError):  # an answer that cannot be drawn has no pictures
            pictures = [plot.of_answer(answer, "auto").svg for plot in question.plots if plot.of_answer]
    except WavewrightError as error:
        reason, section = error.what, None
    except ValueError:
        reason, section = "too many parameters", None
    if section is None:
        return {"reason": reason, "blocks": [], "pictures": [], "definition": "", "next": []}
    follow = [{"name": question.topic, "reason": question.reason} for question in section.next_questions]
    blocks = [message for block in section.blocks for message in sent_block(block)]
    return {"reason": "", "blocks": blocks, "pictures": pictures, "definition": section.definition, "next": follow}


def sent_block(block: Block) -> Iterator[dict[str, Any]]:
    """A block as the page reads it: paragraphs, a table, or preformatted text."""
    match block:
        case Sentence():
            yield {"kind": block.style, "text": block.text}
        case Labelled():
            yield {"kind": "plain", "text": f"{block.label}: {block.text}"}
        case Finding():
            yield {"kind": "headline", "text": f"{block.number}. {block.verdict}"}
            for paragraph in block.paragraphs:
                yield from sent_block(paragraph)
        case Table():
            columns = [{"heading": column.heading, "is_number": column.is_number} for column in block.columns]
            yield {"kind": "table", "text": block.title, "columns": columns, "rows": block.rows}
        case Code():
            lines = [f"{line.cost:>12}  {line.text}" for line in block.lines]
            yield {"kind": "preformatted", "text": "\n".join([block.file, *lines])}
        case Preformatted():
            yield {"kind": "preformatted", "text": block.text}


def _without_view(document: Document) -> Iterator[dict[str, str]]:
    """An exported page stores the answers that no other of its views shows."""
    questions = DECLARED.get(document.kind, {}).values()
    return ({"name": question.name} for question in questions if not (question.view or question.is_asked_for))


QUESTIONS = (
    PageQuestion("declared_questions", declared_questions),
    PageQuestion(
        "declared_answer", declared_answer, {"name": text, "given": text}, required=("name",), exported=_without_view
    ),
)
