"""All surfaces of one capture, asked in process: every question in its JSON form, the page's answers, the words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import wavewright
from wavewright.analysis.run.diagnose.bounds import bounds_of
from wavewright.analysis.run.graph.event_graph import event_graph
from wavewright.analysis.run.graph.path import path_of
from wavewright.analysis.run.graph.scenarios import what_if
from wavewright.errors import WavewrightError
from wavewright.model.answer import to_builtins
from wavewright.model.document import Document
from wavewright.model.report import Section
from wavewright.page.questions import questions_about
from wavewright.questions.catalog import QUESTIONS
from wavewright.readers.counters import open_counters
from wavewright.readers.run.inputs import open_run

_MOST_RANKS = 8  #: Beyond that, a scenario for each rank takes longer than all other answers.
#: Page questions that show the answer of a question in its own form.
PAGE = {
    "run": {
        "diagnose": "run_diagnosis",
        "summary": "run_summary",
        "kernels": "run_kernels",
        "busy": "run_busy",
        "gaps": "run_gaps",
        "overlap": "run_overlap",
        "path": "run_path",
        "ranks": "run_ranks",
        "overview": "overview",
    },
    "trace": {
        "overview": "overview",
        "summary": "summary",
        "live registers": "live_registers",
        "lanes": "lanes",
        "loops": "loops",
    },
    "counters": {"overview": "overview", "diagnose": "counter_diagnosis", "roofline": "counter_roofline"},
}


def document_of(kind: str, path: Path, **reading: Any) -> Document:
    """A capture that is opened at first use."""

    def opened() -> Any:
        if kind == "run":
            return open_run(path)
        return open_counters(path) if kind == "counters" else wavewright.open(path, **reading)

    return Document(0, path.name, str(path), opened)


def answers_of(document: Document) -> dict[str, Mapping[str, Any]]:
    """Answers in their JSON form, by surface; a question that the capture cannot answer is left out."""
    answers = {}
    for name, question in QUESTIONS[document.kind].items():
        try:
            answers[name] = to_builtins(question.answer(document))
        except WavewrightError:
            continue
    for name, shown in PAGE[document.kind].items():
        try:
            answers[f"{name} (page)"] = to_builtins(questions_about(document.kind)[shown].answer(document))
        except WavewrightError:
            continue
    if document.kind == "run":
        answers |= _what_if(document)
    return answers


def _what_if(document: Document) -> dict[str, Mapping[str, Any]]:
    """What `path --what-if` predicts for every rank that is never late; nothing where there is one rank."""
    ranks = sorted({rank for rank in document.run.read("processes", ["rank"])["rank"] if rank is not None})
    if not 1 < len(ranks) <= _MOST_RANKS:
        return {}
    texts = tuple(f"rank={rank}" for rank in ranks)
    try:
        graph = event_graph(document.run)
        path = path_of(graph)
        bounds = bounds_of(texts, lambda part: [part(each) for each in document.run.parts], path.groups["span_ns"])
        scenarios = what_if(graph, texts, path, bounds)
    except WavewrightError:
        return {}
    return {"what-if": {"what_if": to_builtins(scenarios)}}


def sections_of(document: Document) -> Iterator[Section]:
    """The answers in words, as reports and `--brief` have them."""
    for question in QUESTIONS[document.kind].values():
        try:
            yield question.section(document)
        except WavewrightError:
            continue
