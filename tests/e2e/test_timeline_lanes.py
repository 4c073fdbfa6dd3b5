"""Lanes that are pinned, hidden, moved and filtered; flags; pinches; curves beside the lanes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.run_inputs import made_ranks
from tests.e2e.test_timelines import HEADING, Lanes, address
from tests.e2e.waiting import eventually, fragment, leave
from wavewright.export.page import write_html
from wavewright.page.protocol.notes import notes_beside
from wavewright.page.run.tracks import tracks_of_run
from wavewright.page.trace.times import time_range, traced_range
from wavewright.readers.opening import open_trace

INPUTS = [pytest.param(made_gemm, id="made"), pytest.param(lambda: real_trace("flash_attn_func", 38430), id="real")]


def label_at(lanes, y):
    """Open the menu of the lane whose label is at a y of the page; gives the menu."""
    lanes.page.mouse.click(lanes.box["x"] + lanes.fact("gutter") - 6, y, button="right")
    menu = lanes.view.get_by_role("menu")
    expect(menu).to_be_visible()
    return menu


def lane_under(lanes, y):
    """The lane that the tooltip names at a y."""
    lanes.page.mouse.move(lanes.x((lanes.fact("begin") * 9 + lanes.fact("end")) / 10), y)
    lanes.tooltip.wait_for()
    return int(lanes.tooltip.get_attribute("data-lane"))


def stored(page):
    page.wait_for_selector('html[data-keeping="0"]')


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_lanes_are_pinned_hidden_and_restored(page, serve, made):
    lanes = Lanes(page, serve(made()), "compute_unit")
    page.wait_for_selector('html[data-asking="0"]')
    whole = lanes.fact("lane-count")
    wanted = lane_under(lanes, lanes.y(3))
    label_at(lanes, lanes.y(3)).get_by_role("menuitem", name="Pin to the top").click()
    eventually(lambda: lanes.fact("pinned"), 1)
    assert lanes.fact("lane-count") == whole
    pinned = lanes.box["y"] + lanes.fact("pinned-top") + 4
    assert pinned < lanes.box["y"] + lanes.fact("top")
    assert lane_under(lanes, pinned) == wanted
    # it stays where it is while the others scroll
    for _ in range(6):
        lanes.key("+")
    page.mouse.move(lanes.x(lanes.fact("begin")) + 200, lanes.y(2))
    page.mouse.wheel(0, 150)
    eventually(lambda: lanes.fact("scroll") > 0, True)
    assert lane_under(lanes, pinned) == wanted
    # hidden ones are counted, and come back
    menu = label_at(lanes, lanes.y(1) + 30)
    menu.get_by_role("menuitem", name="Hide", exact=True).click()
    eventually(lambda: (lanes.fact("hidden"), lanes.fact("lane-count")), (1, whole - 1))
    stored(page)
    page.reload()
    lanes.facts_of.wait_for(state="attached")
    eventually(lambda: (lanes.fact("pinned"), lanes.fact("hidden")), (1, 1))
    lanes.view.get_by_role("button", name="Lanes (1 hidden)").click()
    lanes.view.get_by_role("button", name="restore all").click()
    eventually(lambda: (lanes.fact("pinned"), lanes.fact("hidden"), lanes.fact("lane-count")), (0, 0, whole))
    stored(page)


@pytest.mark.parametrize("view", ["compute_unit", "global_view", "utilization"])
def test_lanes_are_filtered_in_every_timeline(page, serve, view):
    lanes = Lanes(page, serve(made_gemm()), view)
    whole = lanes.fact("lane-count")
    lanes.view.locator('[data-action="lanes"]').click()
    field = lanes.view.get_by_label("Show lanes whose name contains")
    field.fill("/SE 1/")
    eventually(lambda: 0 < lanes.fact("lane-count") < whole, True)
    assert lanes.fact("hidden") == whole - lanes.fact("lane-count")
    field.fill("/SE (/")
    lanes.view.get_by_text("not a regular expression").wait_for()
    field.fill("")
    eventually(lambda: lanes.fact("lane-count"), whole)


def test_lanes_of_a_run_are_hidden_by_process_and_moved_by_keys(page, serve):
    served = serve(made_ranks())
    track = tracks_of_run(served.library.document(0))["tracks"][0]
    groups = [lane["group"][0] for lane in track["lanes"]]
    lanes = Lanes(page, served, "run_timeline")
    whole = lanes.fact("lane-count")
    assert whole == len(groups)
    first = lane_under(lanes, lanes.y(0))
    assert first == 0
    page.mouse.move(lanes.x(lanes.fact("begin")) + 100, lanes.y(0))
    lanes.view.locator(".timeline").focus()
    page.keyboard.press("Shift+F10")
    menu = lanes.view.get_by_role("menu")
    expect(menu.get_by_role("menuitem", name="Pin to the top")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # hides the process
    eventually(lambda: lanes.fact("lane-count"), whole - groups.count(groups[0]))
    expect(lanes.view.locator(".timeline")).to_be_focused()
    label_at(lanes, lanes.y(0)).get_by_role("menuitem", name="Restore all lanes").click()
    eventually(lambda: lanes.fact("lane-count"), whole)
    # the first process goes below the second one
    heading = lanes.box["y"] + lanes.fact("top") + HEADING / 2
    page.mouse.click(lanes.box["x"] + 20, heading, button="right")
    menu.get_by_role("menuitem", name=f"Move {groups[0]} down").click()
    second = next(group for group in groups if group != groups[0])
    stored(page)
    page.mouse.click(lanes.box["x"] + 20, heading, button="right")
    expect(menu.locator("p")).to_have_text(second)
    menu.get_by_role("menuitem", name="Restore all lanes").click()
    stored(page)


@pytest.mark.slow
def test_a_label_is_dragged_to_another_place(page, serve):
    lanes = Lanes(page, serve(made_gemm("gfx942")), "utilization", is_low=False)
    page.wait_for_selector('html[data-asking="0"]')
    heading = lanes.box["y"] + lanes.fact("top") + HEADING / 2
    menu_of = lambda: label_at(lanes, heading).locator("p").inner_text()  # noqa: E731
    first = menu_of()
    page.keyboard.press("Escape")
    x = lanes.box["x"] + 20
    page.mouse.move(x, heading)
    page.mouse.down()
    page.mouse.move(x, lanes.box["y"] + lanes.box["height"] - 4, steps=6)
    page.mouse.up()
    eventually(lambda: menu_of() != first, True)
    lanes.view.get_by_role("menuitem", name="Restore all lanes").click()
    stored(page)


@pytest.mark.slow
def test_flags_stand_in_every_timeline_and_are_jumped_to(page, serve):
    served = serve(made_gemm())
    lanes = Lanes(page, served, "compute_unit")
    begin, end = lanes.fact("begin"), lanes.fact("end")
    times = [round(begin + share * (end - begin)) for share in (0.2, 0.8)]
    axis = lanes.box["y"] + lanes.fact("top") - 24
    pixel = (end - begin) / (lanes.box["width"] - lanes.fact("gutter"))
    page.mouse.click(lanes.x(times[0]), axis)
    name = lanes.view.get_by_label("Name of the flag")
    expect(name).to_be_focused()
    name.fill("main loop")
    page.keyboard.press("Enter")
    page.mouse.move(lanes.x(times[1]), lanes.y(1))
    page.keyboard.press("m")
    expect(name).to_have_value("Flag 2")
    lanes.view.get_by_role("radio", name="Colour 4").click()
    page.keyboard.press("Escape")
    eventually(lambda: lanes.fact("flags"), 2)
    stored(page)
    # another view of the same document shows them, also after a new start
    leave(page)
    lanes = Lanes(page, served, "global_view", (begin, begin + 400))
    eventually(lambda: lanes.fact("flags"), 2)
    for key, time in ((".", times[0]), (".", times[1]), (",", times[0])):
        lanes.key(key)
        eventually(lambda time=time: lanes.fact("begin") - pixel <= time <= lanes.fact("end") + pixel, True)
    page.locator("header, body").get_by_text("★ 2").first.click()
    expect(page.get_by_label("Note").first).to_have_value("main loop")
    leave(page)
    lanes = Lanes(page, served, "compute_unit")
    for left in (1, 0):
        page.mouse.click(lanes.x(times[1 - left]) + 5, axis)
        lanes.view.locator('[data-action="remove-flag"]').click()
        eventually(lambda left=left: lanes.fact("flags"), left)
    stored(page)


@pytest.mark.slow
def test_a_pinch_on_a_trackpad_zooms_at_once(page, serve):
    lanes = Lanes(page, serve(made_gemm()), "compute_unit")
    begin, end = lanes.fact("begin"), lanes.fact("end")
    middle = (begin + end) / 2
    place = [lanes.x(middle), lanes.y(1)]
    pinch = """([x, y]) => { for (let i = 0; i < 20; i++) document.querySelector('.timeline').dispatchEvent(
        new WheelEvent('wheel', {deltaY: -3, ctrlKey: true, clientX: x, clientY: y, bubbles: true}))}"""
    page.evaluate(pinch, place)
    eventually(lambda: (end - begin) / (lanes.fact("end") - lanes.fact("begin")) >= 4, True)
    assert lanes.fact("begin") < middle < lanes.fact("end")
    for _ in range(3):
        page.evaluate(pinch, place)
    eventually(lambda: lanes.fact("end") - lanes.fact("begin") <= 100, True)


@pytest.mark.slow
def test_two_fingers_zoom_and_move(page, serve):
    lanes = Lanes(page, serve(made_gemm()), "compute_unit")
    begin, end = lanes.fact("begin"), lanes.fact("end")
    fingers = """([a, b]) => { const box = document.querySelector('.timeline'); box.setPointerCapture = () => {};
      const send = (name, id, x) => box.dispatchEvent(new PointerEvent(name, {pointerId: id, pointerType: 'touch',
        clientX: x, clientY: 300, button: 0, bubbles: true}));
      send('pointerdown', 7, a[0]); send('pointerdown', 8, b[0]);
      for (let i = 1; i <= 10; i++) { send('pointermove', 7, a[0] + (a[1] - a[0]) * i / 10);
        send('pointermove', 8, b[0] + (b[1] - b[0]) * i / 10); }
      send('pointerup', 7, a[1]); send('pointerup', 8, b[1]); }"""
    page.evaluate(fingers, [[600, 400], [700, 900]])
    eventually(lambda: lanes.fact("end") - lanes.fact("begin") < (end - begin) / 4.5, True)
    assert "range=" not in fragment(page), "two fingers do not select"
    before = lanes.fact("begin")
    page.evaluate(fingers, [[600, 500], [700, 600]])
    eventually(lambda: lanes.fact("begin") > before, True)


@pytest.mark.parametrize("made", INPUTS)
def test_the_first_picture_is_that_of_the_traced_waves(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    lanes = Lanes(page, served, "compute_unit")
    first, last = traced_range(trace)
    assert lanes.fact("begin") <= first
    assert lanes.fact("end") >= min(last, time_range(trace)[1])
    assert last - first >= 0.97 * (lanes.fact("end") - lanes.fact("begin"))
    assert "time=" not in fragment(page)
    # times count from the start of the trace; the tooltip has the absolute one too
    page.wait_for_selector('html[data-asking="0"]')
    _ = lane_under(lanes, lanes.y(3))
    start = float(lanes.tooltip.get_attribute("data-begin"))
    since = start - time_range(trace)[0]
    expect(lanes.tooltip).to_contain_text(f"start {since:,.0f} (absolute {start:,.0f})")
    # few lanes fill the height, up to a comfortable one
    used = lanes.fact("lane-count") * lanes.fact("row-height")
    assert used > 0.7 * (lanes.box["height"] - lanes.fact("top")) or lanes.fact("row-height") == 44


@pytest.mark.slow
def test_curves_stand_beside_the_lanes(page, serve):
    lanes = Lanes(page, serve(made_gemm()), "compute_unit")
    height = lanes.view.locator(".timeline").bounding_box()["height"]
    lanes.view.locator('[data-action="lanes"]').click()
    lanes.view.locator('[data-choose="strip"]').select_option("resident waves")
    strip = lanes.view.locator('[data-strip="resident waves"]')
    expect(strip.locator("canvas")).to_be_visible()
    below = strip.bounding_box()
    assert below["y"] > lanes.box["y"] + lanes.view.locator(".timeline").bounding_box()["height"] - 2
    grip = strip.get_by_role("separator")
    grip.focus()
    page.keyboard.press("ArrowUp")
    eventually(lambda: strip.bounding_box()["height"], below["height"] + 16)
    strip.get_by_role("button", name="Above the lanes").click()
    eventually(lambda: strip.bounding_box()["y"] < lanes.view.locator(".timeline").bounding_box()["y"], True)
    strip.get_by_role("button", name="Fold").click()
    expect(strip.locator("canvas")).to_have_count(0)
    stored(page)
    page.reload()
    expect(strip.get_by_role("button", name="Unfold")).to_be_visible()
    strip.get_by_role("button", name="Close").click()
    eventually(lambda: lanes.view.locator(".timeline").bounding_box()["height"], height)
    stored(page)
    assert address(page)["layout"]


@pytest.mark.slow
def test_an_exported_page_shows_the_flags_that_were_saved(page, tmp_path):
    capture = tmp_path / "gemm"
    shutil.copytree(made_gemm(), capture)
    trace = open_trace(capture)
    first, last = traced_range(trace)
    flag = {"id": "1", "text": "<b>loop</b>", "address": "", "created": "2026-01-01", "time": (first + last) / 2}
    Path(notes_beside(capture)).write_text(json.dumps({"notes": [{**flag, "colour": 2}]}), encoding="utf-8")
    write_html(trace, tmp_path / "page.html")
    page.goto(f"file://{tmp_path / 'page.html'}#layout=t(compute_unit;0)")
    facts = page.locator(".timeline-facts")
    expect(facts).to_have_attribute("data-flags", "1")
    page.get_by_text("★ 1").click()
    expect(page.get_by_label("Note")).to_have_value("<b>loop</b>")
