"""From a question's name and its parameters as text to bytes for the page."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from wavescope.base.shown import json_bytes
from wavescope.errors import UsageError
from wavescope.page.protocol.payload import ARROW, JSON, Payload

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from wavescope.page.protocol.document import Document

__all__ = ["FIRST", "arrow", "ask", "json", "prepare"]

FIRST = ("overview", "tracks", "costs", "arrows", "loops", "counter_metrics", "counter_panels", "counter_roofline")
"""What a page asks at once and takes longest, in the order in which it is asked."""
_WORDS = {"trace": "a trace", "run": "a run", "counters": "a counter capture"}


def ask(document: Document, name: str, given: Mapping[str, str]) -> Payload:
    """The answer to the question `name` about a document.

    Raises
    ------
    UsageError
        When there is no such question, or a parameter does not fit.
    WavescopeError
        When it cannot be answered.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.protocol.document import Document
    >>> ask(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing"))), "waves", {}).media_type
    'application/vnd.apache.arrow.stream'
    """
    import polars as pl

    from wavescope.page.questions import QUESTIONS

    question = QUESTIONS.get(name)
    if question is None or not question.is_about(document.kind):
        what = f"no question {name[:40]!r} about {_WORDS[document.kind]}"
        raise UsageError(what)
    answer = question.answer(document, **question.parsed(given))
    return arrow(answer) if isinstance(answer, pl.DataFrame) else json(answer)


def prepare(document: Document) -> None:
    """Answer the first questions before anybody asks them: what they are made of is kept.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.protocol.document import Document
    >>> prepare(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing"))))
    """
    from wavescope.page.questions import QUESTIONS

    for name in FIRST:
        if QUESTIONS[name].is_about(document.kind):
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
    import io

    import polars as pl

    out = io.BytesIO()
    frame.rechunk().write_ipc_stream(out, compat_level=pl.CompatLevel.oldest())
    return Payload(out.getvalue(), ARROW)


def json(value: Any) -> Payload:
    """Any answer as JSON; NaN and infinities become null, and what is no character of any text an escape.

    Examples
    --------
    >>> json({"share": float("nan")}).content
    b'{"share":null}'
    >>> json([chr(0xDCFF)]).content
    b'["\\\\\\\\xff"]'
    """
    from wavescope.model import to_builtins

    return Payload(json_bytes(to_builtins(value)), JSON)
