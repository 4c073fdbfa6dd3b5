"""The view Answers: every declared question can be asked, and its answer is that of the terminal."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.counter_captures import made_capture
from wavewright.questions.catalog import QUESTIONS
from wavewright.questions.kit.question import Wording


@pytest.mark.parametrize("name", ["l2", "speed"])
def test_questions_are_answered_in_the_words_of_reports(page, serve, name):
    served = serve(made_capture())
    question = QUESTIONS["counters"][name]
    page.goto(served.url + "#layout=t(counter_answers;0)")
    view = page.locator('[data-view="counter_answers"]')
    view.locator("select").select_option(name)
    expect(view).to_contain_text(question.sentence)
    section = question.section(served.library.document(0), wording=Wording(limit=50))
    for block in section.blocks:
        if hasattr(block, "columns"):
            expect(view.locator("tbody tr", has_text=block.rows[0][0]).first).to_be_visible()
        elif getattr(block, "style", "") == "headline":
            expect(view.get_by_role("heading", name=block.text)).to_be_visible()
    options = view.locator("option").all_inner_texts()
    assert options == [each.title for each in QUESTIONS["counters"].values()]
