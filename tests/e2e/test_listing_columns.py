"""The listing as a table: columns that sort, move, widen and freeze; functions that fold; hot rows; live registers."""

from __future__ import annotations

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.menus import open_view
from tests.e2e.test_isa import opened, uncovered
from tests.e2e.waiting import eventually, settled
from wavewright.analysis.trace.code.live import live_rows
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.listing import isa_listing
from wavewright.analysis.trace.stalls import stalls

INPUTS = {"made": made_gemm, "flash": lambda: real_trace("flash_attn_func", 38430)}
ON_SCREEN = """() => {
    const list = document.querySelector('.isa-list');
    const head = list.querySelector('.list-head').getBoundingClientRect().bottom;
    const { bottom } = list.getBoundingClientRect();
    const isSeen = (row) => row.getBoundingClientRect().top >= head - 1 && row.getBoundingClientRect().bottom <= bottom;
    return [...list.querySelectorAll('[data-row]')].filter(isSeen).map(row => Number(row.dataset.row));
}"""
HEADINGS = """() => [...document.querySelectorAll('.isa-list .head [data-column]')].map(cell => cell.dataset.column)"""


def heading(view, column: str):
    return view.locator(f'.isa-list .head [data-column="{column}"]')


def first_rows(page, count: int) -> list[int]:
    return page.evaluate(ON_SCREEN)[:count]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1280, 800), (1600, 1000)])
