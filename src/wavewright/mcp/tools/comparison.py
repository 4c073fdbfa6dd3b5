"""The tool `compare`: what changed between two captures of a kind, and whether an edit helped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from wavewright.base.shown import quoted
from wavewright.errors import UsageError
from wavewright.mcp.captures import Capture, Captures
from wavewright.mcp.declared import USUAL_ROWS
from wavewright.mcp.reply import Offer, Reply
from wavewright.mcp.rows import cursor, start_of
from wavewright.mcp.topic_answers import losses_of, reply_of
from wavewright.model.blocks import readable
from wavewright.model.document import Document
from wavewright.model.report import Section
from wavewright.questions.comparison import check_comparable, compared, comparison_words
from wavewright.words.kit.answer_parts import data_tables

#: Kind of document -> the table of changes.
_MAIN = {"trace": "units", "run": "things", "counters": "metrics"}


def compare(captures: Captures, arguments: dict[str, Any], say: Callable[[str], None]) -> Reply:
    """The changes from a capture, the base, to another one."""
    base, other = captures.get(arguments["capture"]), captures.get(arguments["other"])
    documents = []
    for capture in (base, other):
        say(f"reading {capture.name}")
        documents.append(captures.document(capture))
    kind = documents[0].kind
    check_comparable([document.kind for document in documents], [base.handle, other.handle])
    if arguments.get("step") and kind != "run":
        raise UsageError("only runs have steps", advice="leave `step` out")
    if arguments.get("as") == "loop":
        return _turn(base, other, documents[1], arguments, say)
    say("comparing")
    limit = arguments.get("limit", USUAL_ROWS)
    answer = compared(documents, ["A", "B"], step=arguments.get("step"), force=False)
    parts = comparison_words(answer, [document.label for document in documents], kind, limit)
    data = sorted(data_tables(answer), key=lambda table: table.name != _MAIN[kind])
    question = "What changed, and is it more than noise?"
    section = Section("compare", "Comparison", question, readable(parts), tuple(data), answer.definition)
    start = start_of("compare", arguments)
    reply = reply_of(section, base, documents[0], start=start, limit=limit)
    losses = [
        f"{capture.handle}: {loss}"
        for capture, document in zip((base, other), documents, strict=True)
        for loss in losses_of(document)
    ]
    sides = ((other, "after"), (base, "before"))
    offers = [Offer("diagnose", {"capture": capture.handle}, side) for capture, side in sides]
    return replace(
        reply,
        subject=f"{base.handle}: {base.name} (before), {other.handle}: {other.name} (after)",
        losses=tuple(losses),
        offers=tuple(offers),
        links=(f"wavewright open {quoted(base.name)} {quoted(other.name)}",),
        cursor_of=partial(cursor, "compare", arguments),
    )


def _turn(
    base: Capture, other: Capture, document: Document, arguments: dict[str, Any], say: Callable[[str], None]
) -> Reply:
    """The verdict on an edit: whether it helped, what explains it, what to try next."""
    from wavewright.cluster.loop import loop
    from wavewright.words.gate import loop_report

    say("judging")
    answer = loop(str(base.path), str(other.path), step=arguments.get("step"))
    question = "Did this edit help, what explains it, what to try next?"
    blocks, data = readable(loop_report(answer)), tuple(data_tables(answer))
    reply = reply_of(Section("loop", "One turn", question, blocks, data, answer.definition), other, document)
    offers = (Offer("diagnose", {"capture": other.handle}, "what to change next"),)
    return replace(reply, headline=answer.headline(), offers=offers)
