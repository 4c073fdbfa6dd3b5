"""Lanes by banks and by segments: evaluated when the view is opened, with the numbers of the analysis."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.conftest import SHARED
from tests.e2e.inputs import hostile_trace, made_gemm
from tests.e2e.menus import open_view
from tests.e2e.numbers import exact
from tests.e2e.waiting import eventually, load
from wavewright.analysis.trace.lanes import LaneOptions, lane_accesses, lane_patterns
from wavewright.analysis.trace.lanes.service import lane_service
from wavewright.export.page import write_html
from wavewright.model.document import Library
from wavewright.model.trace import ThreadTrace
from wavewright.page.assets import page_folder
from wavewright.readers.opening import open_trace
from wavewright.server.running_server import RunningServer, listen

GRID = """box => [...box.querySelectorAll('tbody tr')].map(row =>
    [...row.querySelectorAll('th, td')].map(cell => cell.innerText.replace(/\\s+/g, ' ').trim()))"""


def show(page, url: str, row: int):
    """The view alone on the page, with a row chosen; its part about that row."""
    load(page, f"{url}#layout=t(lanes;0)&row={row}")
    part = page.locator(f'[data-lanes-of="{row}"]')
    part.wait_for()
    return part


def grids(part) -> list[list[list[str]]]:
    return [box.evaluate(GRID) for box in part.locator(".lane-grid-box").all()]


def spelled(lanes: list[int], dword_count: int) -> str:
    """A cell of at most two lanes as the page writes it."""
    assert len(lanes) <= 2
    return " ".join(map(str, lanes)) + (f" \u00d7{dword_count}" if dword_count > 1 else "")


@pytest.fixture
def batched():
    path = SHARED / "data" / "att-mi300x-bmm" / "c04" / "raw"
    if not path.is_dir():
        pytest.skip("no capture c04 in ../shared")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mnemonic", "ideal", "extra", "first_phase"),
    [("ds_read2_b64", 8, 24, "0 4 8 12 \u00d74"), ("ds_write_b128", 8, 8, "0 4 \u00d72")],
)
def test_conflicts_of_a_real_kernel(page, serve, batched, mnemonic, ideal, extra, first_phase):
    served = serve(batched)
    rows = lane_accesses(served.library.document(0).trace).rows
    in_loop = rows.filter(pl.col("text").str.starts_with(mnemonic + " "), pl.col("execution_count") == 56)
    row = in_loop.row(0, named=True)
    part = show(page, served.url, row["row"])
    expect(part.locator("[data-cost]")).to_have_text(
        f"{extra} extra cycles on {ideal}: bank conflicts, in each execution."
    )
    expect(part.locator('[data-fact="executions"]')).to_have_text("56")
    expect(part.locator('[data-fact="known"]')).to_have_text("56 of 56 (100.0 %)")
    expect(part.locator('[data-fact="assumes"]')).to_have_text("nothing")
    expect(part.locator('[data-fact="rule"]')).to_have_text(row["confidence"])
    part.locator(".lane-grid").first.wait_for()
    phases = [line for grid in grids(part) for line in grid]
    cycles = [sum(int(part) for part in line[1].split(" + ")) for line in phases]
    assert (len(cycles), sum(cycles) - len(cycles)) == (ideal, extra)
    assert phases[0][2] == first_phase
    expect(page.locator("[data-lds-total]")).to_have_text("LDS 3,072 + 7,168 cycles")  # 8 waves of 384 + 896


@pytest.mark.slow
def test_unknown_addresses_have_reasons_and_no_picture(page, serve, batched):
    served = serve(batched)
    answer = lane_accesses(served.library.document(0).trace)
    row = answer.rows.filter(pl.col("known_count") == 0).row(0, named=True)
    part = show(page, served.url, row["row"])
    expect(part.locator("[data-cost]")).to_have_text("The lane addresses are not known.")
    reasons = answer.reasons.filter(pl.col("row") == row["row"])
    expect(part.locator(".lane-reasons li")).to_have_count(reasons.height)
    expect(part.locator(".lane-reasons li").first).to_contain_text(reasons["reason"][0])
    expect(part.locator(".lane-grid")).to_have_count(0)


@pytest.mark.slow
def test_nothing_is_evaluated_before_it_is_wanted(page):
    library = Library()
    document = library.add("gemm", "gemm", partial(open_trace, made_gemm()))
    served = RunningServer(library, page_folder(), listen())
    try:
        page.goto(f"{served.url}#view=isa")
        page.locator('.isa-list [data-row] [data-column="latency"]:text-matches("[0-9]")').first.wait_for()
        page.wait_for_selector('html[data-asking="0"]')
        assert "lane_accesses" not in document.trace.answers
        expect(page.locator('[data-view="isa"] [data-column="lds_extra"]')).to_have_count(0)
        open_view(page, "lanes")
        page.locator("[data-lanes-of]").wait_for()
        assert "lane_accesses" in document.trace.answers
    finally:
        served.stop()


@pytest.mark.slow
def test_costs_stand_beside_the_instructions_once_evaluated(page, serve):
    served = serve(made_gemm())
    rows = lane_accesses(served.library.document(0).trace).rows
    worst = rows.sort("extra_cycles_total", descending=True, nulls_last=True).row(0, named=True)
    unknown = rows.filter(pl.col("cost_known_count") == 0, pl.col("space") == "lds").row(0, named=True)
    assert worst["extra_cycles_total"] > 0
    page.goto(f"{served.url}#view=isa&row={worst['row']}")
    page.locator("[data-canvas]").select_option("lds")
    line = page.locator(f'.isa-list [data-row="{worst["row"]}"]')
    expect(line.locator('[data-column="lds_extra"]')).to_have_text(exact(worst["extra_cycles_total"]))
    expect(page.locator(f'.isa-list [data-row="{unknown["row"]}"] [data-column="lds_extra"]')).to_have_text("?")
    expect(page.locator(".isa-legend")).to_contain_text("lost to bank conflicts")
    canvas, box = page.locator(".isa-canvas").bounding_box(), line.bounding_box()
    page.mouse.move(canvas["x"] + 10, box["y"] + box["height"] / 2)
    tip = page.locator(".isa-tip")
    expect(tip).to_contain_text(f"lost to bank conflicts: {exact(worst['extra_cycles_total'])} cycles")
    expect(tip).to_contain_text(f"{worst['cost_known_count']} of {worst['execution_count']} executions are known")


@pytest.mark.slow
def test_every_pattern_can_be_chosen_by_keyboard(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    row = trace.code.filter(pl.col("text") == "ds_write_b32 v9, v3")["row"][0]
    service = lane_service(trace, row)
    assert service.patterns.height == 4
    part = show(page, served.url, row)
    expect(part.locator("[data-pattern] option")).to_have_count(4)
    for number in range(4):
        part.locator("[data-pattern]").focus()
        if number:
            page.keyboard.press("ArrowDown")
        cells = service.bank_cells.filter(pl.col("pattern") == number).sort("phase", "first_bank")
        wanted = [spelled(lanes, count) for lanes, count in cells.select("lanes", "dword_count").rows()]
        eventually(lambda: [cell for line in grids(part)[0] for cell in line[2:] if cell], wanted)
        phases = service.phases.filter(pl.col("pattern") == number)["cycles"].to_list()
        assert [line[1] for line in grids(part)[0]] == [f"1 + {each - 1}" if each > 1 else "1" for each in phases]
    region = part.locator('.lane-grid-box[role="region"]')
    expect(region).to_have_attribute("tabindex", "0")
    assert region.get_attribute("aria-label").startswith("Lanes: 2 + 2 cycles")
    expect(region.locator('th[scope="row"]')).to_have_count(2)
    expect(region.locator('th[scope="col"]')).to_have_count(2 + 32)


def with_size(path: Path) -> ThreadTrace:
    """The matrix multiplication as if its size had been given: 9 tiles of 16."""
    trace = open_trace(path)
    options = LaneOptions(arguments=("0x18=144",), workgroup_size=(256, 1, 1))
    trace.answers["lane_accesses"] = lane_accesses(trace, options)
    trace.answers["lane_patterns"] = lane_patterns(trace, options)
    return trace


@pytest.mark.slow
def test_segments_in_one_file_without_a_server(page, tmp_path):
    trace = with_size(made_gemm())
    rows = lane_accesses(trace).rows.filter(pl.col("space") == "memory", pl.col("cost_known_count") > 0)
    row = rows.row(0, named=True)
    service = lane_service(trace, row["row"])
    write_html(trace, tmp_path / "gemm.html")
    part = show(page, (tmp_path / "gemm.html").as_uri(), row["row"])
    each = row["segment_count_total"] // row["execution_count"]
    expect(part.locator("[data-cost]")).to_have_text(
        f"Coalesced: {each} segments of 64 bytes in each execution, no more than needed."
    )
    expect(part.locator('[data-fact="assumes"]')).to_contain_text("pointer arguments are multiples of 256 bytes")
    first = service.groups.filter(pl.col("pattern") == 0)
    part.locator(".lane-grid").first.wait_for()
    shown = grids(part)[0]
    assert [(line[1], line[2]) for line in shown] == [
        (str(touched), str(least)) for touched, least in first.select("segment_count", "least_segment_count").rows()
    ]
    assert shown[0][0] == "0\u201315"
    assert shown[0][3] == "0\u201315 +0: 64 B"


@pytest.mark.slow
def test_an_unknown_gpu_is_told(page, serve):
    served = serve(hostile_trace())
    page.goto(f"{served.url}#layout=t(lanes;0)")
    expect(page.locator('[data-view="lanes"]')).to_contain_text("which GPU ran this code is not known")
