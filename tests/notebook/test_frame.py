"""The page in a sandboxed frame without an address of its own, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wavewright

PATIENCE_MS = 600_000


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page; an error of a script, or on the console, fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()
    assert problems == []


@pytest.fixture(scope="module")
def shown(captures: Path) -> str:
    """The output of a cell in a page of its own, as a notebook has it."""
    trace = wavewright.open(captures / "trace")
    view = wavewright.show(trace, "isa", time="0%:15%")
    return f"<!doctype html><meta charset=utf-8><body>{view._repr_html_()}"


@pytest.mark.slow
def test_the_frame_draws_follows_and_remembers(page: Any, shown: str, tmp_path: Path) -> None:
    (tmp_path / "cell.html").write_text(shown)
    page.goto((tmp_path / "cell.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("canvas").first.wait_for()
    rows = frame.locator("[data-view=isa] .row, .isa .row")
    rows.first.wait_for()
    inner = next(each for each in page.frames if each.url == "about:srcdoc")
    before = page.evaluate("history.length")
    rows.nth(3).click()
    inner.wait_for_function("document.querySelector('.row.selected') !== null")
    page.keyboard.press("b")  # a bookmark of what is selected, which a frame without storage keeps while it lives
    page.wait_for_timeout(600)  # zooming and moving panels write the address a moment later
    assert inner.url == "about:srcdoc"
    assert page.evaluate("history.length") == before
    assert not page.url.endswith("#")


@pytest.mark.slow
def test_without_scripts_the_table_is_there(browser: Any, shown: str, tmp_path: Path) -> None:
    (tmp_path / "cell.html").write_text(shown)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "cell.html").as_uri())
    assert "s_waitcnt" in page.locator(".wavewright table").first.inner_text()
    context.close()
