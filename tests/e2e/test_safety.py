"""The page under the policy that the server sends: nothing of it is refused by the browser, and names stay text."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest

from tests.e2e.inputs import made_gemm, made_run
from wavescope.page.assets import page_folder
from wavescope.page.document import Library
from wavescope.readers.opening import open as open_path
from wavescope.server.serving import Serving, listen

HOSTILE = '<img src=x onerror="window.wasRun=1">'


@pytest.fixture
def strict_page(browser: object) -> Iterator[object]:
    """A page that obeys the Content-Security-Policy; what the browser refuses is an error in its console."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})  # type: ignore[attr-defined]
    context.set_default_timeout(15_000)
    opened = context.new_page()
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("console", lambda message: opened.problems.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()


def _views(page) -> list[str]:
    """The views that the page offers for its document."""
    page.locator(".dock [data-view]").first.wait_for()
    options = page.locator('select[aria-label="Views"] option:not([disabled])').all()
    return [view for option in options if (view := option.get_attribute("value")) not in ("", "reset")]


def _look_at_every_view(page, url: str) -> list[str]:
    page.goto(url)
    views = _views(page)
    for view in views:
        page.goto("about:blank")
        page.goto(f"{url}#layout=t({view};0)&view={view}")
        page.locator(f'[data-view="{view}"]').wait_for()
        page.wait_for_selector('html[data-asking="0"]')
    return views


@pytest.mark.parametrize("made", [made_gemm, made_run])
def test_the_policy_lets_every_view_work(strict_page, serve, made):
    assert len(_look_at_every_view(strict_page, serve(made()).url)) >= 8
    assert strict_page.problems == []


def test_names_of_strangers_are_only_text(page):
    trace = open_path(made_gemm())
    name = pl.lit(HOSTILE)
    trace.tables["kernels"] = trace.kernels.with_columns(name=name, demangled=name)
    chain = pl.col("inline_chain")
    trace.tables["code"] = trace.code.with_columns(
        text=pl.col("text") + f" {HOSTILE}", inline_chain=pl.when(chain.is_not_null()).then(pl.lit(f"{HOSTILE}:3"))
    )
    library = Library()
    library.add(HOSTILE, "/tmp", lambda: trace)  # noqa: S108
    serving = Serving(library, page_folder(), listen())
    try:
        _look_at_every_view(page, serving.url)
        page.goto(serving.url)
        page.locator(".shell").get_by_text(HOSTILE).first.wait_for()
        assert page.locator("img").count() == 0
        assert page.evaluate("() => window.wasRun") is None
    finally:
        serving.stop()


def test_the_policy_refuses_what_it_should(strict_page, serve):
    strict_page.goto(serve(made_gemm()).url)
    strict_page.locator(".dock [data-view]").first.wait_for()
    strict_page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.wasRun = true";
            document.body.append(script);
            const image = document.createElement("img");
            image.src = "http://127.0.0.1:9/elsewhere.png";
            document.body.append(image);
        }"""
    )
    assert strict_page.evaluate("() => window.wasRun") is None
    assert sum("Content Security Policy" in problem for problem in strict_page.problems) >= 2
