"""One look at each view that the page offers."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e.menus import offered_views, open_view


def look_at_every_view(page, url: str, look: Callable[[], None] = lambda: None) -> list[str]:
    """Opens each view from the menu, waits for its answers, and calls `look`; the ids of the views."""
    page.goto(url)
    views = offered_views(page)
    for view in views:
        open_view(page, view)
        page.locator(f'[data-view="{view}"]').wait_for()
        page.wait_for_selector('html[data-asking="0"]')
        look()
    return views
