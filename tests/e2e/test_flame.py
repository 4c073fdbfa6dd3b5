"""Flame graphs: totals, zoom, links to the selection."""

from __future__ import annotations

import re

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, marked_gemm, real_trace
from tests.e2e.waiting import eventually, fragment
from wavewright.analysis.trace.code.marker_scopes import marker_scopes
from wavewright.analysis.trace.costs.flame import flame
from wavewright.analysis.trace.costs.row_costs import row_costs

VIEW = '[data-view="flame"]'
ROW = 19
"""Height of a row of frames in pixels."""


def opened(page, served, place="layout=t(flame;0)"):
    page.goto(f"{served.url}#{place}")
    page.locator(f"{VIEW} canvas").wait_for()
    return page.locator(f'{VIEW} [data-column="total"]')


def click(page, share, level):
    """Click the frame at a share of the width, on a level below the whole."""
    box = page.locator(f"{VIEW} canvas").bounding_box()
    page.locator(f"{VIEW} canvas").click(position={"x": share * box["width"], "y": (level + 0.5) * ROW})


@pytest.mark.slow
def test_the_whole_of_a_real_trace_is_latency_and_idle(page, serve):
    served = serve(real_trace("flash_attn_func", 55287))
    total = opened(page, served)
    expect(total).to_have_text("3,131,440 cycles", use_inner_text=True)
    eventually(lambda: (total.get_attribute("data-frames"), total.get_attribute("data-levels")), ("1394", "3"))
    costs = row_costs(served.library.document(0).trace)
    page.locator(f'{VIEW} [aria-label="Weight"]').select_option("exposed")
    expect(total).to_have_text(f"{costs['exposed_cycles_total'].sum():,} cycles", use_inner_text=True)
    page.locator(f"{VIEW} input[type=checkbox]").uncheck()
    exposed = costs.select(pl.sum("exposed_stall_cycles_total") + pl.sum("exposed_issue_cycles_total")).item()
    expect(total).to_have_text(f"{exposed:,} cycles", use_inner_text=True)


@pytest.mark.slow
def test_a_click_zooms_and_selects(page, serve):
    served = serve(made_gemm())
    opened(page, served, "view=flame")
    click(page, 0.01, 2)
    crumbs = page.locator(f"{VIEW} .crumbs")
    crumbs.get_by_text("tiled_gemm.hip:18").wait_for()
    page.locator('[data-view="source"] .row.selected[data-line="18"]').wait_for()
    click(page, 0.01, 3)
    crumbs.get_by_text("s_waitcnt vmcnt(1)").wait_for()
    code = served.library.document(0).trace.code
    row = code.filter(pl.col("text").str.starts_with("s_waitcnt vmcnt(1)"), pl.col("line") == 18)["row"][0]
    assert f"row={row}" in fragment(page)
    crumbs.get_by_text("[reset]").click()
    expect(crumbs).not_to_contain_text("s_waitcnt", use_inner_text=True)


@pytest.mark.slow
def test_the_tooltip_has_the_cycles_of_the_frame(page, serve):
    served = serve(made_gemm())
    opened(page, served)
    page.locator(f"{VIEW} canvas").hover(position={"x": 5, "y": 2.5 * ROW})
    frames = flame(served.library.document(0).trace).frames
    line = frames.filter(pl.col("name").str.ends_with("tiled_gemm.hip:18")).row(0, named=True)
    cycles = line["latency_cycles_total"] + line["idle_cycles_total"]
    tip = page.locator(f"{VIEW} .tip").inner_text()
    assert f"{cycles:,.0f} cycles, 43.3 % of all" in tip
    exposed = line["exposed_latency_cycles_total"] + line["exposed_idle_cycles_total"]
    assert f"not hidden {exposed:,.0f}" in tip


def test_search_tells_the_share_of_what_matches(page, serve):
    served = serve(made_gemm())
    opened(page, served)
    page.locator(f"{VIEW} input[type=search]").fill("s_waitcnt")
    frames = flame(served.library.document(0).trace).frames
    found = frames.filter(pl.col("name").str.contains("s_waitcnt"))
    cycles = found["latency_cycles_total"].sum() + found["idle_cycles_total"].sum()
    text = page.locator(f'{VIEW} [data-column="matched"]').inner_text()
    assert text.startswith(f"{found.height} frames, {cycles:,.0f} cycles, ")


@pytest.mark.slow
def test_scopes_of_markers(page, serve):
    served = serve(marked_gemm())
    trace = served.library.document(0).trace
    total = opened(page, served)
    tree = page.locator(f'{VIEW} [aria-label="Tree"]')
    tree.select_option("scopes")
    scopes = marker_scopes(trace).scopes.filter(pl.col("depth") == 0)
    inside = (scopes["end_cycles"] - scopes["start_cycles"]).sum()
    page.locator(f"{VIEW} canvas[aria-label*='{inside:,}']").wait_for()
    expect(total).to_have_text(f"{inside:,} cycles", use_inner_text=True)
    tree.select_option("scope_source")
    costs = row_costs(trace)
    whole = costs["latency_cycles_total"].sum() + costs["idle_cycles_total"].sum()
    page.locator(f"{VIEW} canvas[aria-label*='{whole:,}']").wait_for()
    page.locator(f"{VIEW} input[type=search]").fill("load <b>x</b>")
    expect(page.locator(f'{VIEW} [data-column="matched"]')).to_have_text(re.compile("^1 frames, "))
    page.locator(f'{VIEW} [data-opens="Save"]').wait_for()


def test_keys_walk_the_frames_and_another_weight_keeps_the_zoom(page, serve):
    served = serve(made_gemm())
    total = opened(page, served)
    stage = page.locator(f"{VIEW} .stage")
    stage.focus()
    for _ in range(3):
        stage.press("ArrowDown")
    assert "line=18" in fragment(page)
    assert "row=" in fragment(page)
    stage.press("Enter")
    crumbs = page.locator(f"{VIEW} .crumbs")
    crumbs.get_by_text("s_waitcnt vmcnt(1)").wait_for()
    before = total.inner_text()
    page.locator(f'{VIEW} [aria-label="Weight"]').select_option("exposed")
    expect(total).not_to_have_text(before, use_inner_text=True)
    expect(crumbs).to_contain_text("s_waitcnt", use_inner_text=True)
    stage.press("Escape")
    expect(crumbs).not_to_contain_text("s_waitcnt", use_inner_text=True)
    stage.press("ArrowRight")
    assert "row=" in fragment(page)


@pytest.mark.slow
def test_a_click_on_a_file_shows_it_in_the_explorer(page, serve):
    served = serve(real_trace("flash_attn_func", 55287))
    opened(page, served, "view=flame")
    click(page, 0.995, 1)
    page.locator('[data-view="explorer"] .row.line[data-file$="numeric.py"]').wait_for()
