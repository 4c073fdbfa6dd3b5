"""The exported page, opened from a file with the network cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.every_view import look_at_every_view
from tests.e2e.inputs import exported_gemm, hostile_run, made_gemm, real_trace
from tests.e2e.waiting import PATIENCE_S
from tests.kit.sampling import every_third
from wavewright.export.page import write_html
from wavewright.readers.opening import open as open_path


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


def test_its_policy_lets_nothing_be_loaded(offline_page):
    offline_page.goto(exported_gemm().as_uri())
    offline_page.locator(".dock [data-view]").first.wait_for()
    assert offline_page.problems == []
    refused = offline_page.evaluate("() => fetch('http://127.0.0.1:9/').then(() => 'asked', (e) => String(e))")
    assert "Failed to fetch" in refused
    assert any("Content Security Policy" in problem for problem in offline_page.problems)


@pytest.mark.slow
def test_what_was_left_out_is_said(offline_page, tmp_path):
    file: Path = tmp_path / "trace.html"
    written = write_html(open_path(made_gemm()), file, most_bytes=20_000)
    assert written.losses
    offline_page.goto(file.as_uri())
    offline_page.get_by_text("which would be too large").first.wait_for()
