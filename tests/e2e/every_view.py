"""One look at each view that the page offers."""

from __future__ import annotations

from collections.abc import Callable


def _views(page) -> list[str]:
    """The ids of the views that the page offers for its document."""
    page.locator(".dock [data-view]").first.wait_for()
    options = page.locator('select[aria-label="Views"] option:not([disabled])').all()
    return [view for option in options if (view := option.get_attribute("value")) not in ("", "reset")]


def look_at_every_view(page, url: str, look: Callable[[], None] = lambda: None) -> list[str]:
    """Opens each view from the menu, waits for its answers, and calls `look`; the ids of the views."""
    page.goto(url)
    views = _views(page)
    for view in views:
        page.locator('select[aria-label="Views"]').select_option(view)
        page.locator(f'[data-view="{view}"]').wait_for()
        page.wait_for_selector('html[data-asking="0"]')
        look()
    return views
