"""Every question about runs has a verb that can read files in many processes."""

from __future__ import annotations

import pytest

from wavewright.cli.answers.run_answers import ANSWERS
from wavewright.questions.catalog import QUESTIONS


@pytest.mark.parametrize("name", QUESTIONS["run"])
def test_a_verb_has_parts_to_combine_or_a_function_of_its_own(name: str) -> None:
    question = QUESTIONS["run"][name]
    analysis = question.analysis()
    has_parts = analysis.partial is not None and analysis.combine is not None
    has_function = question.verb_name in ANSWERS or question.verb_name == "info"
    assert has_parts or has_function, f"{name}: neither partial and combine in Analysis, nor a function in cli/answers"


@pytest.mark.parametrize("name", ANSWERS)
def test_every_function_answers_a_question(name: str) -> None:
    assert name in QUESTIONS["run"]
