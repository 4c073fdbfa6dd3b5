"""The table of waves."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from wavewright.page.trace.times import aligned, time_range


@pytest.mark.slow
def test_every_wave_is_listed_with_its_duration(page, serve):
    served = serve(made_gemm())
    page.goto(served.url + "#layout=t(waves;0)")
    view = page.locator('[data-view="waves"]')
    waves = served.library.document(0).trace.waves
    view.get_by_text(f"{waves.height:,} waves").wait_for()
    first = waves.filter(waves["wave"] == 0).row(0, named=True)
    duration = view.locator('.row:not(.head) [data-column="duration_cycles"]').first
    expect(duration).to_have_text(f"{first['end_cycles'] - first['start_cycles']:,}", use_inner_text=True)


@pytest.mark.slow
def test_starts_are_counted_as_the_time_axis_counts(page, serve):
    served = serve(real_trace("flash_attn_func", 38430))
    trace = served.library.document(0).trace
    page.goto(served.url + "#layout=t(waves;0)")
    view = page.locator('[data-view="waves"]')
    first = trace.waves.sort("wave").select(aligned(trace, "start_cycles")).item(0, 0)
    origin = time_range(trace)[0]
    start = view.locator('.row:not(.head) [data-column="start_cycles"]').first
    expect(start).to_have_text(f"{first - origin:,}", use_inner_text=True)
    expect(view.locator("[data-counted-from]")).to_contain_text(f"start since cycle {origin:,}")


@pytest.mark.slow
def test_a_click_selects_a_wave(page, serve):
    served = serve(real_trace("flash_attn_func", 38430))
    page.goto(served.url + "#layout=t(waves;0)")
    rows = page.locator('[data-view="waves"] .row:not(.head)')
    rows.nth(3).click()
    expect(rows.nth(3)).to_have_class(re.compile("selected"))
