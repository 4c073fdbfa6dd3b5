"""The diagnosis of a run as blocks of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.model.blocks import Finding, Labelled, Sentence
from wavewright.words.kit.handles import handle
from wavewright.words.run.diagnose import diagnosis_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.run.diagnose import RunDiagnosis
    from wavewright.model.blocks import Block

#: Lines below a finding -> their label in a report.
_LABELS = {"why": "why", "where": "where", "do": "do", "false": "false alarm", "sure": "confidence"}
_NOTES = ("note", "not a finding", "skipped", "caveats")


def diagnosis_parts(answer: RunDiagnosis, *, limit: int = 20) -> Iterator[Block]:
    """The headline, the findings, and what was not looked at; what to ask next is not among them."""
    pending: Finding | None = None
    for line in diagnosis_blocks(answer, limit=limit):
        if line.kind in _LABELS and pending is not None:
            paragraphs = (*pending.paragraphs, Labelled(_LABELS[line.kind], line.text))
            pending = Finding(pending.number, pending.verdict, pending.gain, paragraphs, pending.handle)
            continue
        if pending is not None:
            yield pending
            pending = None
        if line.kind == "finding":
            pending = Finding(line.number, line.text, line.gain, (), handle("f", line.number))
        elif line.kind == "headline":
            yield Sentence(line.text, "headline")
        elif line.kind == "subject":
            yield Sentence(f"{line.text}; {line.gain}")
        elif line.kind in _NOTES:
            yield Labelled(line.kind, line.text)
        elif line.kind in ("nothing", "cut"):
            yield Sentence(line.text)
    if pending is not None:
        yield pending
