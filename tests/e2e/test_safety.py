"""The page under the policy that the server sends: nothing of it is refused by the browser, and names stay text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.e2e.inputs import hostile_trace, made_gemm
from wavescope.synth.rocpd import write_rocpd_ranks
from wavescope.synth.workload import Workload


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


def _look_at_every_view(page, url: str, look: Callable[[], None] = lambda: None) -> list[str]:
    page.goto(url)
    views = _views(page)
    for view in views:
        page.goto("about:blank")
        page.goto(f"{url}#layout=t({view};0)&view={view}")
        page.locator(f'[data-view="{view}"]').wait_for()
        page.wait_for_selector('html[data-asking="0"]')
        look()
    return views


@cache
def _hostile_run() -> Path:
    """A run whose kernels, markers and processes have names that look like HTML, or worse."""
    folder = Path(mkdtemp(prefix="wavescope-e2e-"))
    write_rocpd_ranks(folder, Workload(dispatches=120, ranks=2, seed=3, hostile_names=True))
    return folder


@pytest.mark.parametrize("made", [made_gemm, _hostile_run])
def test_the_policy_lets_every_view_work(strict_page, serve, made):
    assert len(_look_at_every_view(strict_page, serve(made()).url)) >= 8
    assert strict_page.problems == []


@pytest.mark.parametrize("made", [hostile_trace, _hostile_run])
def test_names_of_strangers_are_only_text(page, serve, made):
    """Also where no policy stands in the way of a script: this page has leave from it."""
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    found: list[int] = []
    _look_at_every_view(page, serve(made()).url, lambda: found.append(page.locator("img, svg[onload]").count()))
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
