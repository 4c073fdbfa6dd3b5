"""Tracks that are pinned, hidden, moved and filtered; flags; pinches; curves beside the tracks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.run_inputs import made_ranks
from tests.e2e.test_timelines import HEADING, Tracks, address
from tests.e2e.waiting import eventually, fragment, leave
from wavewright.export.page import write_html
from wavewright.page.protocol.notes import notes_beside
from wavewright.page.run.layers import layers_of_run
from wavewright.page.trace.times import time_range, traced_range
from wavewright.readers.opening import open_trace

INPUTS = [pytest.param(made_gemm, id="made"), pytest.param(lambda: real_trace("flash_attn_func", 38430), id="real")]


def label_at(tracks, y):
    """Open the menu of the track whose label is at a y of the page; gives the menu."""
    tracks.page.mouse.click(tracks.box["x"] + tracks.fact("gutter") - 6, y, button="right")
    menu = tracks.view.get_by_role("menu")
    expect(menu).to_be_visible()
    return menu


def track_under(tracks, y):
    """The track that the tooltip names at a y."""
    tracks.page.mouse.move(tracks.x((tracks.fact("begin") * 9 + tracks.fact("end")) / 10), y)
    tracks.tooltip.wait_for()
    return int(tracks.tooltip.get_attribute("data-track"))


def stored(page):
    page.wait_for_selector('html[data-keeping="0"]')


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_tracks_are_pinned_hidden_and_restored(page, serve, made):
    tracks = Tracks(page, serve(made()), "compute_unit")
    page.wait_for_selector('html[data-asking="0"]')
    whole = tracks.fact("track-count")
    wanted = track_under(tracks, tracks.y(3))
    label_at(tracks, tracks.y(3)).get_by_role("menuitem", name="Pin to the top").click()
    eventually(lambda: tracks.fact("pinned"), 1)
    assert tracks.fact("track-count") == whole
    pinned = tracks.box["y"] + tracks.fact("pinned-top") + 4
    assert pinned < tracks.box["y"] + tracks.fact("top")
    assert track_under(tracks, pinned) == wanted
    # it stays where it is while the others scroll
    for _ in range(6):
        tracks.key("+")
    page.mouse.move(tracks.x(tracks.fact("begin")) + 200, tracks.y(2))
    page.mouse.wheel(0, 150)
    eventually(lambda: tracks.fact("scroll") > 0, True)
    assert track_under(tracks, pinned) == wanted
    # hidden ones are counted, and come back
    menu = label_at(tracks, tracks.y(1) + 30)
    menu.get_by_role("menuitem", name="Hide", exact=True).click()
    eventually(lambda: (tracks.fact("hidden"), tracks.fact("track-count")), (1, whole - 1))
    stored(page)
    page.reload()
    tracks.facts_of.wait_for(state="attached")
    eventually(lambda: (tracks.fact("pinned"), tracks.fact("hidden")), (1, 1))
    tracks.view.get_by_role("button", name="Tracks (1 hidden)").click()
    tracks.view.get_by_role("button", name="restore all").click()
    eventually(lambda: (tracks.fact("pinned"), tracks.fact("hidden"), tracks.fact("track-count")), (0, 0, whole))
    stored(page)


@pytest.mark.slow
@pytest.mark.parametrize("view", ["compute_unit", "global_view", "utilization"])
def test_tracks_are_filtered_in_every_timeline(page, serve, view):
    tracks = Tracks(page, serve(made_gemm()), view)
    whole = tracks.fact("track-count")
    tracks.view.locator('[data-action="tracks"]').click()
    field = tracks.view.get_by_label("Show tracks whose name contains")
    field.fill("/SE 1/")
    eventually(lambda: 0 < tracks.fact("track-count") < whole, True)
    assert tracks.fact("hidden") == whole - tracks.fact("track-count")
    field.fill("/SE (/")
    tracks.view.get_by_text("not a regular expression").wait_for()
    field.fill("")
    eventually(lambda: tracks.fact("track-count"), whole)


@pytest.mark.slow
def test_tracks_of_a_run_are_hidden_by_process_and_moved_by_keys(page, serve):
    served = serve(made_ranks())
    layer = layers_of_run(served.library.document(0))["layers"][0]
    groups = [track["group"][0] for track in layer["tracks"]]
    tracks = Tracks(page, served, "run_timeline")
    whole = tracks.fact("track-count")
    assert whole == len(groups)
    first = track_under(tracks, tracks.y(0))
    assert first == 0
    page.mouse.move(tracks.x(tracks.fact("begin")) + 100, tracks.y(0))
    tracks.view.locator(".timeline").focus()
    page.keyboard.press("Shift+F10")
    menu = tracks.view.get_by_role("menu")
    expect(menu.get_by_role("menuitem", name="Pin to the top")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # hides the process
    eventually(lambda: tracks.fact("track-count"), whole - groups.count(groups[0]))
    expect(tracks.view.locator(".timeline")).to_be_focused()
    label_at(tracks, tracks.y(0)).get_by_role("menuitem", name="Restore all tracks").click()
    eventually(lambda: tracks.fact("track-count"), whole)
    # the first process goes below the second one
    heading = tracks.box["y"] + tracks.fact("top") + HEADING / 2
    page.mouse.click(tracks.box["x"] + 20, heading, button="right")
    menu.get_by_role("menuitem", name=f"Move {groups[0]} down").click()
    second = next(group for group in groups if group != groups[0])
    stored(page)
    page.mouse.click(tracks.box["x"] + 20, heading, button="right")
    expect(menu.locator("p")).to_have_text(second)
    menu.get_by_role("menuitem", name="Restore all tracks").click()
    stored(page)


@pytest.mark.slow
def test_a_label_is_dragged_to_another_place(page, serve):
    tracks = Tracks(page, serve(made_gemm("gfx942")), "utilization", is_low=False)
    page.wait_for_selector('html[data-asking="0"]')
    heading = tracks.box["y"] + tracks.fact("top") + HEADING / 2
    menu_of = lambda: label_at(tracks, heading).locator("p").inner_text()  # noqa: E731
    first = menu_of()
    page.keyboard.press("Escape")
    x = tracks.box["x"] + 20
    page.mouse.move(x, heading)
    page.mouse.down()
    page.mouse.move(x, tracks.box["y"] + tracks.box["height"] - 4, steps=6)
    page.mouse.up()
    eventually(lambda: menu_of() != first, True)
    tracks.view.get_by_role("menuitem", name="Restore all tracks").click()
    stored(page)


@pytest.mark.slow
def test_flags_stand_in_every_timeline_and_are_jumped_to(page, serve):
    served = serve(made_gemm())
    tracks = Tracks(page, served, "compute_unit")
    begin, end = tracks.fact("begin"), tracks.fact("end")
    times = [round(begin + share * (end - begin)) for share in (0.2, 0.8)]
    axis = tracks.box["y"] + tracks.fact("top") - 24
    pixel = (end - begin) / (tracks.box["width"] - tracks.fact("gutter"))
    page.mouse.click(tracks.x(times[0]), axis)
    name = tracks.view.get_by_label("Name of the flag")
    expect(name).to_be_focused()
    name.fill("main loop")
    page.keyboard.press("Enter")
    page.mouse.move(tracks.x(times[1]), tracks.y(1))
    page.keyboard.press("m")
    expect(name).to_have_value("Flag 2")
    tracks.view.get_by_role("radio", name="Colour 4").click()
    page.keyboard.press("Escape")
    eventually(lambda: tracks.fact("flags"), 2)
    stored(page)
    # another view of the same document shows them, also after a new start
    leave(page)
    tracks = Tracks(page, served, "global_view", (begin, begin + 400))
    eventually(lambda: tracks.fact("flags"), 2)
    for key, time in ((".", times[0]), (".", times[1]), (",", times[0])):
        tracks.key(key)
        eventually(lambda time=time: tracks.fact("begin") - pixel <= time <= tracks.fact("end") + pixel, True)
    page.locator('[data-action="bookmarks"]').click()
    expect(page.get_by_label("Note").first).to_have_value("main loop")
    leave(page)
    tracks = Tracks(page, served, "compute_unit")
    for left in (1, 0):
        page.mouse.click(tracks.x(times[1 - left]) + 5, axis)
        tracks.view.locator('[data-action="remove-flag"]').click()
        eventually(lambda left=left: tracks.fact("flags"), left)
    stored(page)


@pytest.mark.slow
def test_a_pinch_on_a_trackpad_zooms_at_once(page, serve):
    tracks = Tracks(page, serve(made_gemm()), "compute_unit")
    begin, end = tracks.fact("begin"), tracks.fact("end")
    middle = (begin + end) / 2
    place = [tracks.x(middle), tracks.y(1)]
    pinch = """([x, y]) => { for (let i = 0; i < 20; i++) document.querySelector('.timeline').dispatchEvent(
        new WheelEvent('wheel', {deltaY: -3, ctrlKey: true, clientX: x, clientY: y, bubbles: true}))}"""
    page.evaluate(pinch, place)
    eventually(lambda: (end - begin) / (tracks.fact("end") - tracks.fact("begin")) >= 4, True)
    assert tracks.fact("begin") < middle < tracks.fact("end")
    for _ in range(3):
        page.evaluate(pinch, place)
    eventually(lambda: tracks.fact("end") - tracks.fact("begin") <= 100, True)


@pytest.mark.slow
def test_two_fingers_zoom_and_move(page, serve):
    tracks = Tracks(page, serve(made_gemm()), "compute_unit")
    begin, end = tracks.fact("begin"), tracks.fact("end")
    fingers = """([a, b]) => { const box = document.querySelector('.timeline'); box.setPointerCapture = () => {};
      const send = (name, id, x) => box.dispatchEvent(new PointerEvent(name, {pointerId: id, pointerType: 'touch',
        clientX: x, clientY: 300, button: 0, bubbles: true}));
      send('pointerdown', 7, a[0]); send('pointerdown', 8, b[0]);
      for (let i = 1; i <= 10; i++) { send('pointermove', 7, a[0] + (a[1] - a[0]) * i / 10);
        send('pointermove', 8, b[0] + (b[1] - b[0]) * i / 10); }
      send('pointerup', 7, a[1]); send('pointerup', 8, b[1]); }"""
    page.evaluate(fingers, [[600, 400], [700, 900]])
    eventually(lambda: tracks.fact("end") - tracks.fact("begin") < (end - begin) / 4.5, True)
    assert "range=" not in fragment(page), "two fingers do not select"
    before = tracks.fact("begin")
    page.evaluate(fingers, [[600, 500], [700, 600]])
    eventually(lambda: tracks.fact("begin") > before, True)


@pytest.mark.parametrize("made", INPUTS)
def test_the_first_picture_is_that_of_the_traced_waves(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    tracks = Tracks(page, served, "compute_unit")
    first, last = traced_range(trace)
    assert tracks.fact("begin") <= first
    assert tracks.fact("end") >= min(last, time_range(trace)[1])
    assert last - first >= 0.97 * (tracks.fact("end") - tracks.fact("begin"))
    assert "time=" not in fragment(page)
    # times count from the start of the trace; the tooltip has the absolute one too
    page.wait_for_selector('html[data-asking="0"]')
    _ = track_under(tracks, tracks.y(3))
    start = float(tracks.tooltip.get_attribute("data-begin"))
    since = start - time_range(trace)[0]
    expect(tracks.tooltip).to_contain_text(f"start {since:,.0f} (absolute {start:,.0f})")
    # few tracks fill the height, up to a comfortable one
    used = tracks.fact("track-count") * tracks.fact("row-height")
    assert used > 0.7 * (tracks.box["height"] - tracks.fact("top")) or tracks.fact("row-height") == 44


@pytest.mark.slow
def test_curves_stand_beside_the_tracks(page, serve):
    tracks = Tracks(page, serve(made_gemm()), "compute_unit")
    height = tracks.view.locator(".timeline").bounding_box()["height"]
    tracks.view.locator('[data-action="tracks"]').click()
    tracks.view.locator('[data-choose="strip"]').select_option("resident waves")
    strip = tracks.view.locator('[data-strip="resident waves"]')
    expect(strip.locator("canvas")).to_be_visible()
    below = strip.bounding_box()
    assert below["y"] > tracks.box["y"] + tracks.view.locator(".timeline").bounding_box()["height"] - 2
    grip = strip.get_by_role("separator")
    grip.focus()
    page.keyboard.press("ArrowUp")
    eventually(lambda: strip.bounding_box()["height"], below["height"] + 16)
    strip.get_by_role("button", name="Above the tracks").click()
    eventually(lambda: strip.bounding_box()["y"] < tracks.view.locator(".timeline").bounding_box()["y"], True)
    strip.get_by_role("button", name="Fold").click()
    expect(strip.locator("canvas")).to_have_count(0)
    stored(page)
    page.reload()
    expect(strip.get_by_role("button", name="Unfold")).to_be_visible()
    strip.get_by_role("button", name="Close").click()
    eventually(lambda: tracks.view.locator(".timeline").bounding_box()["height"], height)
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
    page.locator('[data-action="bookmarks"]').click()
    expect(page.get_by_label("Note")).to_have_value("<b>loop</b>")
