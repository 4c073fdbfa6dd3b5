"""Documents that are damaged, absurd or malicious, in every view: something is shown, and nothing breaks."""

from __future__ import annotations

import pytest

from tests.e2e.every_view import look_at_every_view
from tests.kit.hostile_documents import damaged_run, damaged_trace
from tests.kit.sampling import every_third

TRACES = ("far times", "overlapping", "rows out of range", "much code", "nasty names", "long names", "garbled")
RUNS = ("negative durations", "far times", "nothing", "dangling", "long names")
SHOWN = ".dock .panel:not(.lm-mod-hidden)"
ROOM = """() => [...document.querySelectorAll(".dock .panel:not(.lm-mod-hidden)")].map((panel) => ({
    view: panel.dataset.view,
    text: panel.innerText.trim(),
    drawn: [...panel.querySelectorAll("canvas")].some((canvas) => canvas.width * canvas.height > 0),
    images: panel.querySelectorAll("img, script, svg[onload]").length,
}))"""


def _look(page, url: str) -> list[str]:
    """Looks at every view; a script error fails the test in the fixture `page`."""
    blank: list[tuple[str, str]] = []

    def look() -> None:
        page.wait_for_function(f"!document.querySelector('{SHOWN} .waiting')")
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        for panel in page.evaluate(ROOM):
            if panel["images"] or not (panel["text"] or panel["drawn"]):
                blank.append((panel["view"], str(panel)[:300]))
            if "this is a bug" in panel["text"]:
                blank.append((panel["view"], panel["text"][:300]))

    views = look_at_every_view(page, url, look)
    assert blank == []
    return views


@pytest.mark.slow
@pytest.mark.parametrize("name", every_third(TRACES))
def test_every_view_of_a_damaged_trace_shows_something(page, serve, name):
    assert len(_look(page, serve(damaged_trace(name)).url)) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", every_third(RUNS))
def test_every_view_of_a_damaged_run_shows_something(page, serve, name):
    assert len(_look(page, serve(damaged_run(name)).url)) >= 2
