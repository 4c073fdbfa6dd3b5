"""Answers as bytes: of one question by its name and parameters as text, and of all questions for an exported page."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import polars as pl

from wavewright.base.shown import json_bytes
from wavewright.errors import UsageError
from wavewright.model.answer import to_builtins
from wavewright.model.document import DOCUMENTS, STORE, Document
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.page.protocol.payload import ARROW, JSON, Payload, key_of
from wavewright.page.questions import questions_about

_MOST_PARTS = 3  #: Of one document that stay in memory: the one on screen, and those before it.
_PARTS_LOCK = Lock()  #: Of the parts of documents: requests run in threads.


def part_of_time(document: Document, begin: float | None, end: float | None) -> Document:
    """The part of a document from `begin` to `end`, in aligned cycles or in ns since the start of each node.

    Questions about it raise `UsageError` when no wave ran in that time.
    """
    parts: dict[tuple[float | None, float | None], Document] = document.kept("parts of time", dict)
    with _PARTS_LOCK:
        part = parts.pop((begin, end), None) or _part(document, begin, end)
        parts[begin, end] = part  # in the order of last use
        while len(parts) > _MOST_PARTS:
            del parts[next(iter(parts))]
    return part


def _part(document: Document, begin: float | None, end: float | None) -> Document:
    def open_part() -> ThreadTrace | Run:
        if document.kind == "trace":
            return _part_of_trace(document.trace, begin, end)
        from wavewright.analysis.run.select.choice import RunSelection
        from wavewright.analysis.run.select.chosen import select
        from wavewright.page.run.times import clocks_of

        starts = clocks_of(document).nodes.drop_nulls("start_ns").select("machine", "start_ns").rows()
        times = [None if time is None else f"{math.floor(max(0, time))}ns" for time in (begin, end)]
        return select(document.run, RunSelection(begin=times[0], end=times[1], node_starts_ns=tuple(starts)))

    return Document(document.number, document.label, document.path, open_part, document.library, document, (begin, end))


def _part_of_trace(trace: ThreadTrace, begin: float | None, end: float | None) -> ThreadTrace:
    from wavewright.analysis.trace.selection import Selection, select

    start, stop = (None if time is None else math.ceil(time) for time in (begin, end))
    try:
        return select(trace, Selection(start_cycles=start, end_cycles=stop))
    except UsageError as error:
        if trace.samples.height:
            raise
        problem = f"no traced wave ran from cycle {start or 0:,} to {stop or 0:,}"
        raise UsageError(problem, advice="select another time, or look at the whole time") from error


#: The slowest of the questions that a page asks at its start, in their order.
FIRST = ("overview", "tracks", "costs", "arrows", "loops", "counter_metrics", "counter_panels", "counter_roofline")


def ask(document: Document, name: str, texts: Mapping[str, str]) -> Payload:
    """The answer to the question `name` about a document."""
    # questions about any kind come first: to know the kind, the document would have to be read
    question = questions_about("any").get(name) or questions_about(document.kind).get(name)
    if question is None:
        raise UsageError(f"no question {name[:40]!r} about {DOCUMENTS.get(document.kind, STORE)}")
    values = question.parsed(texts)
    if question.is_of_time and ("begin" in values or "end" in values):
        document = part_of_time(document, values.pop("begin", None), values.pop("end", None))
    answer = question.answer(document, **values)
    return arrow(answer) if isinstance(answer, pl.DataFrame) else json(answer)


def prepare(document: Document) -> None:
    """Answer the first questions before the page asks them, so that their results are cached."""
    for name in FIRST:
        if name in questions_about(document.kind):
            with suppress(BaseException):  # the page gets errors when it asks; a panic in polars is not an Exception
                payload = ask(document, name, {})
                if document.kept_answers:
                    document.kept_answers.put(name, {}, payload)


def arrow(frame: pl.DataFrame) -> Payload:
    """A frame as an Arrow stream of one batch, with types that every Arrow reader knows."""
    out = io.BytesIO()
    frame.rechunk().write_ipc_stream(out, compat_level=pl.CompatLevel.oldest())
    return Payload(out.getvalue(), ARROW)


def json(value: Any) -> Payload:
    """An answer as JSON; NaN and infinities become null, and surrogates escapes.

    >>> json({"share": float("nan")}).content
    b'{"share":null}'
    >>> json([chr(0xDCFF)]).content
    b'["\\\\\\\\xff"]'
    """
    return Payload(json_bytes(to_builtins(value)), JSON)


@dataclass(frozen=True)
class HeldAnswer:
    """A question whose answer an exported page stores."""

    document: int
    question: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key by which the page asks for it."""
        return key_of(self.document, self.question, self.parameters)


def held_by(document: Document) -> Iterator[HeldAnswer]:
    """Every question about a document whose answer an exported page stores."""
    for question in questions_about(document.kind).values():
        for parameters in question.held(document):
            texts = {name: _as_javascript(value) for name, value in parameters.items()}
            yield HeldAnswer(document.number, question.name, texts)


def _as_javascript(value: Any) -> str:
    """A parameter as JavaScript writes it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
