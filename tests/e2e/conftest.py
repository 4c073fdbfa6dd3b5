"""The page in a real browser: Debian's Chromium, headless, driven by Playwright, against our own server."""

from __future__ import annotations

import secrets
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from wavescope.errors import MissingToolError
from wavescope.model.profile import Profile
from wavescope.model.thread_trace import ThreadTrace
from wavescope.page.assets import page_folder
from wavescope.page.document import Library
from wavescope.readers.opening import open as open_path
from wavescope.readers.sources import add_sources

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


def _opened(path: Path) -> ThreadTrace | Profile:
    """What `wavescope open PATH --source-root PATH/src` opens."""
    opened = open_path(path)
    if isinstance(opened, ThreadTrace) and (path / "src").is_dir():
        add_sources(opened, path / "src")
    return opened


class Served:
    """A server of ours in a thread of this process, so that tests can compare with the same documents."""

    def __init__(self, library: Library) -> None:
        import uvicorn

        from wavescope.server.app import make_app

        self.library = library
        token = secrets.token_urlsafe(24)
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/"
        self.server = uvicorn.Server(uvicorn.Config(make_app(library, token, page_folder()), log_level="warning"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listener]}, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=10)


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[..., Served]]:
    """`serve(path, ...)`: a server for these documents, one per set of paths, kept for the whole session."""
    try:
        page_folder()
    except MissingToolError as error:
        pytest.skip(str(error))
    kept: dict[tuple[Path, ...], Served] = {}

    def start(*paths: Path) -> Served:
        if paths not in kept:
            library = Library()
            for path in paths:
                library.add(path.name, str(path), partial(_opened, path))
            kept[paths] = Served(library)
        return kept[paths]

    yield start
    for served in kept.values():
        served.stop()


@pytest.fixture
def page(browser: object) -> Iterator[object]:
    """A fresh page of 1280x800 in dark theme; a script error or a console error fails the test.

    A test that provokes failing requests sets `page.may_fail_to_load = True`.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="dark")  # type: ignore[attr-defined]
    context.set_default_timeout(15_000)
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.may_fail_to_load = False
    yield opened
    may_fail = opened.may_fail_to_load
    context.close()
    assert [text for text in problems if not (may_fail and "Failed to load resource" in text)] == []
