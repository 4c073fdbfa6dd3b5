"""Tables: roles, sorting, and columns that are resized, moved and hidden, and stay so."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm
from tests.e2e.waiting import eventually


@pytest.fixture
def waves(page, serve):
    served = serve(made_gemm())
    page.goto(served.url + "#layout=t(waves;0)")
    view = page.locator('[data-view="waves"]')
    view.locator(".row:not(.head)").first.wait_for()
    view.served = served
    return view


def names(view) -> list[str]:
    return view.get_by_role("columnheader").evaluate_all("cells => cells.map(cell => cell.dataset.column)")


def width(view, name: str) -> float:
    return view.locator(f'[role="columnheader"][data-column="{name}"]').bounding_box()["width"]


def drag(page, start, end) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=5)
    page.mouse.up()


def test_a_table_is_a_grid_that_says_its_size_and_place(waves):
    count = waves.served.library.document(0).trace.waves.height
    grid = waves.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", str(count + 1))
    expect(grid).to_have_attribute("aria-colcount", str(len(names(waves))))
    second = grid.locator('[role="rowgroup"] > [role="row"]').nth(2)
    expect(second).to_have_attribute("aria-rowindex", "3")
    assert second.locator('[role="gridcell"]').count() == len(names(waves))
    second.click()
    expect(second).to_have_attribute("aria-selected", "true")
    assert grid.get_attribute("aria-activedescendant") == second.get_attribute("id")


@pytest.mark.slow
def test_headers_sort_by_mouse_and_by_keys_and_say_so(page, waves):
    head = waves.locator('[role="columnheader"][data-column="duration_cycles"]')
    head.locator(".head-sort").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    trace = waves.served.library.document(0).trace
    durations = trace.waves["end_cycles"] - trace.waves["start_cycles"]
    cell = waves.locator('.row:not(.head) [data-column="duration_cycles"]').first
    expect(cell).to_have_text(f"{durations.max():,}", use_inner_text=True)
    waves.get_by_role("grid").focus()
    page.keyboard.press("ArrowUp")
    for _ in range(names(waves).index("duration_cycles")):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(cell).to_have_text(f"{durations.min():,}", use_inner_text=True)


@pytest.mark.slow
def test_columns_resize_and_stay_so(page, waves):
    before = width(waves, "wave")
    border = waves.locator('[data-column="wave"] .column-border').bounding_box()
    x, y = border["x"] + border["width"] / 2, border["y"] + 5
    drag(page, (x, y), (x + 80, y))
    eventually(lambda: round(width(waves, "wave") - before), 80)
    cell = waves.locator('.row:not(.head) [data-column="wave"]').first
    assert round(cell.bounding_box()["width"]) == round(before + 80)
    page.wait_for_selector('html[data-keeping="0"]')
    page.reload()
    eventually(lambda: round(width(waves, "wave") - before), 80)
    page.mouse.dblclick(x + 80, y)
    eventually(lambda: width(waves, "wave") < before + 60, True)
    waves.get_by_role("grid").focus()
    page.keyboard.press("ArrowUp")
    fitted = width(waves, "wave")
    page.keyboard.press("Shift+ArrowRight")
    eventually(lambda: width(waves, "wave") > fitted, True)


@pytest.mark.slow
def test_columns_move_hide_and_come_back(page, waves):
    first = names(waves)
    boxes = [waves.locator(f'[role="columnheader"][data-column="{name}"]').bounding_box() for name in first]
    drag(page, (boxes[3]["x"] + 15, boxes[3]["y"] + 8), (boxes[1]["x"] + 5, boxes[1]["y"] + 8))
    moved = [first[0], first[3], *first[1:3], *first[4:]]
    eventually(lambda: names(waves), moved)
    waves.locator(f'[role="columnheader"][data-column="{first[2]}"]').click(button="right")
    page.get_by_role("menuitem", name="Hide").click()
    eventually(lambda: names(waves), [name for name in moved if name != first[2]])
    page.wait_for_selector('html[data-keeping="0"]')
    page.reload()
    eventually(lambda: names(waves), [name for name in moved if name != first[2]])
    waves.get_by_role("columnheader").first.click(button="right")
    page.get_by_role("menuitem", name="All columns as they were").click()
    eventually(lambda: names(waves), first)


@pytest.mark.slow
def test_the_first_column_stays_when_a_table_is_scrolled_sideways(page, waves):
    page.set_viewport_size({"width": 460, "height": 500})
    grid = waves.get_by_role("grid")
    grid.evaluate("grid => { grid.scrollLeft = 150; }")
    eventually(lambda: grid.evaluate("grid => grid.scrollLeft"), 150)
    left = grid.bounding_box()["x"]
    assert waves.locator('.row:not(.head) [data-column="wave"]').first.bounding_box()["x"] == left
    assert waves.get_by_role("columnheader").first.bounding_box()["x"] == left


def test_small_tables_sort(page, serve):
    page.goto(serve(made_gemm()).url + "#layout=t(coverage;0)")
    table = page.locator('[data-view="coverage"] table').first
    table.wait_for()
    name = table.locator("th.number").last.get_attribute("data-column")
    head = table.locator(f'th[data-column="{name}"]')
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    down = table.locator(f'td[data-column="{name}"]').all_inner_texts()
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    up = table.locator(f'td[data-column="{name}"]').all_inner_texts()
    assert len(down) > 1
    assert sorted(up) == sorted(down)
    assert up != down or len(set(up)) == 1
