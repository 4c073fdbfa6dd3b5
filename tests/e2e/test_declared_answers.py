"""The view Answers: every declared question can be asked, and its answer is that of the terminal."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.counter_captures import made_capture
from tests.kit.planted_traffic import PLANTED
from wavewright.questions.catalog import QUESTIONS
from wavewright.questions.kit.question import Wording


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_is_given_to_a_question_changes_its_answer(page, serve, tmp_path):
    """Traffic of L2 needs sizes that nobody recorded: they are typed in, and a picture comes with the numbers."""
    kernel = PLANTED[2]
    kernel.trace("gfx942", tmp_path)  # is written there
    served = serve(tmp_path)
    page.goto(served.url + "#layout=t(answers;0)")
    view = page.locator('[data-view="answers"]')
    view.locator("select").select_option("traffic")
    expect(view).to_contain_text("the number of workgroups is not known")
    expect(view.locator("img")).to_have_count(0)
    view.locator("summary", has_text="What is known or chosen").click()
    for name, value in (
        ("workgroup", "256"),
        ("grid", str(256 * kernel.workgroups)),
        ("arg", f"{kernel.at}={kernel.size}"),
    ):
        view.locator(f'input[name="{name}"]').fill(value)
        view.locator(f'input[name="{name}"]').press("Enter")
    expect(view.get_by_role("heading")).to_contain_text("fabric reads 516.1 kB: 73.7 kB unavoidable")
    expect(view.locator("img.answer-picture")).to_be_visible()
    assert view.locator("img.answer-picture").evaluate("image => image.naturalWidth") > 100
    view.locator('input[name="grid"]').fill("many")
    view.locator('input[name="grid"]').press("Enter")
    expect(view).to_contain_text("'many' is not a size")
