"""axe-core looks at every view and every dialog, in both themes: nothing serious is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.counter_captures import made_capture
from tests.e2e.every_view import look_at_every_view
from tests.e2e.inputs import made_gemm, other_gemm, real_trace
from tests.e2e.run_inputs import made_ranks
from tests.e2e.waiting import eventually

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
THEMES = ("dark", "light")
DOCUMENTS = {
    "made": lambda: (made_gemm(), other_gemm()),
    "flash": lambda: (real_trace("flash_attn_func", 38430),),
    "run": lambda: (made_ranks(),),
    "counters": lambda: (made_capture(),),
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


CUT = """() => {
    const pen = document.createElement("canvas").getContext("2d");
    const wide = (element, text) => {
        const style = getComputedStyle(element);
        pen.font = style.font;
        const sides = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight) + 2;
        return pen.measureText(text).width + sides + (element.matches("select") ? 16 : 0);
    };
    const seen = [...document.querySelectorAll(".shell, .dock .panel")].filter((part) => part.checkVisibility());
    return seen.flatMap((part) => {
        const box = part.getBoundingClientRect();
        const where = part.dataset.view ?? "shell";
        const all = (selector) => [...part.querySelectorAll(selector)];
        const inside = (selector) => all(selector).filter((element) => element.checkVisibility());
        const names = ".document, .baseline select"; // names of files may be shortened
        const fields = inside("select, input[type=search]").filter((element) => !element.matches(names));
        const short = fields.map((element) => [element, element.selectedOptions?.[0]?.text ?? element.placeholder]);
        const cells = inside(".row:not(.head) .number, .row .head-sort, .headline-figure *");
        const scrolls = ".list, .scroll, .small-table-box, .popup, .bar-more";
        const controls = inside("button, select, input, label").filter((element) => !element.closest(scrolls));
        return [
            ...short.filter(([element, text]) => wide(element, text) > element.offsetWidth + 2).map(([, text]) => text),
            ...cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1 && cell.clientWidth)
                .map((cell) => cell.textContent),
            ...controls.filter((element) => element.getBoundingClientRect().right > box.right + 1)
                .map((element) => element.textContent || element.title),
        ].map((text) => `${where}: ${text.trim().slice(0, 40)}`);
    });
}"""
"""What is cut on screen: choices, fields, numbers, headings, figures, and controls beyond the edge of their panel."""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_nothing_is_cut_at_any_size(page, serve, document):
    first_screen(page, serve(*DOCUMENTS[document]()).url)
    for width, height in ((1280, 800), (1600, 1000), (2560, 1440)):
        page.set_viewport_size({"width": width, "height": height})
        eventually(lambda: page.evaluate(CUT), [])
