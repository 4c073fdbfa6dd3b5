"""The exported page, opened from a file with the network cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.e2e.every_view import look_at_every_view
from tests.e2e.inputs import exported_gemm, hostile_run, made_gemm, real_trace
from tests.e2e.waiting import PATIENCE_S
from tests.kit.sampling import every_third
from wavewright.export.page import write_html
from wavewright.readers.opening import open as open_path

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def offline_page(browser: object) -> Iterator[object]:
    """A page without a network that keeps a log of what it asks for, under its own policy."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)  # type: ignore[attr-defined]
    context.set_default_timeout(PATIENCE_S * 1000)
    opened = context.new_page()
    opened.asked, opened.problems = [], []
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("console", lambda message: opened.problems.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()


@pytest.mark.parametrize(
    "source", every_third([made_gemm, lambda: real_trace("flash_attn_func", 38430)]), ids=["made", "real"]
)
def test_it_shows_the_numbers_of_the_analysis_and_asks_nobody(offline_page, tmp_path, source):
    trace = open_path(source())
    file: Path = tmp_path / "trace.html"
    write_html(trace, file)
    offline_page.goto(file.as_uri() + "#view=waves")
    view = offline_page.locator('[data-view="waves"]')
    view.get_by_text(f"{trace.waves.height:,} waves").wait_for()
    first = trace.waves.filter(trace.waves["wave"] == 0).row(0, named=True)
    duration = view.locator('.row:not(.head) [data-column="duration_cycles"]').first
    expect(duration).to_have_text(f"{first['end_cycles'] - first['start_cycles']:,}", use_inner_text=True)
    assert offline_page.problems == []
    assert [url for url in offline_page.asked if not url.startswith(("data:", "blob:"))] == [file.as_uri()]


@pytest.mark.slow
@pytest.mark.parametrize("source", [made_gemm, hostile_run])
def test_every_view_has_its_answers(offline_page, tmp_path, source):
    file: Path = tmp_path / "page.html"
    opened = open_path(source())
    write_html([("before", opened), ("after", opened)], file)
    shown: list[str] = []
    problems = offline_page.locator(".problem")
    views = look_at_every_view(offline_page, file.as_uri(), lambda: shown.extend(problems.all_inner_texts()))
    assert len(views) >= 8
    assert shown == []
    assert offline_page.problems == []


@pytest.mark.slow
def test_its_policy_lets_nothing_be_loaded(offline_page):
    offline_page.goto(exported_gemm().as_uri())
    offline_page.locator(".dock [data-view]").first.wait_for()
    assert offline_page.problems == []
    refused = offline_page.evaluate("() => fetch('http://127.0.0.1:9/').then(() => 'asked', (e) => String(e))")
    assert "Failed to fetch" in refused
    assert any("Content Security Policy" in problem for problem in offline_page.problems)


COMMENT = 'slow here: </script><img src=x onerror="alert(1)"> & 10 % \u00fc'


def _add_comment(page: Page, text: str, author: str, file: Path) -> None:
    """Bookmark what is selected, write to it, and save the page as a file."""
    page.locator('[data-action="bookmarks"]').click()
    page.get_by_placeholder("Your name").fill(author)
    page.get_by_role("button", name="Bookmark what is selected").click()
    page.get_by_label("Note").last.fill(text)
    with page.expect_download() as started:
        page.locator('[data-action="save-page"]').click()
    started.value.save_as(file)


@pytest.mark.slow
def test_comments_travel_in_the_saved_page_from_one_colleague_to_the_next(offline_page, tmp_path):
    first, second, third = exported_gemm(), tmp_path / "second.html", tmp_path / "third.html"
    offline_page.goto(first.as_uri() + "#layout=t(waves;0)&wave=3")
    offline_page.locator('[data-view="waves"] .row.selected').wait_for()
    _add_comment(offline_page, COMMENT, "Ann <b>", second)
    assert second.read_bytes().count(b"onerror=") == first.read_bytes().count(b"onerror=")
    assert second.stat().st_size < first.stat().st_size + 2_000

    offline_page.evaluate("localStorage.clear()")
    offline_page.goto(second.as_uri())
    offline_page.locator('[data-action="bookmarks"]').get_by_text("1").wait_for()
    _add_comment(offline_page, "seen", "Bob", third)

    offline_page.evaluate("localStorage.clear()")
    offline_page.goto(third.as_uri() + "#layout=t(waves;0)&wave=1")
    offline_page.locator('[data-action="bookmarks"]').click()
    comments = offline_page.get_by_label("Note")
    expect(comments).to_have_count(2)
    expect(comments.first).to_have_value(COMMENT)
    expect(offline_page.get_by_text("Ann <b>")).to_be_visible()
    offline_page.get_by_role("button", name="go there").first.click()
    chosen = offline_page.locator('[data-view="waves"] .row.selected [data-column="wave"]')
    expect(chosen).to_have_text("3")
    assert offline_page.problems == []
    assert {url for url in offline_page.asked if url.startswith("http")} == set()


@pytest.mark.slow
def test_what_was_left_out_is_said(offline_page, tmp_path):
    file: Path = tmp_path / "trace.html"
    written = write_html(open_path(made_gemm()), file, most_bytes=20_000)
    assert written.losses
    offline_page.goto(file.as_uri())
    offline_page.get_by_text("which would be too large").first.wait_for()
