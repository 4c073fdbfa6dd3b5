"""The page in a real browser: Debian's Chromium, headless, driven by Playwright, against our own server."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.e2e.browser import FLAGS, browser_path
from tests.e2e.waiting import PATIENCE_S, PLAIN
from wavewright.errors import MissingToolError
from wavewright.model.counters import CounterSet
from wavewright.model.document import Library
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.page.assets import page_folder
from wavewright.readers.opening import open as open_path
from wavewright.readers.trace.sources import add_sources
from wavewright.server.running_server import RunningServer, listen

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize

PATIENCE_MS = PATIENCE_S * 1000


@pytest.fixture(scope="package")
def browser() -> Iterator[object]:
    """One for all tests of this folder; it ends with the last of them, and Playwright's event loop with it."""
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium on this machine")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


@cache
def _opened(path: Path) -> ThreadTrace | Run | CounterSet:
    """What `wavewright open PATH --source-root PATH/src` opens: read once, also where several servers show it."""
    opened = open_path(path)
    if isinstance(opened, ThreadTrace) and (path / "src").is_dir():
        add_sources(opened, path / "src")
    return opened


class Servers:
    """`serve(path, ...)`: a server for these documents, one per set of paths."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Path, ...], RunningServer] = {}

    def __call__(self, *paths: Path) -> RunningServer:
        if paths not in self._kept:
            library = Library()
            for path in paths:
                library.add(path.name, str(path), partial(_opened, path), notes=f"{path}.wavewright-notes.json")
            self._kept[paths] = RunningServer(library, page_folder(), listen())
        return self._kept[paths]

    def plain_place(self, address: str) -> str:
        """Text without scripts of the server at an address: who goes there leaves our page, but not its process."""
        own = [served.url for served in self._kept.values() if address.startswith(served.url)]
        return own[0] + PLAIN if own else "about:blank"

    def stop(self) -> None:
        for served in self._kept.values():
            served.stop()


@pytest.fixture(scope="package")
def serve() -> Iterator[Servers]:
    """The servers of all tests of this folder."""
    try:
        page_folder()
    except MissingToolError as error:
        pytest.skip(str(error))
    servers = Servers()
    yield servers
    servers.stop()


class KeptPage:
    """A page of 1280x800 in dark theme that one test after the other uses, as if each had opened it.

    A new page costs a process of the browser, which is a third of what a short test costs. So each test loads our page
    anew in the same one, with nothing stored; a server's tests that follow each other use one process.
    """

    SIZE: ClassVar[ViewportSize] = {"width": 1280, "height": 800}

    def __init__(self, browser: Browser) -> None:
        # Playwright's wait_for_function evaluates text; test_safety.py looks at every view without this leave.
        context = browser.new_context(viewport=self.SIZE, color_scheme="dark", bypass_csp=True)
        context.set_default_timeout(PATIENCE_MS)
        self.page = context.new_page()
        self.problems: list[str] = []
        self._origins: set[str] = set()
        self._console = context.new_cdp_session(self.page)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("framenavigated", lambda frame: self._origins.add("/".join(frame.url.split("/")[:3])))

    def _hear(self, message: ConsoleMessage) -> None:
        # Chromium asks for an icon of text that it shows by itself, as `clear` does, and has no right to one.
        if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
            self.problems.append(message.text)

    def clear(self, plain: str) -> None:
        """Leave what is shown for a page without scripts, and forget what it stored and how it was looked at."""
        page = self.page
        page.unroute_all(behavior="ignoreErrors")
        page.goto(plain)
        for origin in self._origins:
            self._console.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage"})
        self._origins.clear()
        if page.viewport_size != self.SIZE:
            page.set_viewport_size(self.SIZE)
        page.emulate_media(color_scheme="dark")
        page.mouse.move(-1, -1)

    def told(self) -> list[str]:
        """The errors since the last time; a test that provokes failing requests sets `page.may_fail_to_load`."""
        may_fail = self.page.may_fail_to_load  # type: ignore[attr-defined]
        told = [text for text in self.problems if not (may_fail and "Failed to load resource" in text)]
        self.problems.clear()
        return told


@pytest.fixture
def fresh_page(browser: Browser) -> Iterator[Page]:
    """A page that no other test uses: for tests of storage, permissions and scripts, and for listeners."""
    kept = KeptPage(browser)
    kept.page.may_fail_to_load = False  # type: ignore[attr-defined]
    yield kept.page
    kept.page.context.close()
    assert kept.told() == []


@pytest.fixture(scope="package")
def _kept_pages(browser: Browser) -> Iterator[list[KeptPage]]:
    """The page that the next test may use, if there is one."""
    kept: list[KeptPage] = []
    yield kept
    for page in kept:
        page.page.context.close()


@pytest.fixture
def page(
    browser: Browser, _kept_pages: list[KeptPage], serve: Servers, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """A page without anything stored; a script error or a console error fails the test that it happens in."""
    kept = _kept_pages.pop() if _kept_pages else KeptPage(browser)
    kept.page.may_fail_to_load = False  # type: ignore[attr-defined]
    yield kept.page
    if request.node.stash.get(FAILED, False):
        kept.page.context.close()  # keys may still be down, and requests unanswered
    else:
        kept.clear(serve.plain_place(kept.page.url))
        _kept_pages.append(kept)
    assert kept.told() == []


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remembers that a test failed: its page is not used again."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


#: What views of thread traces show. The other half is about the page around them, runs and counters: two workers take
#: about as long, and each opens most of its documents alone.
_OF_TRACES = {
    "answers", "area", "changes", "code_without_lines", "compare", "counters", "curves", "dependencies", "flame",
    "following", "heat_map", "hotspot_histogram", "isa", "lanes", "listing_columns", "loops", "overlay",
    "reading_loop", "report_page", "source", "span_colours", "spans_as_they_are", "summary", "tables", "time_part",
    "timeline_lanes", "timelines", "wave_colours", "waves",
}  # fmt: skip


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`make test` opens a page for the first parameters of each test, `make test-all` for the others; two groups."""
    seen: set[str] = set()
    for item in items:
        if isinstance(item, pytest.Function) and "e2e" in item.path.parts:
            name = f"{item.path}::{item.originalname}"
            if name in seen:
                item.add_marker(pytest.mark.slow)
            seen.add(name)
            if config.pluginmanager.hasplugin("xdist"):
                is_of_traces = item.path.stem.removeprefix("test_") in _OF_TRACES
                item.add_marker(pytest.mark.xdist_group("e2e traces" if is_of_traces else "e2e page"))
