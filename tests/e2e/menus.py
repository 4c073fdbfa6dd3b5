"""The menus of the page, as a user opens them."""

from __future__ import annotations


def offered_views(page) -> list[str]:
    """The ids of the views that the menu offers for the document."""
    page.locator(".dock [data-view]").first.wait_for()
    page.locator('[data-opens="Views"]').click()
    page.locator('[data-popup="Views"] [data-go]').first.wait_for()
    views = [entry.get_attribute("data-go") for entry in page.locator("[data-go]:not([disabled])").all()]
    page.keyboard.press("Escape")
    page.locator("[data-go]").first.wait_for(state="detached")
    return views


def open_view(page, view: str) -> None:
    """Chooses a view in the menu."""
    page.locator('[data-opens="Views"]').click()
    page.locator(f'[data-go="{view}"]').click()


def time_field(page, label: str):
    """A field of the menu of times, such as `Selected: begin`."""
    if not page.locator('[data-popup="Time"]:popover-open').count():
        page.locator('[data-opens="Time"]').click()
    return page.get_by_label(label)


def save(view, form: str) -> None:
    """Saves what a view shows; with several formats the button asks which."""
    button = view.locator(f'[data-save="{form}"]')
    if not button.count():
        view.locator('[data-opens="Save"]').first.click()
    button.click()
