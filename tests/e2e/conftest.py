"""The page in a real browser: Debian's Chromium, headless, driven by Playwright, against our own server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.e2e.browser import FLAGS, browser_path
from tests.e2e.waiting import PATIENCE_S
from wavewright.errors import MissingToolError
from wavewright.model.counters import CounterSet
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.page.assets import page_folder
from wavewright.page.protocol.document import Library
from wavewright.readers.opening import open as open_path
from wavewright.readers.trace.sources import add_sources
from wavewright.server.serving import Serving, listen

PATIENCE_MS = PATIENCE_S * 1000


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium on this machine")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


def _opened(path: Path) -> ThreadTrace | Run | CounterSet:
    """What `wavewright open PATH --source-root PATH/src` opens."""
    opened = open_path(path)
    if isinstance(opened, ThreadTrace) and (path / "src").is_dir():
        add_sources(opened, path / "src")
    return opened


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[..., Serving]]:
    """`serve(path, ...)`: a server for these documents, one per set of paths, kept for the whole session."""
    try:
        page_folder()
    except MissingToolError as error:
        pytest.skip(str(error))
    kept: dict[tuple[Path, ...], Serving] = {}

    def start(*paths: Path) -> Serving:
        if paths not in kept:
            library = Library()
            for path in paths:
                library.add(path.name, str(path), partial(_opened, path), notes=f"{path}.wavewright-notes.json")
            kept[paths] = Serving(library, page_folder(), listen())
        return kept[paths]

    yield start
    for served in kept.values():
        served.stop()


@pytest.fixture
def page(browser: object) -> Iterator[object]:
    """A fresh page of 1280x800 in dark theme; a script error or a console error fails the test.

    A test that provokes failing requests sets `page.may_fail_to_load = True`.
    """
    size = {"width": 1280, "height": 800}
    # Playwright's wait_for_function evaluates text; test_safety.py looks at every view without this leave.
    context = browser.new_context(viewport=size, color_scheme="dark", bypass_csp=True)  # type: ignore[attr-defined]
    context.set_default_timeout(PATIENCE_MS)
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.may_fail_to_load = False
    yield opened
    may_fail = opened.may_fail_to_load
    context.close()
    assert [text for text in problems if not (may_fail and "Failed to load resource" in text)] == []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make test` opens a page for the first parameters of each test, `make test-slow` for the others."""
    seen: set[str] = set()
    for item in items:
        if isinstance(item, pytest.Function) and "e2e" in item.path.parts:
            name = f"{item.path}::{item.originalname}"
            if name in seen:
                item.add_marker(pytest.mark.slow)
            seen.add(name)
