"""Every question about runs has a verb that can read files in many processes."""

from __future__ import annotations

from inspect import signature

import pytest

from wavewright.cli.answers.run_answers import ANSWERS
from wavewright.cli.kit.options import declaration_of, options
from wavewright.questions.catalog import QUESTIONS


@pytest.mark.parametrize("name", QUESTIONS["run"])
def test_a_verb_has_parts_to_combine_or_a_function_of_its_own(name: str) -> None:
    question = QUESTIONS["run"][name]
    analysis = question.analysis()
    has_parts = analysis.partial is not None and analysis.combine is not None
    has_function = question.verb_name in ANSWERS or question.verb_name == "info"
    assert has_parts or has_function, f"{name}: neither partial and combine in Analysis, nor a function in cli/answers"


@pytest.mark.parametrize("name", sorted(QUESTIONS["run"].keys() - ANSWERS.keys()))
def test_options_without_a_function_are_arguments_of_the_analysis(name: str) -> None:
    question = QUESTIONS["run"][name]
    analysis = question.analysis()
    taken = {
        each for function in (analysis.partial, analysis.combine) if function for each in signature(function).parameters
    }
    declared = {option.name for option in options(declaration_of(question).get("option", ()))}
    assert declared <= taken, (
        "name the options of the verb like arguments of partial and combine, or write its function in cli/answers"
    )


@pytest.mark.parametrize("name", ANSWERS)
def test_every_function_answers_a_question(name: str) -> None:
    assert name in QUESTIONS["run"]
