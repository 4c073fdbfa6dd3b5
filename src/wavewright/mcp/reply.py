"""Answers as results of the protocol: text for people and models, fields for programs, both of bounded length."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wavewright.base.shown import printable
from wavewright.errors import WavewrightError
from wavewright.mcp.rows import Rows
from wavewright.model.report import Section
from wavewright.writers.markdown.brief import brief_markdown
from wavewright.writers.markdown.code_spans import Recorded, texts_in

_USUAL = 8_000  #: Characters of the text, and of the fields: 2,000 tokens.
_LARGE = 11_500  #: The same if more rows than usual were asked for: the whole message has 24,000.
_LOSSES, _LOSS_LENGTH = 5, 300  #: Losses in the fields, and characters of each.
_HEADLINE_LENGTH = 400  #: Characters.
_FOLLOWING_ROWS = 5  #: Of each table after the main one.


@dataclass(frozen=True)
class Offer:
    """A call that is worth sending next."""

    tool: str
    arguments: Mapping[str, str | int]
    reason: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The call as a program sends it."""
        return {"tool": self.tool, "arguments": dict(self.arguments), "reason": self.reason}

    @property
    def line(self) -> str:
        """The call as a model reads it."""
        arguments = json.dumps(dict(self.arguments), separators=(",", ":"), ensure_ascii=False)
        return printable(f"- {self.tool} {arguments}" + (f": {self.reason}" if self.reason else ""))


@dataclass(frozen=True)
class Reply:
    """The parts of an answer."""

    headline: str
    sections: tuple[Section, ...] = ()
    tables: tuple[Rows, ...] = ()  #: The main one first.
    capture: str | None = None
    subject: str = ""  #: What it is about, in one line.
    losses: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()
    links: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    recorded: Sequence[str] = ()  #: Untrusted texts of the capture, which are marked wherever they appear.
    cursor_of: Any = field(default=None, repr=False)  #: Number of a row -> the cursor of the answer that starts there.


def result_of(reply: Reply, *, is_large: bool = False) -> dict[str, Any]:
    """The result of a call."""
    room = _LARGE if is_large else _USUAL
    names = Recorded([*reply.recorded, *texts_in(reply.sections)])
    offers = tuple(replace(offer, reason=names.marked(offer.reason)) for offer in reply.offers)
    notes = tuple(map(names.marked, reply.notes))
    reply = replace(reply, headline=names.marked(reply.headline), offers=offers, notes=notes)
    fields = _fitting(reply, room)
    return {"content": [{"type": "text", "text": _text(reply, room)}], "structuredContent": fields, "isError": False}


def error_of(error: WavewrightError, offers: tuple[Offer, ...] = ()) -> dict[str, Any]:
    """The result of a call that failed: what happened, where, what could be read, what to try."""
    parts = {"error": error.what, "where": error.where, "still read": error.kept, "try": error.advice}
    lines = [printable(f"{label}: {text}")[: 2 * _HEADLINE_LENGTH] for label, text in parts.items() if text]
    lines += ["next:", *(offer.line for offer in offers)] if offers else []
    fields = _fields(Reply(error.what[:_HEADLINE_LENGTH], offers=offers), ())
    return {"content": [{"type": "text", "text": "\n".join(lines)}], "structuredContent": fields, "isError": True}


def _text(reply: Reply, room: int) -> str:
    """The text of `--brief`, with calls of tools instead of commands."""
    ending = "\n".join(["next:", *(offer.line for offer in reply.offers)]) if reply.offers else ""
    notes = "\n".join(reply.notes)
    body_room = room - len(ending) - len(notes) - 4  # two empty lines between the parts
    body = brief_markdown(
        reply.sections,
        subject=reply.subject,
        losses=reply.losses,
        commands=(),
        budget_tokens=max(body_room, room // 2) // 4,  # four characters are about a token
        more="a larger `limit`, or `cursor`, has more",
        recorded=reply.recorded,
    )
    return "\n\n".join(part for part in (body, notes, ending) if part)


def _fitting(reply: Reply, room: int) -> dict[str, Any]:
    """The fields, shortened to the room: later tables go first, then rows of the main table."""
    main, *others = reply.tables or (Rows("", (), (), 0),)
    following = [replace(table, rows=table.rows[:_FOLLOWING_ROWS]) for table in others]
    while True:
        tables = (main, *following) if reply.tables else ()
        fields = _fields(reply, tables)
        size = len(json.dumps(fields, separators=(",", ":"), ensure_ascii=False))
        if size <= room:
            return fields
        if following:
            following.pop()
        elif main.rows:
            main = replace(main, rows=main.rows[: len(main.rows) * 2 // 3])
        else:
            return fields


def _fields(reply: Reply, tables: tuple[Rows, ...]) -> dict[str, Any]:
    main = tables[0] if tables else Rows("", (), (), 0)
    shown, end = len(main.rows), main.start + len(main.rows)
    is_more = shown > 0 and end < main.total and reply.cursor_of is not None
    return {
        "capture": reply.capture,
        "headline": printable(reply.headline)[:_HEADLINE_LENGTH],
        "tables": {table.name: table.fields for table in tables},
        "shown": shown,
        "total": main.total,
        "next_cursor": reply.cursor_of(end) if is_more else None,
        "losses": [loss[:_LOSS_LENGTH] for loss in reply.losses[:_LOSSES]],
        "next": [offer.fields for offer in reply.offers],
        "links": list(reply.links),
        "notes": [*reply.notes, *_notes_on_cuts(reply, tables)],
    }


def _notes_on_cuts(reply: Reply, tables: tuple[Rows, ...]) -> list[str]:
    """Sentences about tables and rows for which there was no room."""
    present = {table.name for table in tables}
    missing = [table.name for table in reply.tables if table.name not in present]
    notes = [f"tables without room here: {', '.join(missing)}"] if missing else []
    return notes + [
        f"{table.name}: showing {len(table.rows):,} of {table.total:,} rows" for table in tables[1:]
        if len(table.rows) < table.total
    ]  # fmt: skip
