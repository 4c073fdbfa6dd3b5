"""Edits of the executed code: how far a row can be moved, and what an edit does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.trace.what_if import what_if
from wavewright.analysis.trace.what_if.assembly import CHECKED, assembly
from wavewright.analysis.trace.what_if.reach import reach
from wavewright.base.shown import command_line
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


def edit_assembly(document: Document, *, edit: str) -> Any:
    """The kernel with an edit as assembly, what is known of it, and the command that writes the same file."""
    edits = [word for part in edit.split(";") if part.strip() for word in ("--edit", part.strip())]
    command = command_line(["wavewright", "whatif", document.path, *edits, "--emit", "edited.s"])
    text = assembly(document.trace, what_if(document.trace, edit=edit))
    return {"text": text, "checked": CHECKED, "command": command}


QUESTIONS = (
    PageQuestion("edit_reach", edit_reach, {"row": place}, ("row",), lambda _: ()),
    PageQuestion("edit_assembly", edit_assembly, {"edit": text}, ("edit",), lambda _: ()),
    PageQuestion("edit", edit_answer, {"edit": text}, ("edit",), lambda _: ()),
)
