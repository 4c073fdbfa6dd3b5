"""The instruction listing: numbers in every mode, arrows, stepping through executions, columns, PC samples."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.conftest import SHARED
from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.menus import save
from tests.e2e.waiting import eventually, fragment
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.costs.loops import loop_iterations, loops
from wavewright.analysis.trace.listing import isa_listing, sample_listing
from wavewright.analysis.trace.selection import Selection, select
from wavewright.analysis.trace.waits import waits
from wavewright.page.payloads import part_of_time
from wavewright.page.trace.code import costs

INPUTS = {"made": made_gemm, "flash": lambda: real_trace("flash_attn_func", 38430)}
SHOWN = """() => Object.fromEntries([...document.querySelectorAll('.isa-list [data-row]')].map(row => [
    row.dataset.row,
    Object.fromEntries([...row.querySelectorAll('[data-column]')].map(cell => [cell.dataset.column, cell.innerText])),
]))"""
FIGURES = ("hits", "latency", "stall", "idle")


def opened(page, served, address: str = "", place: str = "layout=t(isa;0)"):
    """The view in front, with its figures there."""
    page.goto(f"{served.url}#{place}&{address}")
    view = page.locator('[data-view="isa"]')
    view.locator('.isa-list [data-row] [data-column="latency"]:text-matches("[0-9]")').first.wait_for()
    return view


def uncovered(view, selector: str, **more):
    """Something of the toolbar; what does not fit into its line stands in a menu."""
    wanted = view.locator(f".toolbar {selector}", **more)
    if not wanted.is_visible():
        view.locator(".bar-more > [data-opens=More]").click()
    return wanted


def shown(page) -> dict[int, dict[str, int]]:
    """Figures of the rows on screen; empty cells are left out."""
    rows = page.evaluate(SHOWN)
    return {
        int(row): {name: int(cells[name].replace(",", "")) for name in (*FIGURES, "exposed") if cells.get(name)}
        for row, cells in rows.items()
    }


def shows_time(page, begin: int, length: int) -> None:
    """Wait until the URL says that exactly this stretch of time is on screen."""
    page.wait_for_function(
        "time => decodeURIComponent(location.hash).includes(`time=${time}`)", arg=f"{begin}~{begin + length}"
    )


def rounded(total: int, hits: int) -> int:
    return math.floor(total / hits + 0.5)


def expected(trace, mode: str, wave: int, iteration: int) -> dict[int, dict[str, int]]:
    one_wave = None if mode.endswith("_all") else wave
    listing = isa_listing(trace, wave=one_wave, iteration=iteration if mode == "iteration" else None).rows
    found = {}
    for row in listing.filter(pl.col("hit_count") > 0).iter_rows(named=True):
        sums = {part: row[f"{part}_cycles_total"] for part in ("latency", "stall", "idle", "exposed")}
        if mode.startswith("mean"):
            sums = {part: rounded(total, row["hit_count"]) for part, total in sums.items()}
        if mode == "max_wave":
            sums = {part: row[f"{part}_cycles_max"] for part in ("latency", "stall")}
        figures = {"hits": row["hit_count"], **sums}
        if mode in ("iteration", "max_wave"):
            figures.pop("exposed", None)
        found[row["row"]] = figures
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_every_latency_mode_shows_the_numbers_of_the_listing(page, serve, name):
    served = serve(INPUTS[name]())
    trace = served.library.document(0).trace
    wave, iteration = 3, 1
    row = int(isa_listing(trace, wave=wave).rows.filter(pl.col("hit_count") > iteration)["row"][0])
    view = opened(page, served, f"row={row}&wave={wave}&iteration={iteration}")
    for mode in ("sum_all", "mean_all", "iteration", "sum_wave", "mean_wave", "max_wave"):
        view.locator("[data-mode]").select_option(mode)
        figures = expected(trace, mode, wave, iteration)
        cell = view.locator(f'.isa-list [data-row="{row}"]')
        for part, value in figures[row].items():
            cell.locator(f'[data-column="{part}"]', has_text=f"{value:,}").wait_for()
        on_screen = {line: cells for line, cells in shown(page).items() if cells}
        assert len(on_screen) > 5
        for line, cells in on_screen.items():
            kept = {part: cells[part] for part in figures[line]}
            assert kept == figures[line], (mode, line)
            assert set(cells) - set(figures[line]) <= {"idle"}, (mode, line)


@pytest.mark.slow
def test_an_arrow_leads_from_the_fattest_wait_to_its_load(page, serve):
    served = serve(real_trace("flash_attn_func", 38430))
    trace = served.library.document(0).trace
    view = opened(page, served)
    page.keyboard.press("h")
    chosen = view.locator(".isa-list .row.selected")
    chosen.locator('[data-column="text"]', has_text="s_waitcnt vmcnt(0)").wait_for()
    wait = int(chosen.get_attribute("data-row"))
    assert trace.code["address"][wait] == 11448
    expect(chosen.locator('[data-column="hits"]')).to_have_text("248", use_inner_text=True)
    expect(chosen.locator('[data-column="stall"]')).to_have_text("142,908", use_inner_text=True)
    producers = waits(trace).producers.filter(pl.col("row") == wait)
    listed = view.locator('[data-related="producer"]')
    eventually(
        lambda: [int(row.get_attribute("data-row")) for row in listed.all()], producers["producer_row"].to_list()
    )
    load = producers.row(0, named=True)
    stall = round(load["last_count"] * load["last_stall_cycles_mean"])
    eventually(lambda: [cell.inner_text() for cell in listed.first.locator("td").all()][1:4], [
        f"{load['count']:,}", load["counter"], f"{stall:,}",
    ])  # fmt: skip
    canvas = view.locator(".isa-canvas")
    box, row = canvas.bounding_box(), chosen.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 9, row["y"] + row["height"] / 2)
    tip = view.locator(".isa-tip")
    tip.get_by_text(f"{load['counter']}: awaited 248 times").wait_for()
    expect(tip).to_contain_text(f"{load['producer_row']}  buffer_load_dwordx4", use_inner_text=True)
    page.mouse.click(box["x"] + box["width"] - 9, row["y"] + row["height"] / 2)
    view.locator(f'.isa-list .row.selected[data-row="{load["producer_row"]}"]').wait_for()
    view.locator(f'[data-related="wait"][data-row="{wait}"] button').click()
    view.locator(f'.isa-list .row.selected[data-row="{wait}"]').wait_for()


@pytest.mark.slow
def test_branch_arrows_are_the_taken_jumps(page, serve):
    served = serve(made_gemm())
    branch = isa_listing(served.library.document(0).trace).branches.sort("count").row(-1, named=True)
    view = opened(page, served, f"row={branch['from_row']}")
    view.locator("[data-canvas]").select_option("branches")
    target = view.locator(f'[data-related="target"][data-row="{branch["to_row"]}"]')
    expect(target.locator("td").nth(1)).to_have_text(f"{branch['count']:,}", use_inner_text=True)
    row = view.locator(".isa-list .row.selected").bounding_box()
    box = view.locator(".isa-canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 5, row["y"] + row["height"] / 2)
    view.locator(".isa-tip").get_by_text(f"taken {branch['count']:,} times").wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_stepping_moves_the_time_window(page, serve, name):
    served = serve(INPUTS[name]())
    trace = served.library.document(0).trace
    loop = loops(trace).loops.row(0, named=True)
    wave = 4
    steps = loop_iterations(trace, wave).filter(pl.col("loop") == loop["loop"])
    view = opened(page, served, f"row={loop['start_row']}&wave={wave}")
    executions = view.locator("[data-executions]")
    executions.get_by_text(f"1 of {steps.height}").wait_for()
    page.keyboard.press("]")
    executions.get_by_text(f"2 of {steps.height}").wait_for()
    page.wait_for_url("**iteration=1**")
    view.locator("[data-iterations]").get_by_text(f"2 of {steps.height}").wait_for()
    page.locator('html[data-asking="0"]').wait_for()  # a step while the iterations are asked for goes nowhere
    page.keyboard.press("}")
    view.locator("[data-iterations]").get_by_text(f"3 of {steps.height}").wait_for()
    offset = alignment(trace).offsets[trace.waves["se"][wave]]
    shows_time(page, steps["start_cycles"][2] + offset, steps["cycles"][2])
    page.keyboard.press("{")
    view.locator("[data-iterations]").get_by_text(f"2 of {steps.height}").wait_for()
    shows_time(page, steps["start_cycles"][1] + offset, steps["cycles"][1])
    page.keyboard.press("[")
    executions.get_by_text(f"1 of {steps.height}").wait_for()


@pytest.mark.slow
def test_hidden_columns_stay_hidden(page, serve):
    served = serve(made_gemm())
    view = opened(page, served)
    uncovered(view, "[data-opens=Columns]").click()
    view.locator('[data-column-toggle="idle"]').uncheck()
    view.locator('[data-column-toggle="code_object"]').check()
    page.reload()
    view.locator('.head [data-column="code_object"]').wait_for()
    expect(view.locator('[data-column="idle"]')).to_have_count(0)


@pytest.mark.slow
def test_finding_and_leaving_out_rows(page, serve):
    served = serve(made_gemm())
    code = served.library.document(0).trace.code
    view = opened(page, served)
    box = view.get_by_label("Find in the instructions")
    box.fill("/^v_.*f32/")
    hits = code.filter(pl.col("text").str.contains("^v_.*f32"))["row"].to_list()
    view.locator("[data-hits]").get_by_text(f"of {len(hits):,}").wait_for()
    box.press("Enter")
    view.locator(f'.isa-list .row.selected[data-row="{hits[0]}"]').wait_for()
    view.locator('[data-filter="hits"]').check()
    view.locator("[data-rows]").get_by_text(f"showing {len(hits):,} of {code.height:,} rows").wait_for()
    box.fill("/(/")
    view.locator("[data-hits].bad").wait_for()
    box.fill("")
    listing = isa_listing(served.library.document(0).trace).rows
    uncovered(view, "[data-opens=Filters]").click()
    view.locator('[data-filter="stall"]').fill("5")
    view.locator('[data-filter="stall"]').press("Enter")
    hot = listing.filter(pl.col("stall_cycles_total") >= 0.05 * pl.col("stall_cycles_total").sum()).height
    view.locator("[data-rows]").get_by_text(f"showing {hot:,} of").wait_for()


@pytest.mark.slow
def test_costs_in_the_selected_time(page, serve):
    served = serve(made_gemm())
    document = served.library.document(0)
    first = document.trace.waves["start_cycles"].min()
    middle = int(document.trace.instructions["time_cycles"].median())
    part = costs(part_of_time(document, first, middle)).row(0, named=True)
    view = opened(page, served, f"range={first}~{middle}&onlyRange=1")
    cell = view.locator(f'.isa-list [data-row="{int(part["row"])}"] [data-column="latency"]')
    cell.get_by_text(f"{int(part['latency_cycles_total']):,}", exact=True).wait_for()
    whole = isa_listing(document.trace).rows["latency_cycles_total"][int(part["row"])]
    assert part["latency_cycles_total"] < whole


@pytest.mark.slow
def test_saves(page, serve):
    served = serve(made_gemm())
    view = opened(page, served)
    with page.expect_download() as download:
        uncovered(view, '[data-opens="Save"]')
        save(view, "csv")
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    listing = isa_listing(served.library.document(0).trace).rows
    assert len(rows) == listing.height
    for saved, row in zip(rows, listing.iter_rows(named=True), strict=True):
        assert saved["text"] == row["text"]
        assert int(saved["stall_cycles_total"] or 0) == row["stall_cycles_total"]
        assert int(saved["address"], 16) == row["address"]
    with page.expect_download() as download:
        uncovered(view, '[data-opens="Save"]')
        save(view, "svg")
    assert Path(download.value.path()).read_text().count("<") > 50


@pytest.mark.slow
def test_pc_samples_have_their_columns_and_reasons(page, serve):
    folder = SHARED / "data" / "pcsampling-rcv"
    if not folder.is_dir():
        pytest.skip("no PC samples in ../shared")
    served = serve(folder)
    trace = served.library.document(0).trace
    listing = sample_listing(trace).rows
    hot = listing.sort(pl.col("issued_count") + pl.col("stalled_count"), descending=True).row(0, named=True)
    page.goto(f"{served.url}#layout=t(isa;0)&row={hot['row']}")
    view = page.locator('[data-view="isa"]')
    row = view.locator(f'.isa-list [data-row="{hot["row"]}"]')
    row.locator('[data-column="samples"]', has_text=f"{hot['issued_count'] + hot['stalled_count']:,}").wait_for()
    reasons = trace.sample_reasons.filter(pl.col("row") == hot["row"]).sort("count", "reason", descending=[True, False])
    words = ", ".join(f"{reason} {count}" for _, reason, count in reasons.iter_rows())
    expect(row.locator('[data-column="reasons"]')).to_have_attribute("title", words)
    expect(view.locator('[data-column="latency"]')).to_have_count(0)
    expect(view.locator("[data-canvas]")).to_have_value("samples")
    box, at = view.locator(".isa-canvas").bounding_box(), row.bounding_box()
    page.mouse.move(box["x"] + 10, at["y"] + 8)
    view.locator(".isa-tip").get_by_text(f"{reasons['reason'][0]}: {reasons['count'][0]:,} samples").wait_for()


@pytest.mark.slow
def test_bars_are_the_parts_of_a_row(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    hot = isa_listing(trace).rows.sort("stall_cycles_total").row(-1, named=True)
    view = opened(page, served, f"row={hot['row']}")
    view.locator("[data-canvas]").select_option("total")
    row = view.locator(".isa-list .row.selected").bounding_box()
    box = view.locator(".isa-canvas").bounding_box()
    page.mouse.move(box["x"] + 10, row["y"] + 8)
    tip = view.locator(".isa-tip")
    tip.get_by_text(f"stall: {hot['exposed_stall_cycles_total']:,} cycles").wait_for()
    expect(tip).to_contain_text(
        f"together {hot['latency_cycles_total'] + hot['idle_cycles_total']:,}", use_inner_text=True
    )
    view.locator("[data-canvas]").select_option("classes")
    view.locator(".isa-legend", has_text=hot["stall_class"]).wait_for()
    row = view.locator(".isa-list .row.selected").bounding_box()
    page.mouse.move(box["x"] + 11, row["y"] + 9)
    tip.get_by_text(f"{hot['stall_class']}: ").wait_for()


@pytest.mark.slow
def test_one_wave_has_its_own_arrows(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    wave = 5
    arrows = isa_listing(select(trace, Selection(waves=(wave,)))).arrows.sort("count")
    arrow = arrows.row(-1, named=True)
    view = opened(page, served, f"row={arrow['wait_row']}")
    view.locator('[data-pick="se"]').select_option(str(trace.waves["se"][wave]))
    view.locator('[data-pick="simd"]').select_option(str(trace.waves["simd"][wave]))
    view.locator('[data-pick="slot"]').select_option(str(trace.waves["slot"][wave]))
    view.locator('[data-pick="wave"]').select_option(str(wave))
    expect(view.locator("[data-mode]")).to_have_value("sum_wave")
    listed = view.locator(f'[data-related="producer"][data-row="{arrow["producer_row"]}"] td')
    listed.nth(1).get_by_text(f"{arrow['count']:,}", exact=True).wait_for()


def test_registers_that_a_text_does_not_name_light_up_at_the_mnemonic(page, serve):
    served = serve(made_gemm())
    code = served.library.document(0).trace.code
    branch = int(code.filter(pl.col("mnemonic").str.starts_with("s_cbranch_scc"))["row"][0])
    view = opened(page, served, f"row={branch}")
    text = view.locator(".isa-list .row.selected [data-column='text']")
    assert "reads scc (implicit)" in text.get_attribute("title")
    text.locator(".asm-mnemonic").hover()
    writer = view.locator(".isa-list .row", has=page.locator(".asm-mnemonic.highlighted.written")).last
    writer.wait_for()
    assert "scc" in code["implicit_writes"][int(writer.get_attribute("data-row"))].split()
    expect(text.locator(".asm-mnemonic")).to_have_class("asm-mnemonic highlighted")


@pytest.mark.slow
def test_keys_move_and_registers_light_up(page, serve):
    served = serve(made_gemm())
    code = served.library.document(0).trace.code
    start = int(code.filter(pl.col("text").str.contains(r"^v_\w+ v\d+, v"))["row"][0])
    view = opened(page, served, f"row={start}", "view=isa")
    chosen = view.locator(".isa-list .row.selected")
    first = chosen.locator(".asm-register").first
    first.hover()
    view.locator(".asm-register.highlighted.written", has_text=first.inner_text()).first.wait_for()
    view.locator(".isa-list").press("ArrowDown")
    view.locator(f'.isa-list .row.selected[data-row="{start + 1}"]').wait_for()
    place = code.row(start + 1, named=True)
    view.locator(".isa-list").press("Enter")
    source = page.locator('[data-view="source"]')
    source.wait_for(state="visible")
    assert f"line={place['line']}" in fragment(page)
    expect(chosen.locator('[data-column="source"]')).to_have_attribute("title", f"{place['file']}:{place['line']}")


@pytest.mark.slow
def test_a_mode_of_one_wave_takes_the_longest_when_none_is_chosen(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    longest = int(trace.waves.sort("instruction_count", descending=True, maintain_order=True)["wave"][0])
    view = opened(page, served)
    view.locator("[data-mode]").select_option("iteration")
    expect(view.locator('[data-pick="wave"]')).to_have_value(str(longest))
    listing = isa_listing(trace, iteration=0)
    assert listing.wave == longest
    row = listing.rows.filter(pl.col("hit_count") > 0).row(0, named=True)
    cell = view.locator(f'.isa-list [data-row="{row["row"]}"] [data-column="latency"]')
    cell.get_by_text(f"{row['latency_cycles_total']:,}", exact=True).wait_for()
    view.locator('[data-pick="se"]').select_option("")
    expect(view.locator("[data-mode]")).to_have_value("sum_all")