@pytest.mark.parametrize("name", INPUTS)
def test_exposed_is_on_screen_beside_whole_instructions(page, serve, name, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    view = opened(page, serve(INPUTS[name]()))
    eventually(lambda: page.evaluate(HEADINGS)[:5], ["canvas", "row", "text", "exposed", "latency"])
    inside, cell = view.locator(".isa-list").bounding_box(), heading(view, "exposed").bounding_box()
    assert cell["x"] + cell["width"] <= inside["x"] + inside["width"]
    cut = """() => [...document.querySelectorAll('.isa-list [data-row] [data-column="text"]')]
        .filter(cell => cell.scrollWidth > cell.clientWidth).length"""
    texts = view.locator('.isa-list [data-row] [data-column="text"]').count()
    assert page.evaluate(cut) <= (0 if name == "made" else texts * 0.1)
    bar = view.locator(".toolbar").bounding_box()
    assert bar["height"] < 40  # one line


@pytest.mark.slow
def test_a_heading_sorts_down_up_and_not(page, serve):
    served = serve(made_gemm())
    costs = row_costs(served.library.document(0).trace)
    view = opened(page, served)
    in_code = first_rows(page, 5)
    heading(view, "exposed").locator("button").click()
    down = costs.sort("exposed_cycles_total", "row", descending=[True, False])["row"].to_list()
    eventually(lambda: first_rows(page, 8), down[:8])
    expect(heading(view, "exposed")).to_have_attribute("aria-sort", "descending")
    page.reload()
    view.locator('.isa-list [data-row] [data-column="latency"]:text-matches("[0-9]")').first.wait_for()
    eventually(lambda: first_rows(page, 8), down[:8])
    heading(view, "exposed").locator("button").click()
    up = costs.sort("exposed_cycles_total", "row")["row"].to_list()
    eventually(lambda: first_rows(page, 8), up[:8])
    heading(view, "exposed").locator("button").click()
    eventually(lambda: first_rows(page, 5), in_code)


@pytest.mark.slow
def test_columns_move_and_widen_and_stay_so(page, serve):
    page.set_viewport_size({"width": 1920, "height": 900})
    view = opened(page, serve(made_gemm()))
    settled(page)  # rows that come late make headings wider, and the drag would miss them
    latency, idle = heading(view, "latency").bounding_box(), heading(view, "idle").bounding_box()
    page.mouse.move(idle["x"] + 10, idle["y"] + 8)
    page.mouse.down()
    page.mouse.move(latency["x"] + 20, latency["y"] + 8, steps=4)
    page.mouse.move(latency["x"] + 4, latency["y"] + 8)
    page.mouse.up()
    moved = ["canvas", "row", "text", "exposed", "idle", "latency", "stall"]
    eventually(lambda: page.evaluate(HEADINGS)[:7], moved)
    heading(view, "stall").locator("button").focus()
    page.keyboard.press("Shift+ArrowLeft")
    moved[5:7] = ["stall", "latency"]
    eventually(lambda: page.evaluate(HEADINGS)[:7], moved)
    expect(heading(view, "stall")).not_to_have_attribute("aria-sort", "descending")
    settled(page)
    edge = heading(view, "text").locator(".edge").bounding_box()
    wide = heading(view, "text").bounding_box()["width"]
    page.mouse.move(edge["x"] + 3, edge["y"] + 8)
    page.mouse.down()
    page.mouse.move(edge["x"] + 3 - 90, edge["y"] + 8, steps=3)
    page.mouse.up()
    eventually(lambda: round(heading(view, "text").bounding_box()["width"]), round(wide - 90))
    page.reload()
    eventually(lambda: page.evaluate(HEADINGS)[:7], moved)
    assert round(heading(view, "text").bounding_box()["width"]) == round(wide - 90)
    heading(view, "text").locator(".edge").dblclick()
    eventually(lambda: heading(view, "text").bounding_box()["width"] > wide - 40, True)


@pytest.mark.slow
def test_row_and_instruction_stay_when_the_rest_scrolls_sideways(page, serve):
    view = opened(page, serve(made_gemm()), place="view=isa")
    row = view.locator(".isa-list [data-row]").nth(2)
    places = {name: row.locator(f'[data-column="{name}"]').bounding_box()["x"] for name in ("row", "text", "stall")}
    page.evaluate("() => { document.querySelector('.isa-list').scrollLeft = 260; }")
    eventually(lambda: row.locator('[data-column="stall"]').bounding_box()["x"] < places["stall"] - 100, True)
    left = view.locator(".isa-list").bounding_box()["x"]
    number, text = (row.locator(f'[data-column="{name}"]').bounding_box() for name in ("row", "text"))
    assert abs(number["x"] - left) <= 2
    assert abs(text["x"] - number["x"] - number["width"]) <= 2
    assert abs(heading(view, "text").bounding_box()["x"] - text["x"]) <= 1


def test_functions_fold_and_what_never_ran_is_folded(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    costs = row_costs(trace)
    kernel = trace.code.filter(pl.col("function") == "tiled_gemm")
    view = opened(page, served)
    first = view.locator(".isa-list .list-body .row").first
    expect(first).to_have_attribute("data-section", str(kernel["row"][0]))  # the kernel's head is on top
    expect(first.locator(".fold")).to_contain_text(f"tiled_gemm {kernel.height} rows", use_inner_text=True)
    for part in ("exposed", "latency", "stall", "idle"):
        total = f"{costs[f'{part}_cycles_total'].sum():,}"
        expect(first.locator(f'[data-total="{part}"]')).to_have_text(total, use_inner_text=True)
    listed = view.locator("[data-rows]")
    expect(listed).to_have_text(f"showing {kernel.height} of {trace.code.height} rows", use_inner_text=True)
    first.locator(".fold").click()
    expect(listed).to_have_text(f"showing 0 of {trace.code.height} rows", use_inner_text=True)
    expect(view.locator(".isa-list [data-row]")).to_have_count(0)
    padding = view.locator(f'.isa-list [data-section="{kernel.height}"] .fold')
    expect(padding).to_have_attribute("aria-expanded", "false")
    padding.click()
    expect(listed).to_have_text(f"showing {trace.code.height - kernel.height} of {trace.code.height} rows")


@pytest.mark.slow
def test_from_the_hottest_row_to_the_next_and_back(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    cost = pl.col("latency_cycles_total") + pl.col("idle_cycles_total")
    hot = (
        isa_listing(trace).rows.filter((cost > 0) & ~pl.col("text").str.starts_with("s_endpgm"))
        .sort(cost, "row", descending=[True, False])["row"].to_list()
    )  # fmt: skip
    view = opened(page, served, "row=5")
    page.set_viewport_size({"width": 1920, "height": 1000})
    rank = view.locator("[data-hottest]")
    for step, row in enumerate(hot[:3]):
        page.keyboard.press("h")
        view.locator(f'.isa-list .row.selected[data-row="{row}"]').wait_for()
        rank.get_by_text(f"{['1st', '2nd', '3rd'][step]} of {len(hot)}").wait_for()
    for row in (hot[1], hot[0], 5):
        page.keyboard.press("H")
        view.locator(f'.isa-list .row.selected[data-row="{row}"]').wait_for()
    # Three keys before the page is drawn once are three steps.
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'h', bubbles: true }))"
    page.evaluate(f"() => {{ for (let n = 0; n < 3; n++) {press}; }}")
    view.locator(f'.isa-list .row.selected[data-row="{hot[2]}"]').wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_live_registers_are_those_of_the_analysis(page, serve, name):
    served = serve(INPUTS[name]())
    live = dict(live_rows(served.library.document(0).trace).select("row", "live_vectors").iter_rows())
    page.set_viewport_size({"width": 2560, "height": 1000})
    view = opened(page, served)
    cells = view.locator('.isa-list [data-row] [data-column="live_vectors"]')
    cells.filter(has_text="1").first.wait_for()
    shown = page.evaluate("""() => [...document.querySelectorAll('.isa-list [data-row]')].map(row =>
        [Number(row.dataset.row), row.querySelector('[data-column="live_vectors"]').innerText])""")
    assert len(shown) > 5
    assert {row: int(text) for row, text in shown} == {row: live[row] for row, _ in shown}
    expect(view.locator('.isa-section [data-total="live_vectors"]').first).to_have_text(str(max(live.values())))


