"""`compare` and `loop`: what changed between two captures of a kind, and did an edit help?"""

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
from wavewright.model.answer import Answer
from wavewright.model.blocks import readable
from wavewright.model.document import DOCUMENTS, Document
from wavewright.model.report import Section
from wavewright.questions.beside import words_beside_questions
from wavewright.questions.kit.question import Wording
from wavewright.words.kit.answer_parts import data_tables

_FINE_LINES = 3  #: Source lines from which lines are compared instead of instructions.
#: The table with what changed, by kind of document.
_MAIN = {"trace": "units", "run": "things", "counters": "metrics"}


def compare(captures: Captures, arguments: dict[str, Any], say: Callable[[str], None]) -> Reply:
    """Compare a capture with another one; the first is the base."""
    base, other = captures.get(arguments["capture"]), captures.get(arguments["other"])
    documents = []
    for capture in (base, other):
        say(f"reading {capture.name}")
        documents.append(captures.document(capture))
    kinds = [document.kind for document in documents]
    if kinds[0] != kinds[1]:
        what = f"{base.handle} is {DOCUMENTS[kinds[0]]}, {other.handle} is {DOCUMENTS[kinds[1]]}"
        raise UsageError(what, advice="compare traces with traces, runs with runs, counters with counters")
    if arguments.get("step") and kinds[0] != "run":
        raise UsageError("only runs have steps", advice="leave `step` out")
    if arguments.get("as") == "loop":
        return _turn(base, other, documents[1], arguments, say)
    say("comparing")
    limit = arguments.get("limit", USUAL_ROWS)
    answer = _COMPARED[kinds[0]](documents, arguments)
    options = {"paths": [document.label for document in documents]} if kinds[0] == "run" else {}
    words = words_beside_questions(answer)
    parts = words(answer, Wording(limit, how=options)) if words else ()
    data = sorted(data_tables(answer), key=lambda table: table.name != _MAIN[kinds[0]])
    question = "What changed, and is it more than noise?"
    section = Section("compare", "Comparison", question, readable(parts), tuple(data), answer.definition)
    start = start_of(arguments["cursor"], "compare", arguments) if arguments.get("cursor") else 0
    reply = reply_of(section, base, documents[0], start=start, limit=limit)
    lost = [
        f"{capture.handle}: {loss}"
        for capture, each in zip((base, other), documents, strict=True)
        for loss in losses_of(each)
    ]
    return replace(
        reply,
        subject=f"{base.handle}: {base.name} (before), {other.handle}: {other.name} (after)",
        losses=tuple(lost),
        offers=tuple(
            Offer("diagnose", {"capture": each.handle}, why) for each, why in ((other, "after"), (base, "before"))
        ),
        links=(f"wavewright open {quoted(base.name)} {quoted(other.name)}",),
        cursor_of=partial(cursor, "compare", arguments),
    )


def _turn(
    base: Capture, other: Capture, document: Document, arguments: dict[str, Any], say: Callable[[str], None]
) -> Reply:
    """One turn of tuning: whether an edit helped, what explains it, what to try next."""
    from wavewright.cluster.loop import loop
    from wavewright.words.gate import loop_report

    say("judging")
    answer = loop(str(base.path), str(other.path), step=arguments.get("step"))
    question = "Did this edit help, what explains it, what to try next?"
    blocks, data = readable(loop_report(answer)), tuple(data_tables(answer))
    reply = reply_of(Section("loop", "One turn", question, blocks, data, answer.definition), other, document)
    offers = (Offer("diagnose", {"capture": other.handle}, "what to change next"),)
    return replace(reply, headline=answer.headline(), offers=offers)


def _traces(documents: list[Document], _arguments: dict[str, Any]) -> Answer:
    from wavewright.analysis.trace.compare import compare as compared
    from wavewright.analysis.trace.trust.mapping import mapping

    traces = [document.trace for document in documents]
    lines = [mapping(trace) for trace in traces]
    is_fine = all(each.mapped_share > 0.5 and each.effective_line_count >= _FINE_LINES for each in lines)
    return compared(traces, by="line" if is_fine else "instruction", labels=["A", "B"])


def _runs(documents: list[Document], arguments: dict[str, Any]) -> Answer:
    from wavewright.analysis.run.compare.compare import combine_compare
    from wavewright.analysis.run.compare.compared_side import partial_compare

    sides = [[document.kept("mcp side", partial(partial_compare, document.run))] for document in documents]
    return combine_compare(sides, step=arguments.get("step"))


def _counters(documents: list[Document], _arguments: dict[str, Any]) -> Answer:
    from wavewright.analysis.counters.compare import counter_compare

    return counter_compare([document.counters for document in documents])


_COMPARED = {"trace": _traces, "run": _runs, "counters": _counters}
