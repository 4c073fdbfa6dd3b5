"""Documents as one HTML file: the viewer's page with its answers inside, which needs neither server nor network."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import IO, Any

import msgspec

from wavewright.base.shown import json_bytes
from wavewright.errors import WavewrightError
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written
from wavewright.export.page.frame import page_frame
from wavewright.export.page.packed_answers import PackedAnswers, PackedResult
from wavewright.model.counters import CounterSet
from wavewright.model.document import Library, Shown
from wavewright.model.losses import Loss
from wavewright.model.run import Run
from wavewright.model.schema import THREAD_TRACE, empty_frame
from wavewright.model.trace import ThreadTrace
from wavewright.page.payloads import HeldAnswer, ask, held_by, json
from wavewright.page.protocol.notes import notes_beside, read_notes

MOST_BYTES = 200 << 20  #: Compressed answers in one file; browsers become slow with more.
_BLOCK_CHARACTERS = 1 << 20  #: Characters of base64 from which on a new script element starts.


def write_html(
    documents: Shown | Sequence[tuple[str, Shown]],
    out: str | PathLike[str],
    *,
    force: bool = False,
    with_source: bool = True,
    most_bytes: int = MOST_BYTES,
) -> Written:
    """Write a trace, a run or a counter capture, or several with a label each, as one HTML file.

    Without `with_source`, the file has names and lines of source files, but not their text. Where the compressed
    answers would take more than `most_bytes`, the finest levels of timelines and answers about single waves are left
    out, and the page says so. Raises `UsageError` when the file exists and `force` is not given; `MissingToolError`
    when this installation has no viewer page; `WavewrightError` when the file cannot be written.
    """
    target = Path(out)
    library = _library(documents, with_source=with_source)
    with staged([target], force=force) as (twin,), twin.open("wb") as stream:
        counts, losses = _write_page(library, stream, most_bytes=most_bytes)
    return Written(target, counts, losses)


def page_bytes(
    documents: Shown | Sequence[tuple[str, Shown]],
    *,
    at: str = "",
    most_bytes: int = MOST_BYTES,
    most_items: int | None = None,
) -> tuple[bytes, list[Loss]]:
    """The page of `write_html` as bytes, and what was left out of it.

    `at` is the place that it shows first, in the form of its URL after `#`; `most_items` limits the single events of
    each timeline whose details it has. Raises `MissingToolError` when this installation has no viewer page.
    """
    stream = io.BytesIO()
    library = _library(documents, with_source=True)
    _, losses = _write_page(library, stream, at=at, most_bytes=most_bytes, most_items=most_items)
    return stream.getvalue(), losses


def _write_page(
    library: Library, stream: IO[bytes], *, most_bytes: int, at: str = "", most_items: int | None = None
) -> tuple[dict[str, int], list[Loss]]:
    frame = page_frame(", ".join(document.label for document in library.documents), at=at)
    with PackedAnswers() as answers:
        for document in library.documents:
            answers.ask(library, _limited(held_by(document), most_items), most_bytes)
        answers.leave_out(most_bytes)
        losses = [Loss("left_out_of_page", count, group) for group, count in sorted(answers.left_out.items())]
        _add_facts(library, answers, losses)
        stream.write(frame.before)
        _write_answers(answers, stream)
        stream.write(frame.after)
        return {"documents": len(library.documents), "answers": len(answers.all)}, losses


def _limited(requests: Iterable[HeldAnswer], most_items: int | None) -> Iterator[HeldAnswer]:
    """The requests; of those about single events (with the parameter `item`) the first `most_items` per question."""
    counts: Counter[str] = Counter()
    for request in requests:
        counts[request.question] += "item" in request.parameters
        if most_items is None or counts[request.question] <= most_items:
            yield request


def _library(documents: Shown | Sequence[tuple[str, Shown]], *, with_source: bool) -> Library:
    labels: dict[type, str] = {ThreadTrace: "trace", Run: "run", CounterSet: "counters"}
    if isinstance(documents, ThreadTrace | Run | CounterSet):
        documents = [(labels[type(documents)], documents)]
    library = Library()
    for label, content in documents:
        if isinstance(content, ThreadTrace) and not with_source:
            content = _without_source(content)
        _ = library.add(label, label, lambda content=content: content).opened  # type: ignore[misc]
    return library


def _without_source(trace: ThreadTrace) -> ThreadTrace:
    return replace(trace, tables={**trace.tables, "sources": empty_frame(THREAD_TRACE["sources"])}, answers={})


def _add_facts(library: Library, answers: PackedAnswers, losses: Sequence[Loss]) -> None:
    """Add the list of documents and their notes; where answers were left out, the overviews say so as losses."""
    answers.add("documents", json([document.line for document in library.documents]).content)
    for document in library.documents:
        answers.add(f"{document.number}/notes", json(_notes(document.opened)).content)
    if not losses:
        return
    loss_rows = [
        {"kind": loss.kind, "count": loss.count, "se": None, "message": loss.message, "advice": loss.advice}
        for loss in losses
    ]
    answers.all = [answer for answer in answers.all if not answer.key.endswith("/overview")]
    for document in library.documents:
        facts = msgspec.json.decode(ask(document, "overview", {}).content)
        facts["losses"] = [*facts.get("losses", ()), *({**line, "is_damage": False} for line in loss_rows)]
        answers.add(f"{document.number}/overview", json(facts).content)


def _notes(content: Shown) -> dict[str, Any]:
    """The notes that were saved beside a document; none for a run of several files."""
    path = content.source.path if isinstance(content, ThreadTrace) else ""
    if isinstance(content, Run) and len(content.origins) == 1:
        path = content.origins[0].path
    notes: dict[str, Any] = {"notes": []}
    with suppress(WavewrightError):  # a damaged file of notes is reported by `wavewright open`
        notes = read_notes(notes_beside(path)) if path else notes
    return notes | {"can_save": False, "saved_at": None}


def _write_answers(answers: PackedAnswers, stream: IO[bytes]) -> None:
    """Write the answers in blocks of base64, which needs no escapes in HTML, and their index."""
    index: dict[str, list[int]] = {}  # key of an answer -> its block, its place and length there, 1 = an error
    blocks: list[list[PackedResult]] = [[]]
    filled = 0
    for answer in answers.all:
        if filled >= _BLOCK_CHARACTERS:
            blocks.append([])
            filled = 0
        length = (answer.length + 2) // 3 * 4  # base64 has four characters for three bytes
        index[answer.key] = [len(blocks) - 1, filled, length, int(answer.is_error)]
        blocks[-1].append(answer)
        filled += length
    for number, block in enumerate(blocks):
        stream.write(f'<script type="text/plain" id="answers-{number}">'.encode())
        for answer in block:
            stream.write(base64.b64encode(answers.read(answer)))
        stream.write(b"</script>\n")
    index_text = base64.b64encode(json_bytes(index))
    stream.write(b'<script type="text/plain" id="answers">' + index_text + b"</script>\n")
