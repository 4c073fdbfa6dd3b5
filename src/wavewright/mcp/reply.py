"""An answer as a result of the protocol: text for people and models, fields for programs, both within their budget."""

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
_LARGE = 11_500  #: The same where more rows than usual were asked for: 24,000 with what is around both.
_LOSSES, _LOSS_LENGTH = 5, 300
_HEADLINE_LENGTH = 400
_FOLLOWING_ROWS = 5  #: Of tables after the main one.


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
        """The call as a model reads it.

        >>> Offer("source", {"capture": "c1", "at": "i0x1814"}, "the code around it").line
        '- source {"capture":"c1","at":"i0x1814"}: the code around it'
        """
        arguments = json.dumps(dict(self.arguments), separators=(",", ":"), ensure_ascii=False)
        return printable(f"- {self.tool} {arguments}" + (f": {self.reason}" if self.reason else ""))


@dataclass(frozen=True)
class Reply:
    """An answer before it is written down."""

    headline: str
    sections: tuple[Section, ...] = ()
    tables: tuple[Rows, ...] = ()  #: The main one first.
    capture: str | None = None
    subject: str = ""  #: What it is about, in one line.
    kind: str = ""  #: Of the document.
    losses: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()
    links: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    recorded: Sequence[str] = ()  #: Texts of the capture, which are marked wherever they stand.
    limit: int = 10  #: Rows of the main table.
    cursor_of: Any = field(default=None, repr=False)  #: Place of a row -> the cursor that goes on there.


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
    """The result of a call that could not be answered: what happened, where, what could be read, what to try.

    >>> from wavewright.errors import UsageError
    >>> print(error_of(UsageError("no such table", advice="schema lists them"))["content"][0]["text"])
    error: no such table
    try: schema lists them
    """
    parts = {"error": error.what, "where": error.where, "still read": error.kept, "try": error.advice}
    lines = [printable(f"{label}: {text}")[: 2 * _HEADLINE_LENGTH] for label, text in parts.items() if text]
    lines += ["next:", *(offer.line for offer in offers)] if offers else []
    fields = _fields(Reply(error.what[:_HEADLINE_LENGTH], offers=offers), ())
    return {"content": [{"type": "text", "text": "\n".join(lines)}], "structuredContent": fields, "isError": True}


def _text(reply: Reply, room: int) -> str:
    """The same as `--brief` prints, with calls of tools instead of commands."""
    ending = "\n".join(["next:", *(offer.line for offer in reply.offers)]) if reply.offers else ""
    notes = "\n".join(reply.notes)
    left = room - len(ending) - len(notes) - 4
    more = "a larger `limit`, or `cursor`, has more"
    body = brief_markdown(
        reply.sections,
        subject=reply.subject,
        losses=reply.losses,
        commands=(),
        budget_tokens=max(left, room // 2) // 4,
        more=more,
        recorded=reply.recorded,
    )
    return "\n\n".join(part for part in (body, notes, ending) if part)


def _fitting(reply: Reply, room: int) -> dict[str, Any]:
    """The fields with as many rows as there is room for: the main table loses rows last."""
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
    shown = len(tables[0].rows) if tables else 0
    total = tables[0].total if tables else 0
    place = (tables[0].start if tables else 0) + shown
    is_more = bool(tables) and place < total and shown > 0 and reply.cursor_of is not None
    return {
        "capture": reply.capture,
        "headline": printable(reply.headline)[:_HEADLINE_LENGTH],
        "tables": {table.name: table.fields for table in tables},
        "shown": shown,
        "total": total,
        "next_cursor": reply.cursor_of(place) if is_more else None,
        "losses": [loss[:_LOSS_LENGTH] for loss in reply.losses[:_LOSSES]],
        "next": [offer.fields for offer in reply.offers],
        "links": list(reply.links),
        "notes": [*reply.notes, *_left_out(reply, tables)],
    }


def _left_out(reply: Reply, tables: tuple[Rows, ...]) -> list[str]:
    shown = {table.name for table in tables}
    missing = [table.name for table in reply.tables if table.name not in shown]
    notes = [f"tables without room here: {', '.join(missing)}"] if missing else []
    return notes + [
        f"{table.name}: showing {len(table.rows):,} of {table.total:,} rows" for table in tables[1:]
        if len(table.rows) < table.total
    ]  # fmt: skip
