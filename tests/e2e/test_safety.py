"""The page under the policy that the server sends: nothing of it is refused by the browser, and names stay text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.counter_captures import hostile_capture
from tests.e2e.every_view import look_at_every_view
from tests.e2e.inputs import hostile_run, hostile_trace, made_gemm
from tests.e2e.waiting import PATIENCE_S


@pytest.fixture
def page(fresh_page):
    """Dialogs are listened to."""
    return fresh_page


@pytest.fixture
def strict_page(browser: object) -> Iterator[object]:
    """A page that obeys the Content-Security-Policy; what the browser refuses is an error in its console."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})  # type: ignore[attr-defined]
    context.set_default_timeout(PATIENCE_S * 1000)
    opened = context.new_page()
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("console", lambda message: opened.problems.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("made", [made_gemm, hostile_run, hostile_capture])
def test_the_policy_lets_every_view_work(strict_page, serve, made):
    assert len(look_at_every_view(strict_page, serve(made()).url)) >= 8
    assert strict_page.problems == []


@pytest.mark.slow
@pytest.mark.parametrize("made", [hostile_trace, hostile_run])
def test_names_of_strangers_are_only_text(page, serve, made):
    """Also where no policy stands in the way of a script: this page has leave from it."""
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    found: list[int] = []
    look_at_every_view(page, serve(made()).url, lambda: found.append(page.locator("img, svg[onload]").count()))
    assert found
    assert set(found) == {0}
    assert dialogs == []


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
