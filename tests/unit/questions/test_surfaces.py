"""Every question is the same on every surface: one sentence, references that resolve, next questions that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest

from wavewright.cli import VERBS, _group
from wavewright.cli.kit.verbs import OWN_VERBS
from wavewright.mcp.declared import BY_NAME
from wavewright.mcp.texts import definition
from wavewright.model.document import Document
from wavewright.model.run import Run
from wavewright.notebook.show import VIEWS
from wavewright.page.declared_questions import declared_questions
from wavewright.questions.catalog import QUESTIONS, every_question
from wavewright.questions.kit.question import Question

REPOSITORY = Path(__file__).resolve().parents[3]
REFERENCE = REPOSITORY / "docs" / "reference"
EVERY = [pytest.param(question, id=f"{question.kind}-{question.name}") for question in every_question()]
SHARED_VERBS = ("info", "diagnose", "counters")  #: Verbs that answer several questions: their help has the first.


def help_of(verb: str) -> str:
    _, command, _ = _group.resolve_command(click.Context(_group), [verb])
    assert command is not None
    return command.help or ""


@pytest.mark.parametrize("question", EVERY)
def test_the_sentence_is_the_same_everywhere(question: Question[Any]) -> None:
    sentence = question.sentence
    assert re.fullmatch(r"[A-Z].*\?", sentence)
    first = next(each for each in every_question() if each.verb_name == question.verb_name)
    assert first is question or question.verb_name in SHARED_VERBS
    assert VERBS[question.verb_name] == first.sentence
    assert help_of(question.verb_name).startswith(first.sentence)
    assert sentence in definition(question.name).splitlines()
    sections = (REFERENCE / "report-sections.md").read_text(encoding="utf-8")
    assert f"| {question.title} | {sentence} |" in sections, "stale: run tools/make_section_docs.py"
    verbs = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("cli*.md"))
    assert re.search(rf"^\| `{question.verb_name}\b[^|]* \| {re.escape(first.sentence)} \|$", verbs, re.MULTILINE), (
        "stale: run tools/make_section_docs.py"
    )
    if question.view:
        generated = (REPOSITORY / "web" / "src" / "data" / "answers.gen.ts").read_text(encoding="utf-8")
        assert f'  {question.view}: "{sentence}",' in generated, "stale: run tools/make_page_types.py"


def test_the_page_lists_them() -> None:
    listed = declared_questions(Document(0, "run", "", lambda: Run([])))
    assert {each["name"]: each["sentence"] for each in listed} == {
        question.name: question.sentence for question in QUESTIONS["run"].values()
    }


@pytest.mark.parametrize("question", EVERY)
def test_references_resolve_and_answers_are_what_is_declared(question: Question[Any]) -> None:
    analysis = question.analysis()
    declared = " | ".join(answer.__name__ for answer in analysis.answers)
    answering = question.composed or analysis.function
    assert answering is not None
    returned = answering.__annotations__["return"]
    assert returned == declared or (returned, declared) == ("OccupancyOverTime", "OccupancyOverTime | Occupancy")
    assert analysis.combine is None or analysis.combine.__annotations__["return"] == declared
    assert (analysis.partial is None) == (analysis.combine is None)
    taken, *_ = (name for name in question.words.__annotations__.values())
    assert taken == declared
    assert all(plot.drawer.__annotations__["return"] == "Picture" for plot in question.plots)


@pytest.mark.parametrize("question", EVERY)
def test_what_it_names_exists(question: Question[Any]) -> None:
    assert question.next_always
    for each in question.next_always:
        QUESTIONS[question.kind][each.topic].parsed(each.parameters)
    assert question.verb_name not in OWN_VERBS
    assert all(question.name in BY_NAME[tool].topics[question.kind] for tool in question.tools)
    assert question.tools or question.name == "about"
    assert not question.view or question.view in VIEWS[question.kind]


def test_commands_ask_questions() -> None:
    runs, traces, counters = QUESTIONS["run"], QUESTIONS["trace"], QUESTIONS["counters"]
    at = {"at": "i0x1814"}
    assert traces["source"].command(["a b", "$(x)"], at) == "wavewright source 'a b' '$(x)' --at i0x1814 --brief"
    assert runs["kernels"].command(["r"], {"name": "k0"}) == "wavewright kernels k0 r --brief"
    assert runs["kernels"].command(["r"], {}) == "wavewright kernels '' r --brief"
    assert runs["diagnose"].command(["r"], {}) == "wavewright diagnose r --run --brief"
    assert counters["panels"].command(["c"], {"panel": "17"}) == "wavewright counters c --panel 17 --brief"
    assert runs["about"].command(["c"], {}, is_brief=False) == "wavewright info c"
