"""The heat map: its numbers are sums over tables of the trace, also of a part of the time, and a click goes there."""

from __future__ import annotations

import re

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.readers.opening import open_trace


def made() -> object:
    return made_gemm()


def real() -> object:
    return real_trace("flash_attn_func", 58550)


def shown(page: object, serving: object, place: str = "") -> object:
    page.goto(f"{serving.url}#layout=t(heat_map;0){place}")
    view = page.locator("[data-view=heat_map]")
    expect(view.locator(".heat-map canvas")).to_be_visible()
    return view


def table(view: object) -> list[dict[str, str]]:
    """The rows on screen: text by column."""
    view.get_by_role("checkbox", name="as a table").check()
    expect(view.get_by_role("gridcell").first).to_be_visible()
    return view.locator("[role=row]:has([role=gridcell])").evaluate_all(
        """(rows) => rows.map((row) => Object.fromEntries(
          [...row.querySelectorAll("[role=gridcell]")].map((cell) => [cell.dataset.column, cell.innerText])
        ))"""
    )


def count(text: str) -> int:
    return int(re.sub(r"[^0-9]", "", text) or 0)


@pytest.mark.slow
@pytest.mark.parametrize("trace_of", [made, real])
def test_numbers_are_sums_of_the_tables(page, serve, trace_of):
    path = trace_of()
    trace = open_trace(path)
    view = shown(page, serve(path))
    rows = table(view)
    resident = resident_waves(trace).group_by("se", "cu").len().sort("se", "cu")
    read = [(count(cells["se"].split("SE")[1]), count(cells["cu"]), count(cells["wave_count"])) for cells in rows]
    visible = len(read)  # long tables draw what is on screen
    assert visible > 3
    assert read == resident.rows()[:visible]
    traced = trace.waves.group_by("se", "cu").agg(pl.len(), pl.col("instruction_count").sum()).rows()
    wanted = {(se, cu): (waves, instructions) for se, cu, waves, instructions in traced}
    for (se, cu, _), cells in zip(read, rows, strict=True):
        assert (count(cells["traced_wave_count"]), count(cells["instruction_count"])) == wanted.get((se, cu), (0, 0))
    assert any(count(cells["instruction_count"]) for cells in rows)


@pytest.mark.slow
def test_a_part_of_the_time_has_its_own_numbers(fresh_page, serve):
    page = fresh_page
    trace = open_trace(made_gemm())
    begin, end = int(trace.waves["start_cycles"].min()), int(trace.waves["end_cycles"].max())
    middle = (begin + end) // 2
    serving = serve(made_gemm())
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    view = shown(page, serving, f"&range={begin}~{middle}&onlyRange=1")
    part = sum(count(cells["instruction_count"]) for cells in table(view))
    assert 0 < part < trace.instructions.height
    assert any("heat_map?begin=" in url for url in asked)


@pytest.mark.slow
def test_a_click_selects_the_first_wave_and_shows_its_lane(page, serve):
    trace = open_trace(made_gemm())
    view = shown(page, serve(made_gemm()))
    expect(view.locator("[data-field=scale]")).to_contain_text("0")
    view.locator("[data-choose=measure]").select_option("stall_share")
    expect(view.locator("[data-field=scale]")).to_contain_text("%")
    target = trace.waves.sort("start_cycles", "wave").filter(se=0).row(0, named=True)
    box = view.locator(".heat-map canvas").bounding_box()
    words = view.locator("[data-field=place]")
    found = None
    for step in range(8, int(box["width"]), 6):
        page.mouse.move(box["x"] + step, box["y"] + 40)
        if re.search(rf"SE 0 · (CU|WGP) {target['cu']} ", words.inner_text() + " "):
            found = step
            break
    assert found is not None
    stall = trace.instructions.filter(pl.col("wave").is_in(trace.waves.filter(se=0)["wave"].implode()))
    cycles = trace.waves.filter(se=0).select((pl.col("end_cycles") - pl.col("start_cycles")).sum()).item()
    expect(words).to_contain_text(f"{stall['stall_cycles'].sum() / cycles * 100:.1f} %")
    page.mouse.click(box["x"] + found, box["y"] + 40)
    expect(page.locator("[data-view=global_view]")).to_be_visible()
    expect(page).to_have_url(re.compile(rf"wave={target['wave']}(&|$)"))


@pytest.mark.slow
def test_by_simd_there_are_more_cells(page, serve):
    view = shown(page, serve(made_gemm()))
    label = view.locator(".heat-map canvas")
    places = count(label.get_attribute("aria-label").split("places")[0])
    view.locator("[data-choose=level]").select_option("simd")
    trace = open_trace(made_gemm())
    simds = resident_waves(trace).select("se", "cu", "simd").unique().height
    assert simds > places
    expect(label).to_have_attribute("aria-label", re.compile(rf" {simds} places"))
