"""Replies of the tools that declared questions (topics) answer: words, rows of tables page by page, what to ask next.

A tool names the topics that it asks, by kind of document; `about` chooses one of them. The words are those of reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Any
from urllib.parse import urlencode

from wavewright.base.shown import quoted
from wavewright.errors import UsageError
from wavewright.mcp.captures import Capture
from wavewright.mcp.declared import TOOLS, Tool
from wavewright.mcp.reply import Offer, Reply
from wavewright.mcp.rows import Rows, cursor, rows_of, rows_of_findings, rows_of_table, start_of
from wavewright.mcp.suggestions import ALIASES, suggested_calls
from wavewright.model.blocks import Block, Column, Finding, Sentence, Table
from wavewright.model.document import DOCUMENTS, Document
from wavewright.model.next_question import NextQuestion
from wavewright.model.report import Section
from wavewright.questions.catalog import question_of
from wavewright.questions.kit.question import Question, Wording
from wavewright.writers.markdown.code_spans import texts_of

_OF_TOOLS = ("capture", "about", "limit", "cursor")  #: Parameters of tools that topics do not have.
_WIDTH = 140  #: Characters of a line.
_ALL_FINDINGS = 10_000  #: A limit that no diagnosis reaches.


def ask(tool: Tool, arguments: Mapping[str, Any], capture: Capture, document: Document) -> Reply:
    """The answer of a topic. Raises `UsageError` when the tool is not about such documents, or an argument is wrong."""
    topic = _topic(tool, arguments, document)
    limit = int(arguments.get("limit") or tool.usual_rows)
    start = start_of(tool.name, arguments)
    parameters = {_spelled(topic, name): str(value) for name, value in arguments.items() if name not in _OF_TOOLS}
    answer = topic.answer(document, **topic.parsed(parameters))
    section = topic.worded(document, answer, Wording(limit=limit, width=_WIDTH))
    findings = _findings(section)
    if findings:  # the cursor may lead behind those that the section shows
        findings = _findings(topic.worded(document, answer, Wording(limit=_ALL_FINDINGS, width=_WIDTH)))
    choice = {name: value for name, value in arguments.items() if name not in ("limit", "cursor")}
    own_call = Offer(tool.name, {**choice, "capture": capture.handle})
    if document.kind == "trace":
        section = replace(section, next_questions=_next_questions(section, parameters, findings, document))
    reply = reply_of(section, capture, document, start=start, limit=limit, own_call=own_call, findings=findings)
    link = _link(capture, document, topic.view, parameters)
    return replace(reply, links=(link,), cursor_of=partial(cursor, tool.name, arguments))


def reply_of(
    section: Section,
    capture: Capture,
    document: Document,
    *,
    start: int = 0,
    limit: int = 10,
    own_call: Offer | None = None,
    findings: Sequence[Finding] = (),
) -> Reply:
    """A section as an answer about a capture; from `start` > 0 on it has rows only.

    `findings` are all findings, of which the section has the first; `own_call` is the call that is answered, which the
    reply does not offer again.
    """
    tables = (rows_of_findings(findings, start, limit),) if findings else _tables(section, start, limit)
    if start:
        rows: list[Block] = [*findings[start : start + limit]] or [_as_table(table) for table in tables[:1]]
        section = replace(section, blocks=(Sentence(headline(section), "headline"), *rows))
        tables = tables[:1]
    return Reply(
        headline(section),
        (section,),
        tables,
        capture.handle,
        subject_of(capture, document),
        losses=losses_of(document),
        offers=suggested_calls(section.next_questions, document.kind, capture.handle, asked=own_call),
        recorded=texts_of(document),
    )


def _findings(section: Section) -> list[Finding]:
    return [block for block in section.blocks if isinstance(block, Finding)]


def headline(section: Section) -> str:
    """The answer in one sentence: the headline, else the first sentence or title of the section."""
    sentences = [block for block in section.blocks if isinstance(block, Sentence)]
    headlines = [block.text for block in sentences if block.style == "headline"]
    titles = [block.title for block in section.blocks if isinstance(block, Table) and block.title]
    return [*headlines, *(block.text for block in sentences), *titles, section.title][0]


def subject_of(capture: Capture, document: Document) -> str:
    """The line that names the subject of an answer."""
    if document.kind != "trace":
        return f"{capture.handle}: {DOCUMENTS[document.kind]}, {capture.name}"
    from wavewright.analysis.trace.about.overview import subject
    from wavewright.words.kit.subject import subject_line

    return f"{capture.handle}: {subject_line(subject(document.trace), width=_WIDTH).text}"


def losses_of(document: Document, style: str = "loss") -> tuple[str, ...]:
    """The losses of a document as sentences; with style `note`, the notes on its reading."""
    from wavewright.words.kit.losses import loss_lines

    return tuple(line.text for line in loss_lines(document.opened.losses) if line.style == style)


def nearest(word: str, choices: tuple[str, ...]) -> str:
    """Advice about a word that is none of the choices: the nearest one, and all of them."""
    similar = get_close_matches(word.lower(), choices, n=1, cutoff=0.5)
    return (f"did you mean {similar[0]!r}? " if similar else "") + f"choices: {', '.join(choices)}"


def _topic(tool: Tool, arguments: Mapping[str, Any], document: Document) -> Question[Any]:
    """The topic that the tool asks of such documents: the one that `about` names, else its first."""
    kind = document.kind
    names = tool.topics.get(kind, ())
    if not names:
        others = ", ".join(other.name for other in TOOLS if kind in other.topics)
        what = f"{tool.name} is not about {DOCUMENTS[kind]}"
        raise UsageError(what, where=document.label, advice=f"of {DOCUMENTS[kind]} ask {others}")
    about = arguments.get("about") or names[0]
    if about not in names:
        what = f"{tool.name} does not answer about {about!r} of {DOCUMENTS[kind]}"
        raise UsageError(what, where=document.label, advice=nearest(about, names))
    return question_of(kind, about)


def _next_questions(
    section: Section, parameters: Mapping[str, str], findings: Sequence[Finding], document: Document
) -> tuple[NextQuestion, ...]:
    """Next questions about a trace; those that lead to a place in the code, where an edit is made, come first."""
    by = "line" if _has_lines(document) else "instruction"
    hottest = NextQuestion("hotspots", {"by": by}, f"the costliest {by}s")
    questions = tuple(
        hottest if asked.topic == "hotspots" and asked.parameters.get("by") == "line" else asked
        for asked in section.next_questions
    )
    if section.name == "waits" and "at" in parameters and all(asked.topic != "source" for asked in questions):
        return (NextQuestion("source", {"at": parameters["at"]}, "it does not wait: its source"), *questions)
    if findings and all(part.label != "see" for part in findings[0].paragraphs):  # such as a finding about a roof
        return (hottest._replace(reason=f"f1 has no single place: the costliest {by}s"), *questions)
    return questions


def _has_lines(document: Document) -> bool:
    lines = document.trace.code["line"]
    return lines.null_count() < lines.len()


def _spelled(topic: Question[Any], name: str) -> str:
    """The name of a tool's parameter in a topic."""
    names = (asked for asked, of_tool in ALIASES.items() if of_tool == name and asked in topic.parameters)
    return next(names, name)


