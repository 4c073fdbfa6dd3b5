"""From a question's name and its parameters as text to bytes for the page."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.base.shown import json_bytes
from wavewright.errors import UsageError
from wavewright.model.answer import to_builtins
from wavewright.model.document import DOCUMENTS
from wavewright.page.part_of_time import part_of_time
from wavewright.page.protocol.payload import ARROW, JSON, Payload
from wavewright.page.questions import questions_about

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.model.document import Document

#: What a page asks at once and takes longest, in the order in which it is asked.
FIRST = ("overview", "tracks", "costs", "arrows", "loops", "counter_metrics", "counter_panels", "counter_roofline")


def ask(document: Document, name: str, texts: Mapping[str, str]) -> Payload:
    """The answer to the question `name` about a document."""
    # what can be asked about any document does not need to be told its kind, for which it would be read
    question = questions_about("any").get(name) or questions_about(document.kind).get(name)
    if question is None:
        raise UsageError(f"no question {name[:40]!r} about {DOCUMENTS[document.kind]}")
    values = question.parsed(texts)
    if question.is_of_time and ("begin" in values or "end" in values):
        document = part_of_time(document, values.pop("begin", None), values.pop("end", None))
    answer = question.answer(document, **values)
    return arrow(answer) if isinstance(answer, pl.DataFrame) else json(answer)


def prepare(document: Document) -> None:
    """Answer the first questions before anybody asks them: what they are made of is kept."""
    for name in FIRST:
        question = questions_about(document.kind).get(name)
        if question:
            with suppress(BaseException):  # whoever asks is told; a panic inside polars is not an Exception
                payload = ask(document, name, {})
                if document.kept_answers:
                    document.kept_answers.put(name, {}, payload)


def arrow(frame: pl.DataFrame) -> Payload:
    """A frame as an Arrow stream of one batch, with types that every Arrow reader knows.

    Examples
    --------
    >>> import polars as pl
    >>> arrow(pl.DataFrame({"row": [1]})).content[:4]
    b'\\xff\\xff\\xff\\xff'
    """
    out = io.BytesIO()
    frame.rechunk().write_ipc_stream(out, compat_level=pl.CompatLevel.oldest())
    return Payload(out.getvalue(), ARROW)


def json(value: Any) -> Payload:
    """Any answer as JSON; NaN and infinities become null, and what is not a character of any text an escape.

    Examples
    --------
    >>> json({"share": float("nan")}).content
    b'{"share":null}'
    >>> json([chr(0xDCFF)]).content
    b'["\\\\\\\\xff"]'
    """
    return Payload(json_bytes(to_builtins(value)), JSON)
