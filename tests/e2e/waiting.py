"""Reading a page that may still change."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Nothing is ever this late on a machine that gives us a tenth of a processor; what happens is seen at once.
PATIENCE_S = 90
#: A file of our page without scripts.
PLAIN = "page.licences.txt"


def fragment(page: Page) -> str:
    """What follows the # of the page's address now; `page.url` is only renewed while Playwright waits for something."""
    text: str = page.evaluate("location.hash.slice(1)")
    return text


def leave(page: Page) -> None:
    """Leave our page for a text of its server: the browser's process stays, which it would not with about:blank."""
    here = page.url.partition("#")[0]
    page.goto(here + PLAIN if here.startswith("http") else "about:blank")


def load(page: Page, url: str) -> None:
    """Load our page at an address, also where only what follows the # differs from that of the page which is there."""
    if page.url.partition("#")[0] == url.partition("#")[0]:
        leave(page)
    page.goto(url)


def settled(page: Page) -> None:
    """Wait until nothing is asked for, and what was answered is drawn."""
    page.wait_for_selector('html[data-asking="0"]')
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_selector('html[data-asking="0"]')


def eventually(read: Callable[[], Any], expected: Any) -> None:
    """Reads the page until it says what is expected, and fails with what it said last."""
    deadline_s = time.monotonic() + PATIENCE_S
    while (shown := read()) != expected and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert shown == expected
