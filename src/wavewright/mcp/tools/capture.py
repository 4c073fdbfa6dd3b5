"""`open_capture`: what is this, how complete is it, what can be asked about it?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import quoted
from wavewright.mcp.reply import Offer
from wavewright.mcp.suggestions import MOST, suggested_calls
from wavewright.mcp.topic_answers import losses_of, reply_of
from wavewright.model.blocks import Sentence
from wavewright.model.document import DOCUMENTS
from wavewright.model.next_question import NextQuestion
from wavewright.questions.catalog import question_of
from wavewright.questions.kit.question import Wording

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.mcp.captures import Capture, Captures
    from wavewright.mcp.reply import Reply
    from wavewright.model.document import Document

_ROWS = 3  #: Of its tables: what more there is can be asked for.
_NOTES = 3
_DISPATCHES = 5  #: Others that a note names.


def open_capture(captures: Captures, arguments: dict[str, Any], say: Callable[[str], None]) -> Reply:
    """Open what is at a path and say what it is."""
    chosen = {name: arguments.get(name, "") for name in ("dispatch", "target")}
    capture = captures.add(arguments["path"], wanted=arguments.get("kind", ""), **chosen)
    say(f"reading {capture.name}")
    document = captures.document(capture)
    say("looking at what it holds")
    section = question_of(document.kind, "about").section(document, None, Wording(limit=_ROWS))
    headline = f"{capture.handle} is {DOCUMENTS[document.kind]}: {capture.name}"
    section = replace(section, blocks=(Sentence(headline, "headline"), *section.blocks))
    reply = reply_of(section, capture, document, limit=_ROWS)
    first = [NextQuestion("diagnose", {}, "what to change first"), *section.next_questions]
    others = _also_here(capture, document)
    offers = suggested_calls(first, document.kind, capture.handle)
    return replace(
        reply,
        offers=(*offers[: MOST - len(others)], *others),
        links=(f"wavewright open {quoted(capture.name)}",),
        notes=_notes(document),
    )


def _notes(document: Document) -> tuple[str, ...]:
    notes = losses_of(document, "note")[:_NOTES]
    if document.kind != "trace":
        return notes
    others = document.trace.source.other_dispatches
    more = ", ..." if len(others) > _DISPATCHES else ""
    named = ", ".join(map(str, others[:_DISPATCHES])) + more
    return (*notes, *([f"other dispatches here (give `dispatch` to open_capture): {named}"] if others else []))


def _also_here(capture: Capture, document: Document) -> tuple[Offer, ...]:
    """The counters in a run, and the run beside traces."""
    if document.kind == "run" and capture.path.is_file() and document.run.count("counter_info"):
        return (Offer("open_capture", {"path": capture.name, "kind": "counters"}, "its hardware counters"),)
    if document.kind == "trace" and not capture.wanted and capture.path.is_dir() and _has_run(capture):
        return (Offer("open_capture", {"path": capture.name, "kind": "run"}, "the run beside the traces"),)
    return ()


def _has_run(capture: Capture) -> bool:
    from wavewright.errors import WavewrightError
    from wavewright.readers.run.inputs import find_runs

    try:
        return any(not each.refused for each in find_runs([capture.path]))
    except WavewrightError:
        return False
