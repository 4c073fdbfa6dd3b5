"""Edits of the executed code: how far a row can be moved, and what an edit does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.trace.what_if import what_if
from wavewright.analysis.trace.what_if.reach import reach
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import place, text
from wavewright.words.trace.what_if import verdict

if TYPE_CHECKING:
    from wavewright.model.document import Document


def edit_reach(document: Document, *, row: int) -> Any:
    """The rows that a row may stand before, and what is in its way."""
    return serialize(reach(document.trace, row))


def edit_answer(document: Document, *, edit: str) -> Any:
    """Gain and needs of an edit that is written as for `wavewright whatif --edit`."""

    def make() -> Any:
        answer = what_if(document.trace, edit=edit)
        return {**serialize(answer), "verdict": verdict(answer)}

    return document.kept(("edit", edit), make)


QUESTIONS = (
    PageQuestion("edit_reach", edit_reach, {"row": place}, ("row",), lambda _: ()),
    PageQuestion("edit", edit_answer, {"edit": text}, ("edit",), lambda _: ()),
)
