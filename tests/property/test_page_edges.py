"""Every number that a question of the page takes, at its bounds, beyond them, and where machines stumble."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from typing import Any

import pytest

from tests.kit.sampling import every_third
from tests.property.subjects import around, opened
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.document import Document, Library
from wavewright.page.payloads import ask
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.questions import questions_about
from wavewright.questions.kit.parameters import Number

EVERY = {name: question for kind in ("trace", "run", "counters") for name, question in questions_about(kind).items()}
NUMBERED = [
    name for name, question in EVERY.items() if any(isinstance(p, Number) for p in question.parameters.values())
]
NO_NUMBERS = ("nan", "inf", "-inf", "1e300", "-1e300", "", " ", "0x10", "1_0", "\u0663", "9" * 5000)


@cache
def _documents(folder: str) -> list[Document]:
    """Each kind twice, for the questions that compare."""
    library = Library()
    for _ in range(2):
        for kind, thing in opened(folder).items():
            library.add(kind, folder, lambda thing=thing: thing)
    for document in library.documents:
        _ = document.opened
    return library.documents[:3]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> list[Document]:
    return _documents(str(tmp_path_factory.mktemp("edges")))


def _base(question: PageQuestion, document: Document) -> dict[str, str]:
    """Parameters with which the question makes sense: what an exported page holds last, else zeros."""
    held = list(question.held(document))
    known = {name: str(value) for name, value in held[-1].items()} if held else {}
    return {name: "run" if name == "layer" else "0" for name in question.required} | known


def _negative(value: Any, name: str = "") -> list[str]:
    """Names of totals and counts below zero, anywhere in an answer."""
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in _negative(item, key)]
    if isinstance(value, list):
        return [found for item in value for found in _negative(item, name)]
    is_amount = name.endswith(("_total", "_count"))
    return [name] if is_amount and isinstance(value, int | float) and value < 0 else []


def _checked(document: Document, name: str, given: dict[str, str]) -> bool:
    """Whether it was answered; anything but an answer or a sentence of ours is raised."""
    try:
        payload = ask(document, name, given)
    except WavewrightError:
        return False
    if "json" in payload.media_type:
        assert _negative(json.loads(payload.content)) == [], given
    return True


@pytest.mark.some_cases(4)
@pytest.mark.parametrize("name", every_third(NUMBERED))
def test_numbers_at_their_bounds_are_answered_or_refused(documents: list[Document], name: str) -> None:
    for document in documents:
        question = questions_about(document.kind).get(name)
        if question is None:
            continue
        base = _base(question, document)
        for parameter, parser in question.parameters.items():
            if not isinstance(parser, Number):
                continue
            for value in around(parser.bounds):
                was_answered = _checked(document, name, base | {parameter: str(value)})
                assert parser.bounds.holds(value) or not was_answered, (parameter, value)
            for text in NO_NUMBERS:
                assert not _checked(document, name, base | {parameter: text}), (parameter, text)


@pytest.mark.first_case
@pytest.mark.parametrize("name", [name for name, question in EVERY.items() if question.ranges])
def test_ranges_end_behind_their_begin_or_are_refused(documents: list[Document], name: str) -> None:
    for document in (document for document in documents if name in questions_about(document.kind)):
        question = questions_about(document.kind)[name]
        base = _base(question, document)
        for begin, end in question.ranges:
            parser = question.parameters[begin]
            assert isinstance(parser, Number)
            values = [value for value in (-5, 0, 50, 60, 1000, *parser.bounds) if parser.bounds.holds(value)]
            for first, last in product(values, repeat=2):
                given = base | {begin: str(first), end: str(last)}
                if last < first:
                    with pytest.raises(UsageError, match="ends before it starts"):
                        ask(document, name, given)
                else:
                    assert _checked(document, name, given), given


@pytest.mark.slow
def test_parameters_of_an_exported_page_lie_within_their_bounds(documents: list[Document]) -> None:
    for document in documents:
        for question in questions_about(document.kind).values():
            for parameters in question.held(document):
                question.parsed({name: str(value) for name, value in parameters.items()})


def test_an_empty_range_holds_nothing(documents: list[Document]) -> None:
    trace = documents[0]
    begin = float(trace.trace.instructions["time_cycles"][5]) + 1
    answer = json.loads(ask(trace, "histogram", {"begin": str(begin), "end": str(begin)}).content)
    assert (answer["cycles_total"], answer["bins"]["row_count"]) == (0, 0)
