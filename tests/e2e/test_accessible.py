"""axe-core looks at every view and every dialog, in both themes: nothing serious is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.counter_captures import few_counters, made_capture, real_capture
from tests.e2e.cut_parts import CUT, DRAWN_TEXTS
from tests.e2e.every_view import look_at_every_view
from tests.e2e.inputs import made_gemm, other_gemm, real_trace, sampled
from tests.e2e.menus import offered_views, open_view
from tests.e2e.run_inputs import made_ranks, real_run
from tests.e2e.waiting import eventually

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
THEMES = ("dark", "light")
DOCUMENTS = {
    "made": lambda: (made_gemm(), other_gemm()),
    "flash": lambda: (real_trace("flash_attn_func", 38430),),
    "run": lambda: (made_ranks(),),
    "counters": lambda: (made_capture(),),
}
WALKED = DOCUMENTS | {
    "raw": lambda: (real_capture("att-mi300x-bmm/c01/raw"),),
    "rdna": lambda: (made_gemm("gfx1201"),),
    "samples": lambda: (sampled(),),
    "kineto": lambda: (real_run("kineto-multirank-2of4"),),
    "runs": lambda: (made_ranks(), made_ranks(is_slow=True)),
    "captures": lambda: (made_capture(), made_capture(slower=1.3)),
    "few counters": lambda: (few_counters(),),
}
RUN = """async where => {
    const options = { resultTypes: ["violations"], elementRef: false };
    const { violations } = await axe.run(where ?? document, options);
    return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) =>
        `${id} (${nodes.length}): ${nodes.slice(0, 3).map(n => n.target.join(" ") + " " + n.html.slice(0, 160)
            + (n.any[0]?.data?.contrastRatio ? " contrast " + n.any[0].data.contrastRatio : "")).join(" | ")}`);
}"""


def dressed(page, theme: str) -> None:
    """The page gets axe-core, and a theme, whenever it is loaded."""
    if not AXE.parents[1].is_dir():
        pytest.skip("no web/node_modules: npm --prefix web install")
    page.emulate_media(color_scheme=theme)
    page.add_init_script(path=AXE)


def findings(page, where: str | None = None) -> list[Any]:
    """What axe-core finds serious, in a part of the page or in all of it."""
    # Colours of an answer that fades in are not looked at.
    page.evaluate("Promise.allSettled(document.getAnimations().map((animation) => animation.finished))")
    return page.evaluate(RUN, where)


def first_screen(page, url: str) -> None:
    page.goto(url)
    page.locator(".dock [data-view]").first.wait_for()
    page.wait_for_selector('html[data-asking="0"]')


@pytest.fixture
def page(fresh_page):
    """Scripts of a test stay with their page."""
    return fresh_page


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("theme", THEMES)
def test_the_first_screen(page, serve, document, theme):
    dressed(page, theme)
    first_screen(page, serve(*DOCUMENTS[document]()).url)
    assert findings(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("dialog", ["?", "/", "★", "o"])
def test_dialogs(page, serve, dialog, theme):
    dressed(page, theme)
    first_screen(page, serve(made_gemm()).url)
    if dialog == "★":
        page.keyboard.press("b")
        page.locator('[data-action="bookmarks"]').click()
    else:
        page.keyboard.press(dialog)
    page.locator("dialog[open]").wait_for()
    if dialog == "/":
        page.get_by_label("Search for").fill("v")
        page.locator(".hit").first.wait_for()
    assert findings(page, "dialog") == []


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("theme", THEMES)
def test_every_view(page, serve, document, theme):
    dressed(page, theme)
    served = serve(*DOCUMENTS[document]())
    problems: list[str] = []

    def look() -> None:
        view = page.evaluate("[...document.querySelectorAll('.lm-DockPanel-widget:not(.lm-mod-hidden)')].length")
        assert view
        problems.extend(finding for finding in findings(page, ".dock") if finding not in problems)

    assert len(look_at_every_view(page, served.url, look)) > 8
    assert problems == []


SIZES = ((1280, 800), (1600, 1000), (2560, 1440))


def assert_nothing_cut(page, view: str | None, sizes=SIZES) -> None:
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_selector('html[data-asking="0"]')
        eventually(lambda: page.evaluate(CUT, view), [])


@pytest.mark.parametrize("document", DOCUMENTS)
def test_nothing_is_cut_at_any_size(page, serve, document):
    first_screen(page, serve(*DOCUMENTS[document]()).url)
    assert_nothing_cut(page, None)


def assert_no_view_cut(page, url: str, sizes) -> None:
    page.add_init_script(DRAWN_TEXTS)
    page.goto(url)
    for view in offered_views(page):
        page.set_viewport_size({"width": 1280, "height": 800})
        open_view(page, view)
        page.locator(f'[data-view="{view}"]').wait_for()
        assert_nothing_cut(page, view, sizes)


def test_no_view_is_cut(page, serve):
    assert_no_view_cut(page, serve(made_capture()).url, SIZES[:1])


@pytest.mark.slow
@pytest.mark.parametrize("document", WALKED)
def test_no_view_is_cut_at_any_size(page, serve, document):
    assert_no_view_cut(page, serve(*WALKED[document]()).url, SIZES)


def test_a_cut_text_says_all_of_itself(page, serve):
    page.set_viewport_size({"width": 700, "height": 800})
    first_screen(page, serve(made_ranks()).url)
    words = page.locator('[data-view="run_diagnosis"] .toolbar > span').first
    whole = words.inner_text()
    assert words.get_attribute("title") is None
    words.hover()
    expect(words).to_have_attribute("title", whole)
    page.set_viewport_size({"width": 2560, "height": 800})
    page.mouse.move(0, 0)
    words.hover()
    expect(words).not_to_have_attribute("title", whole)