def _tables(section: Section, start: int, limit: int) -> tuple[Rows, ...]:
    """The data tables of a section, else its tables for people."""
    frames = [table for table in section.data if table.frame.height]
    if frames:
        return tuple(
            rows_of(table.name, table.frame, start=0 if number else start, limit=limit)
            for number, table in enumerate(frames)
        )
    tables = [block for block in section.blocks if isinstance(block, Table)]
    return tuple(rows_of_table(f"table_{number}", block) for number, block in enumerate(tables, 1))


def _as_table(rows: Rows) -> Table:
    last = rows.start + len(rows.rows)
    title = f"rows {rows.start + 1:,} to {last:,} of {rows.total:,}"
    columns = []
    for place, name in enumerate(rows.columns):
        is_number = all(isinstance(row[place], int | float | None) for row in rows.rows)
        columns.append(Column(name, "number" if is_number else "words", is_name=not is_number))
    cells = (tuple("" if value is None else str(value) for value in row) for row in rows.rows)
    return Table(title, tuple(columns), tuple(cells))


def _link(capture: Capture, document: Document, view: str, parameters: Mapping[str, str]) -> str:
    """The command that shows the same place in the viewer."""
    place: dict[str, Any] = {}
    if "at" in parameters and (row := _row(document, parameters["at"])) is not None:
        place["row"] = row
    if "file" in parameters and parameters.get("line", "").isdecimal():
        place |= {"file": parameters["file"], "line": parameters["line"]}
    place |= {"view": view} if view else {}
    at = f" --at {quoted(urlencode(place))}" if place else ""
    return f"wavewright open {quoted(capture.name)}{at}"


def _row(document: Document, handle: str) -> int | None:
    """The code row of an instruction by its handle; None = the handle is of something else."""
    from wavewright.words.kit.handles import parse_instruction

    if document.kind != "trace":
        return None
    try:
        address = parse_instruction(handle)
    except UsageError:
        return None
    code = document.trace.code
    rows = code.filter(code["address"] == address)["row"]
    return int(rows[0]) if rows.len() else None
