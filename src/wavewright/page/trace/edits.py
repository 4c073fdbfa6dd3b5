"""Edits of the executed code: how far a row can be moved, and what an edit does."""

from __future__ import annotations

from typing import Any

from wavewright.analysis.trace.what_if import reach, what_if
from wavewright.analysis.trace.what_if.assembly import CHECKED, assembly
from wavewright.base.shown import command_line
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion, no_answers, once_per_document
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import place, text
from wavewright.words.trace.what_if import verdict


def edit_reach(document: Document, *, row: int) -> Any:
    """The rows before which a row can be moved, and the dependences that stop it."""
    return serialize(reach(document.trace, row))


@once_per_document
def edit_answer(document: Document, *, edit: str) -> Any:
    """The gain of an edit, written as for `wavewright whatif --edit`, and what it needs."""
    answer = what_if(document.trace, edit=edit)
    return {**serialize(answer), "verdict": verdict(answer)}


def edit_assembly(document: Document, *, edit: str) -> Any:
    """The edited kernel as assembly, how it was checked, and the command that writes the same file."""
    edits = [word for part in edit.split(";") if part.strip() for word in ("--edit", part.strip())]
    command = command_line(["wavewright", "whatif", document.path, *edits, "--emit", "edited.s"])
    text = assembly(document.trace, what_if(document.trace, edit=edit))
    return {"text": text, "checked": CHECKED, "command": command}


QUESTIONS = (
    PageQuestion("edit_reach", edit_reach, {"row": place}, required=("row",), exported=no_answers),
    PageQuestion("edit_assembly", edit_assembly, {"edit": text}, required=("edit",), exported=no_answers),
    PageQuestion("edit", edit_answer, {"edit": text}, required=("edit",), exported=no_answers),
)
