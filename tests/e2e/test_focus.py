"""The keyboard alone: where the focus goes, and that arrow keys work there."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from playwright.sync_api import expect

from tests.e2e.counter_captures import made_capture
from tests.e2e.inputs import made_gemm
from tests.e2e.run_inputs import made_ranks
from tests.e2e.waiting import eventually

FOCUSED = """(() => {
    const view = document.activeElement.closest('[data-view]')?.dataset.view;
    return view ?? (document.activeElement.closest('.shell') ? 'header' : document.activeElement.tagName);
})()"""


@pytest.fixture
def gemm(page, serve):
    served = serve(made_gemm())
    page.goto(served.url)
    page.locator('[data-view="isa"] [data-row]').first.wait_for()
    page.wait_for_selector('html[data-asking="0"]')
    return served


def row(page) -> int:
    return int(parse_qs(page.evaluate("location.hash.slice(1)")).get("row", ["-1"])[0])


@pytest.mark.slow
def test_arrow_keys_work_in_the_view_that_a_number_brings(page, gemm):
    page.keyboard.press("3")
    eventually(lambda: page.evaluate(FOCUSED), "isa")
    page.keyboard.press("ArrowDown")
    eventually(lambda: row(page) >= 0, True)
    first = row(page)
    page.keyboard.press("ArrowDown")
    eventually(lambda: row(page) > first, True)
    page.keyboard.press("1")
    eventually(lambda: page.evaluate(FOCUSED), "explorer")
    chosen = page.locator('[data-view="explorer"] .row.selected')
    page.keyboard.press("ArrowDown")
    chosen.wait_for()
    before = chosen.get_attribute("data-line")
    page.keyboard.press("ArrowUp")
    expect(chosen).not_to_have_attribute("data-line", before)
    assert page.evaluate(FOCUSED) == "explorer"  # Source came to the front, the list that is stepped through stays


@pytest.mark.slow
@pytest.mark.parametrize(("path", "keys"), [(made_ranks, "123"), (made_capture, "25")], ids=["run", "counters"])
def test_numbers_lead_into_views_of_other_documents(page, serve, path, keys):
    page.goto(serve(path()).url)
    page.locator(".dock [data-view]").first.wait_for()
    views = {"123": ["run_timeline", "kernels", "regions"], "25": ["counter_kernels", "panels"]}[keys]
    for key, view in zip(keys, views, strict=True):
        page.keyboard.press(key)
        eventually(lambda: page.evaluate(FOCUSED), view)


def test_f6_leads_through_header_and_panels_and_back(page, gemm):
    seen = []
    for _ in range(5):
        page.keyboard.press("F6")
        seen.append(page.evaluate(FOCUSED))
    assert seen[0] == "header"
    assert sorted(seen[1:]) == sorted(["diagnosis", "compute_unit", "isa", "source"])
    page.keyboard.press("F6")
    assert page.evaluate(FOCUSED) == "header"
    page.keyboard.press("Shift+F6")
    assert page.evaluate(FOCUSED) == seen[-1]


@pytest.mark.slow
def test_a_table_and_a_toolbar_are_one_stop_each(page, serve):
    page.goto(serve(made_gemm()).url + "#layout=t(isa;0)")
    page.locator('[data-view="isa"] [data-row]').first.wait_for()
    stops = page.evaluate(
        """[...document.querySelectorAll('[data-view="isa"] .list *')].filter(e => e.tabIndex >= 0).length"""
    )
    assert stops == 0
    toolbar = page.locator('[data-view="isa"] .toolbar').first
    controls = toolbar.locator("button:visible, select:visible, input:visible")
    controls.first.focus()
    expect(toolbar).to_have_attribute("role", "toolbar")
    page.keyboard.press("ArrowRight")
    expect(controls.nth(1)).to_be_focused()
    page.keyboard.press("Tab")
    assert toolbar.evaluate("bar => bar.contains(document.activeElement)") is False


@pytest.mark.slow
@pytest.mark.parametrize("key", ["?", "/", "★"])
def test_a_dialog_holds_the_focus_and_gives_it_back(page, gemm, key):
    page.keyboard.press("3")
    eventually(lambda: page.evaluate(FOCUSED), "isa")
    if key == "★":
        page.locator('[data-action="bookmarks"]').click()
    else:
        page.keyboard.press(key)
    page.locator("dialog[open]").wait_for()
    for press in ["Tab"] * 7 + ["Shift+Tab"] * 9:
        page.keyboard.press(press)
        assert page.evaluate("document.activeElement.closest('dialog') !== null"), press
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    expected = "header" if key == "★" else "isa"
    eventually(lambda: page.evaluate(FOCUSED), expected)
    page.keyboard.press("1")
    eventually(lambda: page.evaluate(FOCUSED), "explorer")
