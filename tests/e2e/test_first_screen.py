"""The first screen: what must be known stands first and is true, nothing moves under the pointer, Back leads back."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.e2e.inputs import made_gemm, other_gemm
from tests.e2e.numbers import percent
from tests.kit.made_decoded import NAME, decoded_files, write_files
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.stalls import stalls
from wavewright.words.trace.diagnose import verdict


@pytest.fixture
def expect():
    return pytest.importorskip("playwright.sync_api").expect


@cache
def without_code() -> Path:
    files = {name: content for name, content in decoded_files().items() if name != "code.json"}
    return write_files(Path(mkdtemp(prefix="wavewright-e2e-")) / NAME, files)


def test_what_forbids_conclusions_is_the_first_banner_and_reasons_are_true(page, serve, expect):
    page.goto(serve(without_code()).url + "#layout=r(0.5:t(explorer;0),0.5:t(source;0))")
    banner = page.locator(".shell .banner").first
    expect(banner).to_have_attribute("data-banner", "caveat")
    expect(banner).to_contain_text("Do not draw conclusions from this trace")
    expect(banner).to_have_css("background-color", "rgb(59, 29, 34)")
    for name in ("explorer", "source"):
        view = page.locator(f'[data-view="{name}"]')
        expect(view).to_contain_text("code.json")
        expect(view).not_to_contain_text("-g")
    banner.get_by_role("button", name="why").click()
    expect(page.locator('[data-view="coverage"]')).to_be_visible()


def says_first_what_the_command_line_says(page, trace, expect) -> None:
    found, busy = stalls(trace), utilization(trace).pipes.sort("busy_share")["busy_share"][-1]
    expect(page.locator('[data-headline] [data-field="sentence"]')).to_have_text(verdict(diagnose(trace)))
    stalled = found.stall_cycles_total / found.latency_cycles_total
    shares = [percent(share) for share in (stalled, found.classes["stall_share"][0], busy)]
    expect(page.locator(".headline-figure strong")).to_have_text(shares)
    assert page.locator(".lm-TabBar-tab").count() <= 8
    assert page.locator(".shell").bounding_box()["height"] < 100  # one bar and the headline


def _tops(page) -> list[float]:
    parts = ('[data-view="compute_unit"] .timeline', '[data-view="isa"] .list')
    return [round(page.locator(part).bounding_box()["y"]) for part in parts]


@pytest.mark.slow
def test_nothing_moves_at_the_first_click_and_panels_keep_their_shares(page, serve, expect):
    left, right = "c(0.5:t(explorer;0),0.5:t(source;0))", "c(0.5:t(compute_unit;0),0.5:t(isa;0))"
    page.goto(f"{serve(made_gemm()).url}#layout=r(0.3:{left},0.7:{right})")
    listing = page.locator('[data-view="isa"]')
    expect(listing.locator(".list .row").nth(3)).to_be_visible()
    headline = page.locator('[data-view="explorer"] .headline button')
    expect(headline).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-asking", "0")
    says_first_what_the_command_line_says(page, serve(made_gemm()).library.document(0).trace, expect)
    before = _tops(page)
    headline.click()
    expect(listing.locator(".row.selected")).to_have_count(1)
    expect(listing.locator("[data-executions]")).to_contain_text(" of ")
    assert _tops(page) == before
    listing.locator('[data-pick="se"]').select_option(index=1)
    expect(listing.locator('[data-pick="wave"]')).to_be_visible()
    assert _tops(page) == before

    for width, least in ((2000, 560), (1000, 280), (640, 200), (2000, 560)):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(
            "([least, most]) => { const { width } = document.querySelector('[data-view=explorer]')"
            ".getBoundingClientRect(); return width >= least && width <= most; }",
            arg=[least, least + width * 0.05],
        )


@pytest.mark.slow
def test_back_leads_to_the_selection_of_the_document_that_was_left(page, serve, expect):
    page.goto(serve(made_gemm(), other_gemm()).url + "#layout=t(waves;0)")
    chosen = page.locator('[data-view="waves"] .row.selected [data-column="wave"]')
    page.locator('[data-view="waves"] .row:not(.head)').nth(4).click()
    expect(chosen).to_have_count(1)
    wave = chosen.inner_text()
    page.get_by_label("Document").select_option("1")
    expect(page.get_by_label("Document")).to_have_value("1")
    expect(chosen).to_have_count(0)
    page.go_back()
    expect(page.get_by_label("Document")).to_have_value("0")
    expect(chosen).to_have_text(wave)
    page.go_forward()
    expect(page.get_by_label("Document")).to_have_value("1")
