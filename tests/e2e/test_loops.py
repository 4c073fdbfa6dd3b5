"""Loops: the table, and a click on an iteration."""

from __future__ import annotations

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.test_isa import shows_time
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.costs.loops import loop_iterations, loops

INPUTS = {"made": made_gemm, "flash": lambda: real_trace("flash_attn_func", 38430)}
COLUMNS = ("iteration_count", "trips_min", "trips_max", "iteration_cycles_min", "iteration_cycles_max")


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_loops_and_their_iterations(page, serve, name):
    served = serve(INPUTS[name]())
    trace = served.library.document(0).trace
    wave = 4
    page.goto(f"{served.url}#view=loops&wave={wave}")
    view = page.locator('[data-view="loops"]')
    lines = view.locator(".row:not(.head)")
    lines.first.wait_for()
    found = loops(trace).loops
    expect(lines).to_have_count(found.height)
    for line, loop in zip(lines.all(), found.iter_rows(named=True), strict=True):
        texts = {column: line.locator(f'[data-column="{column}"]').inner_text() for column in COLUMNS}
        assert texts == {column: f"{loop[column]:,}" for column in COLUMNS}
        share = line.locator('[data-column="steady_stall_share"]').inner_text()
        assert share == f"{loop['steady_stall_share'] * 100:.1f} %"
    lines.first.click()
    steps = loop_iterations(trace, wave).filter(pl.col("loop") == found["loop"][0])
    view.get_by_text(f"Wave {wave} ran {steps.height} iterations").wait_for()
    box = view.locator(".loops-strip canvas").bounding_box()
    last = steps.row(-1, named=True)
    page.mouse.click(box["x"] + box["width"] - 8, box["y"] + 60)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 60)
    view.locator(f'[data-iteration="{steps.height - 1}"]').get_by_text(f"{last['cycles']:,} cycles").wait_for()
    offset = alignment(trace).offsets[trace.waves["se"][wave]]
    shows_time(page, last["start_cycles"] + offset, last["cycles"])
    overlay = view.locator(".loops-overlay canvas")
    box = overlay.bounding_box()
    overlay.click(position={"x": box["width"] / 2, "y": box["height"] - 8})
    page.wait_for_url(f"**row={found['last_row'][0]}&**")