@pytest.mark.slow
def test_the_legend_tells_what_the_classes_mean(page, serve):
    served = serve(made_gemm())
    classes = stalls(served.library.document(0).trace).classes.sort("stall_cycles_total", descending=True)
    worst = classes.row(0, named=True)
    view = opened(page, served)
    view.locator("[data-canvas]").select_option("classes")
    view.locator(f'.isa-legend [title="{worst["meaning"]}"]', has_text=worst["class"]).wait_for()
    uncovered(view, "[data-opens=Legend]").click()
    entry = view.locator(f'.isa-meanings dt[data-legend="{worst["class"]}"] + dd')
    expect(entry).to_have_text(worst["meaning"], use_inner_text=True)


@pytest.mark.slow
def test_a_click_on_an_instruction_brings_the_listing_to_the_front(page, serve):
    served = serve(made_gemm())
    page.goto(f"{served.url}#view=loops")
    open_view(page, "waits")
    listing = page.locator('[data-view="isa"]')
    expect(listing).to_be_hidden()
    line = page.locator('[data-view="waits"] .row.wait').nth(1)
    line.click()
    row = line.get_attribute("data-wait")
    listing.locator(f'.isa-list .row.selected[data-row="{row}"]').wait_for()
    open_view(page, "loops")  # a loop is no instruction: its view stays
    loops = page.locator('[data-view="loops"]')
    loops.locator(".row:not(.head)").first.click()
    expect(loops).to_be_visible()


@pytest.mark.slow
def test_every_column_can_have_its_own_heat(page, serve):
    view = opened(page, serve(made_gemm()))
    costs = row_costs(serve(made_gemm()).library.document(0).trace)
    view.locator('[data-opens="Columns"]').click()
    page.locator('[data-choose="column-heat"]').check()
    page.keyboard.press("Escape")
    for column, name in (("latency", "latency_cycles_total"), ("hits", "hit_count")):
        most = costs[name].max()
        other = view.locator(f'.row[data-row] [data-column="{column}"][data-heat]').first
        number = int(other.locator("xpath=..").get_attribute("data-row"))
        value = costs.filter(pl.col("row") == number)[name].sum()
        eventually(lambda: other.get_attribute("data-heat"), f"{(value / most) ** 0.5:.3f}")
