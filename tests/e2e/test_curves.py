"""Occupancy, dispatches and wave states: values on screen are those of the analyses."""

from __future__ import annotations

import re
from itertools import count

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.menus import save
from tests.e2e.waiting import eventually, settled
from wavewright.analysis.trace.clocks import aligned
from wavewright.analysis.trace.timeline.curves import curve_series, curve_steps
from wavewright.analysis.trace.waves.resident import residency_changes
from wavewright.model.schema import STATES


def opened(page, served, view):
    page.goto(f"{served.url}#layout=t({view};0)")
    panel = page.locator(f'[data-view="{view}"]')
    panel.locator(".curve-series").first.wait_for()
    return panel


def pointed(page, panel, x_share=0.43):
    """Points at the chart; gives back the cycle that the legend names, once exact values are there."""
    heading = panel.locator("[data-cursor]")
    steps = count()

    def told() -> str | None:
        box = panel.locator("canvas").bounding_box()  # panels may still be moving
        page.mouse.move(box["x"] + box["width"] * x_share + next(steps) % 2, box["y"] + box["height"] / 2)
        settled(page)
        return heading.get_attribute("data-cursor")

    eventually(told, "exact")
    words = panel.locator("[data-cursor]").inner_text()
    return int(words.removeprefix("cycle ").split(" ")[0].replace(",", ""))


def values(panel):
    rows = panel.locator(".curve-series:not(.total)")
    return {
        rows.nth(n).get_attribute("data-series"): float(rows.nth(n).locator("[data-value]").get_attribute("data-value"))
        for n in range(rows.count())
    }


def waves_in_states(trace, cycle):
    """How many waves are in each state: a wave's states follow each other without gaps."""
    waves = aligned(trace, trace.waves, "start_cycles").select("wave", "start_cycles")
    states = trace.states.join(waves, on="wave", maintain_order="left")
    end = pl.col("duration_cycles").cum_sum().over("wave") + pl.col("start_cycles")
    now = states.filter(end > cycle, end - pl.col("duration_cycles") <= cycle)["state"]
    return {STATES[number]: float((now == number).sum()) for number in trace.states["state"].unique()}


def expected(trace, name, cycle, se=None):
    if name == "wave_states":
        return waves_in_states(trace, cycle)
    curves = zip(curve_series(trace, name, se=se), curve_steps(trace, name, se=se), strict=True)
    return {series.label: float(curve.at([cycle])[0]) for series, curve in curves}


@pytest.mark.slow
@pytest.mark.parametrize("view", ["occupancy", "dispatches", "wave_states"])
def test_values_under_the_pointer_are_exact(page, serve, view):
    served = serve(real_trace("flash_attn_func", 38430))
    trace = served.library.document(0).trace
    panel = opened(page, served, view)
    for share in (0.3, 0.7):
        cycle = pointed(page, panel, share)
        assert values(panel) == expected(trace, view, cycle)


@pytest.mark.slow
def test_occupancy_equals_a_count_of_starts_and_ends(page, serve):
    served = serve(made_gemm())
    panel = opened(page, served, "occupancy")
    cycle = pointed(page, panel)
    changes = residency_changes(served.library.document(0).trace).filter(pl.col("time_cycles") <= cycle)
    found = {f"SE {se}": float(count) for se, count in changes.group_by("se").agg(pl.col("change").sum()).rows()}
    assert values(panel) == found
    total = float(panel.locator("[data-total]").get_attribute("data-total"))
    assert total == sum(found.values()) > 0


@pytest.mark.slow
def test_one_engine_shows_its_cus_and_a_hidden_curve_stays_listed(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    panel = opened(page, served, "occupancy")
    panel.locator("[data-engine]").select_option("1")
    panel.locator('[data-series^="CU"]').first.wait_for()
    cycle = pointed(page, panel)
    assert values(panel) == expected(trace, "occupancy", cycle, se=1)
    panel.locator(".curve-series input").first.uncheck()
    expect(panel.locator(".curve-series").first).to_have_class(re.compile(r"\boff\b"))


@pytest.mark.slow
def test_wheel_zooms_drag_selects_and_double_click_shows_all(page, serve):
    served = serve(made_gemm())
    panel = opened(page, served, "wave_states")
    box = panel.locator("canvas").bounding_box()
    cycle = pointed(page, panel)
    page.mouse.wheel(0, -600)
    page.wait_for_function("location.hash.includes('time=')")
    assert abs(pointed(page, panel) - cycle) <= 60  # a pixel: what is under the pointer stays there
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 40, steps=3)
    page.mouse.up()
    page.wait_for_function("location.hash.includes('range=')")
    page.mouse.dblclick(box["x"] + box["width"] * 0.5, box["y"] + 60)
    page.wait_for_function("!location.hash.includes('time=')")


@pytest.mark.slow
def test_values_zoom_and_what_is_on_screen_is_saved(page, serve):
    served = serve(made_gemm())
    panel = opened(page, served, "wave_states")
    pointed(page, panel)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    panel.get_by_role("button", name="Reset values").click()
    with page.expect_download() as saved:
        save(panel, "csv")
    lines = saved.value.path().read_text().splitlines()
    assert lines[0] == "series,start_cycles,length_cycles,mean,low,high"
    rows = pl.DataFrame([line.split(",") for line in lines[1:]], schema=lines[0].split(","), orient="row").with_columns(
        pl.exclude("series").cast(pl.Float64)
    )
    sums = rows.group_by("series").agg(sum=(pl.col("mean") * pl.col("length_cycles")).sum())
    trace = served.library.document(0).trace
    lived = int(trace.states["duration_cycles"].cast(pl.Int64).sum())
    width = rows["length_cycles"][0]
    assert abs(sums["sum"].sum() - lived) <= width * trace.waves.height  # the last bin may reach behind the end
    with page.expect_download() as saved:
        save(panel, "svg")
    assert ">EXEC</text>" in saved.value.path().read_text()


@pytest.mark.slow
def test_the_selected_execution_is_marked(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    row = int(trace.instructions.filter(trace.instructions["wave"] == 1)["row"][9])
    page.goto(f"{served.url}#layout=t(occupancy;0)&row={row}&wave=1&iteration=0")
    panel = page.locator('[data-view="occupancy"]')
    panel.locator(".curve-series").first.wait_for()
    page.wait_for_load_state("networkidle")
    with page.expect_download() as saved:
        save(panel, "svg")
    marks = [line for line in saved.value.path().read_text().splitlines() if 'stroke="#00d0e0"' in line]
    assert len(marks) == 1
