"""Compute unit, Global view, Utilization: what the pointer reads equals the tables; what is clicked is selected."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.menus import save
from tests.e2e.waiting import fragment
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.page.trace.spans import layers_of_trace
from wavewright.page.trace.times import time_range, traced_range

INPUTS = [pytest.param(made_gemm, id="made"), pytest.param(lambda: real_trace("flash_attn_func", 38430), id="real")]
HEADING = 18
SLOT = ["se", "cu", "simd", "slot"]


WINDOW, LOW = ({"width": 1280, "height": height} for height in (800, 480))


class Tracks:
    """One timeline that fills the page: from times and rows to places, and what it says about itself."""

    def __init__(self, page, served, view, time=None, *, is_low=True):
        self.page = page
        if is_low and page.viewport_size == WINDOW:  # without a GPU, what a large canvas costs is drawing it
            page.set_viewport_size(LOW)
        shown = f"&time={time[0]}~{time[1]}" if time else ""
        page.goto(f"{served.url}#layout=t({view};0){shown}")
        self.view = page.locator(f'[data-view="{view}"]')
        self.tooltip = self.view.locator(".tooltip")
        self.facts_of = self.view.locator(".timeline-facts")
        self.facts_of.wait_for(state="attached")
        page.wait_for_function(f"Number(document.querySelector('[data-view={view}] .timeline-facts').dataset.end) > 1")
        self.box = self.view.locator(".timeline").bounding_box()

    def fact(self, name):
        return float(self.facts_of.get_attribute(f"data-{name}"))

    def x(self, time):
        """Where a time stands on the page."""
        gutter, begin, end = self.fact("gutter"), self.fact("begin"), self.fact("end")
        return self.box["x"] + gutter + (time - begin) / (end - begin) * (self.box["width"] - gutter)

    def y(self, row, share=0.3):
        """Where the n-th row of the first group stands: a bit above its middle, where its main track is."""
        height = self.fact("row-height")
        return self.box["y"] + self.fact("top") + HEADING + (row + share) * height

    def read(self, time, y):
        """The tooltip at a place."""
        self.page.mouse.move(self.x(time), y)
        self.page.wait_for_selector('html[data-asking="0"]')
        self.page.wait_for_function("document.querySelector('.tooltip')?.dataset.count === '1'")
        return {
            name: float(self.tooltip.get_attribute(f"data-{name}")) for name in ("begin", "length", "track", "item")
        }

    def key(self, key):
        """Press a key in the timeline; gives the stretch that is shown then."""
        self.view.locator(".timeline").focus()
        self.page.keyboard.press(key)
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return self.fact("begin"), self.fact("end")


def address(page):
    return {name: values[0] for name, values in parse_qs(fragment(page)).items()}


def rows_before(served, se):
    """Rows above the first wave of a shader engine: its events."""
    layers = {layer["name"]: layer for layer in layers_of_trace(served.library.document(0))["layers"]}
    return sum(track["se"] == se for track in layers.get("events", {"tracks": []})["tracks"])


def first_slot(trace):
    """The waves of the first slot that has any, in time order, with aligned begin."""
    offsets = alignment(trace).offsets
    waves = trace.waves.filter(pl.col("instruction_count") > 0).sort(*SLOT, "start_cycles")
    place = waves.row(0, named=True)
    same = waves.filter(pl.all_horizontal(pl.col(name) == place[name] for name in SLOT))
    return same, offsets.get(place["se"], 0)


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_an_instruction_is_read_and_selected(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    waves, offset = first_slot(trace)
    wave = waves.row(0, named=True)
    first = wave["first_instruction"]
    table = trace.instructions.with_row_index("item").slice(first, min(wave["instruction_count"], 40))
    length = pl.max_horizontal("stall_cycles", "duration_cycles")
    # the longest one of the beginning: no other one begins with it
    unique = table.filter(pl.col("time_cycles").is_unique()).with_columns(length=length)
    expected = unique.sort("length", descending=True).row(0, named=True)
    begin = expected["time_cycles"] + offset
    time = (begin - 200, begin + expected["length"] + 200)
    tracks = Tracks(page, served, "compute_unit", time, is_low=False)  # low tracks show states
    y = tracks.y(rows_before(served, wave["se"]))
    middle = begin + expected["length"] / 2
    found = tracks.read(middle, y)
    assert (found["begin"], found["length"], found["item"]) == (begin, expected["length"], expected["item"])
    text = trace.code.filter(pl.col("row") == expected["row"])["text"][0]
    tracks.tooltip.get_by_text(text, exact=True).wait_for()
    of_row = table.filter(pl.col("row") == expected["row"])["item"].to_list()
    tracks.tooltip.get_by_text(
        f"· execution {of_row.index(expected['item']) + 1} ·"
    ).wait_for()  # as the stepper counts
    page.mouse.click(tracks.x(middle), y)
    page.wait_for_url("**row=*")
    tracks.tooltip.wait_for(state="detached")  # it would cover what was selected
    chosen = address(page)
    assert (int(chosen["row"]), int(chosen["wave"])) == (expected["row"], wave["wave"])
    assert int(chosen["iteration"]) == of_row.index(expected["item"])
    # the next instruction of the wave
    tracks.key("ArrowRight")
    following = trace.instructions["row"][expected["item"] + 1]
    page.wait_for_function(
        "row => new URLSearchParams(location.hash.slice(1)).get('row') === String(row)", arg=following
    )
    expect(tracks.view.get_by_text("History (1)")).to_be_visible()
    page.mouse.dblclick(tracks.x(middle), y)
    page.wait_for_function(f"document.querySelector('.timeline-facts').dataset.begin > {begin - expected['length']}")
    assert tracks.fact("begin") == pytest.approx(max(begin - 0.1 * expected["length"], time_range(trace)[0]), abs=1)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "ratio"), [(1280, 800, 2), (3840, 2160, 1)])
def test_the_same_is_read_on_other_screens(browser, serve, width, height, ratio):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    waves, offset = first_slot(trace)
    wave = waves.row(0, named=True)
    table = trace.instructions.slice(wave["first_instruction"], 40).filter(pl.col("time_cycles").is_unique())
    expected = table.sort("duration_cycles", descending=True).row(0, named=True)
    begin, length = expected["time_cycles"] + offset, max(expected["stall_cycles"], expected["duration_cycles"])
    context = browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=ratio, color_scheme="light", bypass_csp=True
    )
    tracks = Tracks(context.new_page(), served, "compute_unit", (begin - 1000, begin + length + 1000))
    found = tracks.read(begin + length / 2, tracks.y(rows_before(served, wave["se"])))
    context.close()
    assert (found["begin"], found["length"]) == (begin, length)


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_a_drag_measures_and_keys_move_the_window(page, serve, made):
    served = serve(made())
    tracks = Tracks(page, served, "compute_unit")
    begin, end = tracks.fact("begin"), tracks.fact("end")
    trace = served.library.document(0).trace
    first, last = traced_range(trace)
    whole = tuple(float(bound) for bound in time_range(trace))
    margin = max(8, 0.01 * (last - first))  # the first picture is that of the traced waves
    assert (begin, end) == pytest.approx((max(whole[0], first - margin), min(whole[1], last + margin)))
    width = end - begin
    wanted = (round(begin + 0.25 * width), round(begin + 0.5 * width))
    page.mouse.move(tracks.x(wanted[0]), tracks.y(2))
    page.mouse.down()
    page.mouse.move(tracks.x(wanted[1]), tracks.y(3), steps=4)
    page.mouse.up()
    page.wait_for_url("**range=*")
    measured = [float(part) for part in address(page)["range"].split("~")]
    pixel = width / (tracks.box["width"] - tracks.fact("gutter"))
    assert measured == pytest.approx(wanted, abs=pixel + 1)
    page.mouse.move(tracks.x(begin + 0.5 * width), tracks.y(3))
    closer = tracks.key("w")
    assert closer[1] - closer[0] == pytest.approx(width / 1.5)
    assert sum(closer) / 2 == pytest.approx(begin + 0.5 * width, abs=2 * pixel)
    later = tracks.key("d")
    assert later[0] - closer[0] == pytest.approx(0.2 * width / 1.5)
    assert tracks.key("f")[0] <= measured[0]
    # the overview moves the window: a press centres it, a drag takes it along
    shown = tracks.key("w")
    overview = tracks.box["y"] + 8
    gutter = tracks.fact("gutter")
    place = tracks.box["x"] + gutter + 0.5 * (tracks.box["width"] - gutter)
    page.mouse.move(place, overview)
    page.mouse.down()
    page.mouse.move(place + 40, overview, steps=3)
    page.mouse.up()
    page.wait_for_function(f"document.querySelector('.timeline-facts').dataset.begin != {shown[0]}")
    assert tracks.fact("end") - tracks.fact("begin") == pytest.approx(shown[1] - shown[0])
    assert tracks.key("0") == (begin, end)
    assert tracks.key("0") == whole
    assert tracks.key("0") == (begin, end)
    tracks.key("Escape")
    page.wait_for_url(lambda url: "range=" not in url)
    expect(tracks.facts_of).to_have_attribute("aria-label", re.compile(re.escape(f"{begin:,.0f} to {end:,.0f} cycles")))


@pytest.mark.slow
def test_engines_are_hidden_and_groups_folded(page, serve):
    served = serve(made_gemm())
    tracks = Tracks(page, served, "compute_unit")
    whole = tracks.fact("track-count")
    slots = served.library.document(0).trace.waves.select(SLOT).unique()
    tracks.view.get_by_role("button", name="SE 0").click()
    page.wait_for_function(f"document.querySelector('.timeline-facts').dataset.trackCount < {whole}")
    hidden = slots.filter(pl.col("se") == 0).height + rows_before(served, 0)
    assert tracks.fact("track-count") == whole - hidden
    tracks.view.get_by_role("button", name="SE 0").click()
    page.mouse.click(tracks.box["x"] + 10, tracks.box["y"] + tracks.fact("top") + HEADING / 2)
    page.wait_for_function(f"document.querySelector('.timeline-facts').dataset.trackCount == {whole - hidden + 1}")


@pytest.mark.slow
def test_tracks_become_taller_and_scroll(page, serve):
    tracks = Tracks(page, serve(made_gemm()), "compute_unit")
    before = tracks.fact("row-height")
    for _ in range(5):
        tracks.key("+")
    assert tracks.fact("row-height") > before
    begin, end = tracks.fact("begin"), tracks.fact("end")
    page.mouse.move(tracks.x((begin + end) / 2), tracks.y(2))
    page.mouse.wheel(0, 120)
    page.wait_for_function("document.querySelector('.timeline-facts').dataset.scroll == 120")
    assert (tracks.fact("begin"), tracks.fact("end")) == (begin, end), "scrolling tracks does not move time"
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_function(f"document.querySelector('.timeline-facts').dataset.begin > {begin}")
    assert tracks.fact("scroll") == 120, "zooming time does not scroll tracks"


@pytest.mark.parametrize("made", INPUTS)
def test_the_global_view_reads_waves_and_selects_traced_ones(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    resident = resident_waves(trace).with_row_index("item")
    wave = trace.waves.filter(pl.col("complete")).sort("se", "start_cycles").row(0, named=True)
    offset = alignment(trace).offsets.get(wave["se"], 0)
    same = pl.all_horizontal(pl.col(name) == wave[name] for name in (*SLOT, "start_cycles"))
    expected = resident.filter(same).row(0, named=True)
    tracks = Tracks(
        page, served, "global_view", (wave["start_cycles"] + offset - 100, wave["end_cycles"] + offset + 100)
    )
    slots = trace.occupancy.select(SLOT).unique().sort(SLOT)
    engines = slots["se"].unique().sort().to_list()
    assert tracks.fact("track-count") == slots.height + sum(rows_before(served, se) for se in engines)
    index = slots.filter(pl.col("se") == wave["se"]).with_row_index("row")
    row = index.filter(pl.all_horizontal(pl.col(name) == wave[name] for name in SLOT))["row"][0]
    assert wave["se"] == engines[0], "the wave stands in the first group"
    y = tracks.y(row + rows_before(served, wave["se"]), 0.5)
    middle = (wave["start_cycles"] + wave["end_cycles"]) / 2 + offset
    assert y < tracks.box["y"] + tracks.box["height"], "the wave stands on the first screen"
    found = tracks.read(middle, y)
    assert found["begin"] == expected["start_cycles"] + offset
    assert found["length"] == expected["end_cycles"] - expected["start_cycles"]
    assert found["item"] == expected["item"]
    page.mouse.click(tracks.x(middle), y)
    page.wait_for_url("**wave=*")
    assert int(address(page)["wave"]) == wave["wave"]
    kernel = trace.kernels.row(0, named=True)
    tracks.view.locator(f'.kind-legend [data-kind="{kernel["kernel"]}"]').click()
    page.wait_for_url("**kernel=*")
    assert address(page)["kernel"] == str(kernel["kernel"])


@pytest.mark.parametrize("made", INPUTS)
def test_the_utilization_is_that_of_the_analysis(page, serve, made):
    served = serve(made())
    answer = utilization(served.library.document(0).trace)
    tracks = Tracks(page, served, "utilization")
    busy = answer.pipes.filter(pl.col("issue_cycles_total") > 0)
    rows = tracks.view.locator(".utilization-shares .row:not(.head)")
    rows.first.wait_for()
    shown = [
        (
            row.locator('[data-column="pipe"]').inner_text(),
            row.locator('[data-column="issue_share"]').inner_text().strip(),
        )
        for row in rows.all()
    ]
    expected = [(pipe, f"{share * 100:.1f} %") for pipe, share in busy.select("pipe", "issue_share").iter_rows()]
    assert shown == [*expected, ("no issue", f"{answer.bubble_share * 100:.1f} %")]
    tracks.view.get_by_text(f"No pipe issues in {answer.bubble_share * 100:.1f} % of cycles").wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("view", ["compute_unit", "global_view", "utilization"])
def test_the_picture_is_saved(page, serve, view, tmp_path):
    tracks = Tracks(page, serve(made_gemm()), view)
    page.wait_for_selector('html[data-asking="0"]')
    for form, begins in (("png", b"\x89PNG"), ("svg", b"<svg")):
        with page.expect_download() as download:
            save(tracks.view, form)
        saved = tmp_path / f"{view}.{form}"
        download.value.save_as(saved)
        content = saved.read_bytes()
        assert content.startswith(begins)
        assert len(content) > 5000
    assert b"SE 0" in content


@pytest.mark.slow
def test_every_pixel_of_a_thin_row_is_clicked_as_it_is_read(page, serve):
    served = serve(real_trace("flash_attn_func", 38430))
    waves, offset = first_slot(served.library.document(0).trace)
    begin = waves.row(0, named=True)["start_cycles"] + offset
    tracks = Tracks(page, served, "compute_unit", (begin, begin + 4000))
    while tracks.fact("row-height") > 7:
        tracks.key("-")
    for pixel in range(int(tracks.fact("row-height"))):
        tracks.key("Escape")
        page.keyboard.press("Escape")
        tracks.box = tracks.view.locator(".timeline").bounding_box()
        y = tracks.y(0, 0) + pixel + 0.5
        read = tracks.read(begin + 2000, y)
        page.mouse.click(tracks.x(begin + 2000), y)
        page.wait_for_url("**row=*")
        assert read["item"] >= 0
