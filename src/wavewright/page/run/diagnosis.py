"""The diagnosis of a run for the page: findings, and their cases as places on the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from wavewright.analysis.run.calls.kernel_names import short_names
from wavewright.analysis.run.diagnose import combine_diagnosis, partial_diagnosis
from wavewright.base.shown import quoted
from wavewright.model.document import Document
from wavewright.model.findings import PlaceEvidence
from wavewright.page.protocol.question import PageQuestion, once_per_document
from wavewright.page.protocol.serialize import serialize
from wavewright.page.run.answers import serialized
from wavewright.page.run.times import clocks_of

_NAME_LENGTH = 60  #: Characters of a short name.


@dataclass(frozen=True)
class Case:
    """One case of a finding: what it was, and where on the timeline."""

    what: str  #: The kernel, call, copy or rank, by its short name.
    name: str  #: Its full name.
    count: int  #: How many cases it stands for.
    time_ns: int  #: How long they took together.
    node: str | None
    gpu: int | None
    rank: int | None
    begin: int | None  #: Of the longest, since the start of its node; null = no single time.
    end: int | None
    call: str  #: The call that took most of the time; empty = none, or not recorded.
    stack: tuple[str, ...]  #: Markers, operators and functions that were open, outermost first.


@once_per_document
def diagnosis_of_run(document: Document) -> Any:
    """The findings about the run (`analysis.run.diagnose`), and the cases of each."""
    partials = [partial_diagnosis(part) for part in document.run.parts]
    answer = combine_diagnosis(partials, path=quoted(document.label))
    begins = clocks_of(document).starts("node")
    cases = [_cases(finding.evidence, begins) for finding in answer.findings]
    findings = tuple(replace(finding, evidence=()) for finding in answer.findings)
    return serialized(document, replace(answer, findings=findings)) | {"cases": serialize(cases)}


def _cases(evidence: tuple[PlaceEvidence, ...], begins: Mapping[str, int]) -> list[Case]:
    names = [name for place in evidence for name in (place.what, place.next_work)]
    short = short_names(names, _NAME_LENGTH)
    return [
        Case(
            what=_around(short[place.what], short[place.next_work]),
            name=_around(place.what, place.next_work),
            count=place.count,
            time_ns=place.time_ns,
            node=place.node,
            gpu=place.gpu,
            rank=place.rank,
            begin=_since(place.start_ns, begins.get(place.node or "")),
            end=_since(place.end_ns, begins.get(place.node or "")),
            call=place.call,
            stack=place.stack,
        )
        for place in evidence
    ]


def _around(what: str, next_work: str) -> str:
    return f"{what} -> {next_work}" if next_work else what


def _since(time_ns: int | None, begin_ns: int | None) -> int | None:
    return None if time_ns is None or begin_ns is None else time_ns - begin_ns


QUESTIONS = (PageQuestion("run_diagnosis", diagnosis_of_run, is_of_time=True),)
