"""What the user chose and wrote is there again after the server was stopped and started."""

from __future__ import annotations

from functools import partial

import pytest

from tests.e2e.inputs import made_gemm
from wavewright.model.document import Library
from wavewright.page.assets import page_folder
from wavewright.readers.opening import open as open_path
from wavewright.server.running_server import RunningServer, listen


@pytest.fixture
def page(fresh_page):
    """A server that ends leaves requests behind."""
    return fresh_page


@pytest.fixture
def start(serve, tmp_path, monkeypatch):  # `serve` skips where there is no page
    """`start()`: a server as `wavewright open` starts one, the one before it stopped."""
    monkeypatch.setenv("WAVEWRIGHT_CONFIG", str(tmp_path / "config"))
    running: list[RunningServer] = []

    def again() -> RunningServer:
        if running:
            running.pop().stop()
        library = Library(command="wavewright open capture")
        library.add("gemm", str(made_gemm()), partial(open_path, made_gemm()), notes=str(tmp_path / "notes.json"))
        running.append(RunningServer(library, page_folder(), listen()))
        return running[0]

    yield again
    for serving in running:
        serving.stop()


@pytest.mark.slow
def test_settings_bookmarks_and_layout_survive_a_restart(page, start, tmp_path):
    expect = pytest.importorskip("playwright.sync_api").expect
    page.goto(start().url + "#view=waves&wave=5")
    expect(page.locator('[data-view="waves"] .row.selected')).to_have_count(1)
    page.locator('[data-action="theme"]').click()
    page.locator('[data-action="help"]').click()
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    expect(page.locator('[data-action="bookmarks"]')).to_have_text(" 1")
    expect(page.locator("html")).to_have_attribute("data-keeping", "0")
    assert (tmp_path / "config" / "page.json").stat().st_mode & 0o777 == 0o600

    served = start()
    page.may_fail_to_load = True  # the page of the stopped server may still look for it
    page.goto(served.url)
    expect(page.locator('[data-action="bookmarks"]')).to_have_text(" 1")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page.locator('[data-view="waves"]')).to_be_visible()
    expect(page.locator('[data-action="help"]')).to_have_class("quiet")
    page.locator('[data-action="bookmarks"]').click()
    page.get_by_role("button", name="go there").click()
    chosen = page.locator('[data-view="waves"] .row.selected [data-column="wave"]')
    expect(chosen).to_have_text("5")

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator('[data-opens="Copy link"]').click()
    page.locator('[data-copy="Command"]').click()
    expect(page.locator('[data-copied="Command"]')).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("wavewright open capture --at 'wave=5")
    page.locator('[data-copy="Link"]').click()
    expect(page.locator('[data-copied="Link"]')).to_be_visible()
    second = page.context.new_page()
    second.goto(page.evaluate("navigator.clipboard.readText()"))
    expect(second.locator('[data-view="waves"] .row.selected [data-column="wave"]')).to_have_text("5")
    second.close()
