"""Reading a page that may still change."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE_S = 30  # other parts of the suite run beside this one


def fragment(page: Page) -> str:
    """What follows the # of the page's address now; `page.url` is only renewed while Playwright waits for something."""
    text: str = page.evaluate("location.hash.slice(1)")
    return text


def eventually(read: Callable[[], Any], expected: Any) -> None:
    """Reads the page until it says what is expected, and fails with what it said last."""
    deadline_s = time.monotonic() + PATIENCE_S
    while (shown := read()) != expected and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert shown == expected
