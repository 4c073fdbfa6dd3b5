"""Views follow each other: a chosen row brings its execution, a row under the pointer shows in the timeline."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.conftest import SHARED
from tests.e2e.inputs import damaged_capture, made_gemm, real_trace, sampled
from tests.e2e.waiting import eventually, fragment, settled
from wavewright.analysis.trace.about.overview import overview
from wavewright.analysis.trace.clocks import alignment
from wavewright.page.trace.times import time_range

INPUTS = [pytest.param(made_gemm, id="made"), pytest.param(lambda: real_trace("flash_attn_func", 38430), id="real")]
ROWS = '[data-view="isa"] .isa-list [data-row="{}"]'


def executions(trace) -> pl.DataFrame:
    """Row and aligned time of every instruction of the longest wave: the target wave when none is chosen."""
    wave = trace.waves.sort("instruction_count", descending=True, maintain_order=True).row(0, named=True)
    table = trace.instructions.slice(wave["first_instruction"], wave["instruction_count"])
    offset = alignment(trace).offsets.get(wave["se"], 0)
    return table.select("row", time=pl.col("time_cycles").cast(pl.Int64) + offset)


def opened(page, served, begin, end):
    page.goto(f"{served.url}#time={begin}~{end}")
    page.locator(ROWS.format(0)).wait_for()
    page.wait_for_selector('html[data-asking="0"]')


def time_on_screen(page) -> tuple[int, int]:
    begin, _, end = parse_qs(fragment(page))["time"][0].partition("~")
    return int(begin), int(end)


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_the_time_follows_a_chosen_row(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    begin, end = time_range(trace)
    table = executions(trace)
    first = table.filter(pl.col("row") == 0)["time"][0]
    late = (round(end - (end - begin) / 100), end)
    assert first < late[0]
    opened(page, served, *late)
    page.locator(ROWS.format(0)).click()
    page.wait_for_function(f"!location.hash.includes('time={late[0]}')")
    seen = time_on_screen(page)
    assert seen[0] <= first <= seen[1]
    assert seen[1] - seen[0] == late[1] - late[0]
    # one that is on screen moves nothing
    other = table.filter(pl.col("time").is_between(*seen) & (pl.col("row") < 8) & (pl.col("row") > 0))["row"][0]
    page.locator(ROWS.format(other)).click()
    page.wait_for_url(f"**row={other}&**")
    settled(page)
    assert time_on_screen(page) == seen


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_what_the_pointer_is_over_shows_in_the_timeline(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    first = executions(trace).filter(pl.col("row") == 0)["time"][0]
    opened(page, served, first - 100, first + 300)
    tracks = page.locator('[data-view="compute_unit"] .timeline')
    page.mouse.move(5, 5)
    before = tracks.screenshot()
    page.locator(ROWS.format(0)).hover()
    eventually(lambda: tracks.screenshot() != before, True)
    page.mouse.move(5, 5)
    eventually(lambda: tracks.screenshot() == before, True)


@pytest.mark.slow
def test_the_list_opens_where_something_ran(page, serve):
    folder = SHARED / "data" / "att-mi300x-bmm" / "c08" / "raw"
    if not folder.is_dir():
        pytest.skip("no raw capture with several kernels in ../shared")
    served = serve(folder)
    page.goto(served.url)
    trace = served.library.document(0).trace
    first = trace.instructions.filter(pl.col("row") >= 0)["row"].min()
    assert first > 100
    page.locator(ROWS.format(first)).wait_for()
    box = page.locator(ROWS.format(first)).bounding_box()
    assert 0 < box["y"] < 800


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_the_length_of_a_trace_is_one_number(page, serve, made):
    served = serve(made())
    length = overview(served.library.document(0).trace).span_cycles
    page.goto(f"{served.url}#layout=t(summary;0)")
    page.get_by_text(re.compile(rf" {length:,} cycles$")).wait_for()
    page.locator(f'[data-view="summary"] [title^="{length:,} cycles from the start of the first"]').first.wait_for()


@pytest.mark.slow
def test_a_loss_tells_what_it_counts(page, serve):
    served = serve(damaged_capture())
    losses = served.library.document(0).trace.losses
    count = losses.filter(pl.col("kind") == "wave_incomplete")["count"].sum()
    page.goto(f"{served.url}#layout=t(losses;0)")
    page.locator('[data-loss="wave_incomplete"]').get_by_text(f"{count:,} instructions of such waves").wait_for()


@pytest.mark.slow
def test_loops_of_samples_have_no_cycles(page, serve):
    served = serve(sampled())
    page.goto(f"{served.url}#layout=t(loops;0)")
    view = page.locator('[data-view="loops"]')
    view.get_by_text("what they cost is not known").wait_for()
    expect(view).not_to_contain_text("%", use_inner_text=True)
