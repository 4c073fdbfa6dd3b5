"""No two answers about one capture contradict each other: real captures below ../shared, and made ones of every kind.

The quick ones at every commit; all of them with the slow tests.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from synth.counter_capture import write_counters
from tests.cli.in_process import call
from tests.conftest import SHARED
from tests.consistency.captures import QUICK, Capture, captures
from tests.consistency.checker import (
    Contradiction,
    contradictions,
    contradictions_of_run_and_counters,
    contradictions_of_trace_and_counters,
)
from tests.consistency.readings import READINGS
from tests.consistency.surfaces import answers_of, document_of, sections_of
from tests.consistency.words import texts_of, without_whole
from tests.kit.planted_runs import FORMS, simulated
from tests.kit.random_runs import random_run
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.errors import WavewrightError
from wavewright.model.answer import to_builtins
from wavewright.model.document import Document
from wavewright.questions.catalog import QUESTIONS
from wavewright.readers.counters import open_counters

Answers = dict[str, Any]
CAPTURES = [
    pytest.param(capture, id=capture.name, marks=() if capture.is_quick else pytest.mark.slow)
    for capture in captures(SHARED)
]
RANDOM = (3, 9, 16)  #: Seeds of random runs for every commit: a shared GPU, two GPUs, several streams.
FOLDER_WITH_BOTH = "data/gfx1151-rocprofv3-llama"


@cache
def answers(capture: Capture) -> Answers:
    """Answers about a real capture; none where it cannot be read as this kind."""
    return _answers(document_of(capture.kind, SHARED / capture.place))


def _answers(document: Document) -> Answers:
    try:
        return answers_of(document)
    except WavewrightError:
        return {}


def check(found: list[Contradiction]) -> None:
    """Fail for contradictions."""
    assert not found, "\n".join(str(each) for each in found[:20])


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("capture", CAPTURES)
def test_real_captures(capture: Capture) -> None:
    document = document_of(capture.kind, SHARED / capture.place)
    found = _answers(document)
    if found:
        check(contradictions(capture.kind, found))
        check_words(document)


def test_the_quick_captures_are_there(shared: Path) -> None:
    assert {capture.name for capture in captures(shared) if capture.is_quick} == set(QUICK)


def _of_folder(shared: Path) -> list[Contradiction]:
    of_run, of_counters = (answers(Capture(kind, FOLDER_WITH_BOTH)) for kind in ("run", "counters"))
    return contradictions_of_run_and_counters(of_run, of_counters)


def _of_trace(shared: Path) -> list[Contradiction]:
    place = shared / "data" / "pmc-mi300x-bmm"
    trace = document_of("trace", shared / "data" / "att-mi300x-bmm" / "c08" / "raw").trace
    diagnosed = diagnose(trace, counters=open_counters(place))
    return contradictions_of_trace_and_counters(
        to_builtins(diagnosed), answers(Capture("counters", "data/pmc-mi300x-bmm"))
    )


@pytest.mark.slow
def test_a_folder_with_a_run_and_counters(shared: Path) -> None:
    check(_of_folder(shared))


def test_a_trace_with_counters_of_its_kernel(shared: Path) -> None:
    check(_of_trace(shared))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A capture of every kind that is made here."""
    folder = tmp_path_factory.mktemp("made")
    write_capture(
        synthesize(Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), shader_engines=2, realtime_pairs=2)),
        folder / "trace",
    )
    write_counters(folder / "counters")
    run, _ = simulated("straggler", 1, 2)
    FORMS["kineto"](run, folder / "run")
    return {kind: folder / kind for kind in QUESTIONS}


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("kind", QUESTIONS)
def test_made_captures(kind: str, made: dict[str, Path]) -> None:
    document = document_of(kind, made[kind])
    check(contradictions(kind, answers_of(document)))
    check_words(document)


@pytest.mark.some_cases(1)
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed in RANDOM else pytest.mark.slow) for seed in range(60)]
)
def test_runs_that_nobody_designed(seed: int) -> None:
    document = Document(0, "run", "run.db", lambda: random_run(seed))
    check(contradictions("run", answers_of(document)))
    check_words(document)


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("kind", QUESTIONS)
def test_verbs_say_what_questions_say(kind: str, made: dict[str, Path]) -> None:
    """`--json` of a verb is one more surface of its question."""
    everything = answers_of(document_of(kind, made[kind]))
    for name, question in QUESTIONS[kind].items():
        is_read = any(name in readers for readers in READINGS[kind].values())
        if is_read and name in everything and question.verb_name == name:
            arguments = ["" for option in question.option_names.values() if not option]
            jobs = ["--jobs", "1"] if kind == "run" else []
            done = call(name, *arguments, made[kind], *question.verb_options, *jobs, "--json")
            if not done.status:  # some refuse what has one rank, or no memory
                everything[f"{name} (--json)"] = json.loads(done.stdout)
    assert len([surface for surface in everything if surface.endswith("(--json)")]) >= 4
    check(contradictions(kind, everything))


def check_words(document: Document) -> None:
    """Fail for percentages of nothing."""
    found = [
        f"{section.name}: {part}"
        for section in sections_of(document)
        for text in texts_of(section)
        for part in without_whole(text)
    ]
    assert not found, "\n".join(found)
