"""The selected time as numbers, and every view about the selected time only."""

from __future__ import annotations

from urllib.parse import parse_qs

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import exported_gemm, hostile_run, made_gemm, real_trace
from tests.e2e.menus import time_field
from tests.e2e.waiting import eventually, load
from tests.kit.barrier_records import without_releases
from wavewright.analysis.run.select.clocks import node_clocks
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.page.payloads import part_of_time
from wavewright.page.trace.times import time_range


def ready(page) -> None:
    page.wait_for_selector('html[data-asking="0"]')


def select_time(page, begin: int, end: int, *, origin: int = 0) -> None:
    """Types the selected time as the axis counts it; the end first, so that it never ends before it starts."""
    for part, time in (("end", end), ("begin", begin)):
        field = time_field(page, f"Selected: {part}")
        field.fill(str(time - origin))
        field.press("Enter")


def address(page) -> dict[str, list[str]]:
    return parse_qs(page.evaluate("location.hash")[1:])


def number(text: str) -> int:
    return int(text.replace(",", "").split()[0]) if text.strip() else -1  # not there yet


def aligned_times(trace) -> pl.Series:
    waves = trace.waves.select("wave", move=pl.col("se").replace_strict(alignment(trace).offsets, default=0))
    joined = trace.instructions.select("wave", "time_cycles").join(waves, on="wave", maintain_order="left")
    return joined["time_cycles"].cast(pl.Int64) + joined["move"]


@pytest.mark.slow
@pytest.mark.parametrize("made", [made_gemm, lambda: real_trace("flash_attn_func", 38430)], ids=["made", "real"])
def test_hits_are_those_of_the_selected_time(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    times = aligned_times(trace)
    begin, end = int(times.quantile(0.4)), int(times.quantile(0.5))
    page.goto(f"{served.url}#layout=t(isa;0)")
    ready(page)
    select_time(page, begin, end, origin=time_range(trace)[0])
    page.get_by_label("only this time").check()
    ready(page)
    inside = without_releases(trace, trace.instructions.filter((times >= begin) & (times < end)))
    row = inside["row"].mode().sort()[0]
    hits = inside.filter(pl.col("row") == row).height
    load(page, f"{served.url}{page.evaluate('location.hash')}&row={row}")
    cell = page.locator(f'[data-view="isa"] [data-row="{row}"] [data-column="hits"]')
    eventually(lambda: number(cell.first.inner_text()), hits)
    strip = page.locator('[data-view="isa"] [data-time]')
    expect(strip).to_contain_text(f"of the selected time, {end - begin:,} cycles")
    page.get_by_label("only this time").uncheck()
    eventually(lambda: number(cell.first.inner_text()), trace.instructions.filter(pl.col("row") == row).height)


@pytest.mark.slow
@pytest.mark.parametrize("made", [made_gemm, lambda: real_trace("flash_attn_func", 38430)], ids=["made", "real"])
def test_utilization_says_one_share_of_the_selected_time_in_toolbar_and_table(page, serve, made):
    served = serve(made())
    document = served.library.document(0)
    origin, end = time_range(document.trace)
    begin, end = origin + (end - origin) // 4, origin + (end - origin) // 2
    page.goto(f"{served.url}#layout=t(utilization;0)")
    toolbar = page.locator('[data-view="utilization"] [data-no-issue]')
    whole = utilization(document.trace).bubble_share
    eventually(lambda: float(toolbar.get_attribute("data-no-issue")), pytest.approx(whole))
    select_time(page, begin, end, origin=origin)
    page.get_by_label("only this time").check()
    ready(page)
    part = utilization(part_of_time(document, begin, end).trace).bubble_share
    assert part != pytest.approx(whole, abs=0.01)
    eventually(lambda: float(toolbar.get_attribute("data-no-issue")), pytest.approx(part))
    line = page.locator(".utilization-shares .row", has_text="no issue").locator('[data-column="issue_share"]')
    assert line.inner_text() in toolbar.inner_text()


@pytest.mark.slow
def test_kernels_of_a_run_are_those_of_the_selected_time(page, serve):
    served = serve(hostile_run())
    run = served.library.document(0).run
    (start,) = node_clocks(run).nodes["start_ns"].to_list()
    page.goto(f"{served.url}#layout=t(kernels;0)")
    ready(page)
    select_time(page, 400_000, 700_000)
    page.get_by_label("only this time").check()
    ready(page)
    assert address(page)["onlyRange"] == ["1"]
    inside = run.read("dispatches", ["start_ns", "end_ns"]).filter(
        pl.col("end_ns") > start + 400_000, pl.col("start_ns") < start + 700_000
    )
    calls = page.locator('[data-view="kernels"] .row:not(.head) [data-column="calls"]')
    eventually(lambda: sum(number(text) for text in calls.all_inner_texts()), inside.height)
    page.go_back()  # the switch is a step of the history
    ready(page)
    everything = run.read("dispatches", ["start_ns"]).height
    eventually(lambda: sum(number(text) for text in calls.all_inner_texts()), everything)


@pytest.mark.slow
def test_time_can_be_typed_and_nonsense_is_refused(page, serve):
    served = serve(hostile_run())
    page.goto(served.url)
    ready(page)
    field = time_field(page, "On screen: end")
    field.fill("0.5 ms")
    field.press("Enter")
    eventually(lambda: address(page).get("time"), ["0~500000"])
    field.fill("tomorrow")
    field.press("Enter")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_attribute("title", "not a time")
    assert address(page)["time"] == ["0~500000"]


@pytest.mark.slow
def test_an_empty_time_and_views_of_the_whole_time_say_so(page, serve):
    page.may_fail_to_load = True
    served = serve(made_gemm())
    page.goto(f"{served.url}#range=10~20&onlyRange=1&view=stalls")
    page.locator('[data-view="stalls"]').get_by_text("no traced wave ran from cycle 10 to 20").wait_for()
    load(page, f"{served.url}#range=10000~20000&onlyRange=1&view=coverage")
    expect(page.locator('[data-view="coverage"] [data-time]')).to_have_text("of the whole time")


@pytest.mark.slow
def test_an_exported_page_knows_the_whole_time_only(page):
    page.goto(f"{exported_gemm().as_uri()}#range=10000~20000&onlyRange=1")
    ready(page)
    switch = page.get_by_label("only this time")
    expect(switch).to_be_disabled()
    assert page.locator(".problem").count() == 0
