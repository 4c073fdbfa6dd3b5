"""Global view, Wave states, Occupancy, Utilization: what waves look like, how many there are, how they stack up."""

from __future__ import annotations

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace, two_kernels
from tests.e2e.test_span_colours import colours_at
from tests.e2e.test_timelines import SLOT, Tracks, rows_before
from tests.e2e.waiting import settled
from wavewright.analysis.trace.clocks import alignment
from wavewright.analysis.trace.waves.resident import resident_waves

INPUTS = [pytest.param(made_gemm, id="made"), pytest.param(lambda: real_trace("softmax", 47920), id="real")]


def aligned_waves(trace):
    offsets = alignment(trace).offsets
    offset = pl.col("se").replace_strict(offsets, default=0, return_dtype=pl.Int64)
    return resident_waves(trace).with_columns(pl.col("start_cycles") + offset, pl.col("end_cycles") + offset)


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_waves_that_overlap_the_selection_are_counted(page, serve, made):
    served = serve(made())
    waves = aligned_waves(served.library.document(0).trace)
    first, last = waves["start_cycles"].min(), waves["end_cycles"].max()
    begin, end = first + (last - first) * 2 // 5, first + (last - first) // 2
    expected = waves.filter(pl.col("start_cycles") < end, pl.col("end_cycles") > begin).height
    assert expected > 10
    tracks = Tracks(page, served, "global_view", (first, f"{last}&range={begin}~{end}"))
    expect(tracks.facts_of).to_have_attribute("data-counted", f"{expected:,} waves")
    # what is selected keeps its colours, what is not fades
    settled(page)
    inside, outside = (tracks.x(at) - tracks.box["x"] for at in ((begin + end) / 2, end + (last - end) / 3))
    top = """([x]) => { const canvas = document.querySelector('.timeline-top canvas');
      const scale = canvas.width / canvas.clientWidth;
      return canvas.getContext('2d').getImageData(x * scale, canvas.height - 40, 1, 1).data[3] }"""
    assert page.evaluate(top, [outside]) > page.evaluate(top, [inside])


@pytest.mark.slow
@pytest.mark.parametrize("made", INPUTS)
def test_waves_have_the_colour_of_their_duration(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    tracks = Tracks(page, served, "global_view")
    tracks.view.locator("[data-colour-by]").select_option("duration")
    settled(page)
    tracks.view.get_by_role("button", name="Legend").click()
    tracks.view.locator(".legend-list > div").first.wait_for()
    entries = tracks.view.locator(".legend-list > div").all()
    upper = [int(entry.locator("dt").inner_text().split()[-2].replace(",", "")) for entry in entries]
    colours = [entry.locator("i").evaluate("i => getComputedStyle(i).backgroundColor") for entry in entries]
    assert upper == sorted(upper)
    assert len(set(colours)) == len(colours)
    page.keyboard.press("Escape")
    waves = aligned_waves(trace)
    assert upper[-1] == (waves["end_cycles"] - waves["start_cycles"]).max()
    # the first long wave of the first slots has the colour of its length
    slots = trace.occupancy.select(SLOT).unique().sort(SLOT).with_row_index("row")
    placed = waves.join(slots, on=SLOT).filter(pl.col("row") < 10).sort("row", "start_cycles")
    before = rows_before(served, slots["se"][0])
    checked = 0
    for wave in placed.unique("row", keep="first", maintain_order=True).iter_rows(named=True):
        length = wave["end_cycles"] - wave["start_cycles"]
        expected = colours[next(n for n, most in enumerate(upper) if length <= most)]
        at = wave["start_cycles"] + 0.5 * length
        y = tracks.y(wave["row"] + before, 0.3)
        seen = colours_at(tracks, tracks.x(at), y)[0]
        assert f"rgb({seen[0]}, {seen[1]}, {seen[2]})" == expected
        checked += 1
    assert checked >= 4


@pytest.mark.slow
def test_waves_have_the_colour_of_their_dispatch(page, serve):
    served = serve(two_kernels())
    tracks = Tracks(page, served, "global_view")
    tracks.view.locator("[data-colour-by]").select_option("dispatch")
    buttons = tracks.view.locator(".kind-legend .kinds button")
    expect(buttons).to_have_count(2)
    assert buttons.all_inner_texts() == ["dispatch 1", "dispatch 2"]
    page.reload()
    expect(tracks.view.locator("[data-colour-by]")).to_have_value("dispatch")


@pytest.mark.parametrize("made", INPUTS)
def test_wave_states_are_stacked_to_the_resident_waves(page, serve, made):
    served = serve(made())
    trace = served.library.document(0).trace
    page.goto(f"{served.url}#layout=t(wave_states;0)")
    view = page.locator('[data-view="wave_states"]')
    view.locator("[data-series='EXEC']").wait_for()
    expect(view.locator("[data-shape]")).to_have_value("stacked")
    settled(page)
    box = view.locator(".curve-canvas").bounding_box()
    # where most waves are: the stack is as high as their number
    offsets = alignment(trace).offsets
    offset = pl.col("se").replace_strict(offsets, default=0, return_dtype=pl.Int64)
    waves = trace.waves.filter(pl.col("state_count") > 0).select(
        pl.col("start_cycles") + offset, pl.col("end_cycles") + offset
    )
    begin, end = waves["start_cycles"].min(), waves["end_cycles"].max()
    page.mouse.move(box["x"] + 58 + (box["width"] - 64) * 0.3, box["y"] + 60)
    view.locator('[data-cursor="exact"]').wait_for()
    total = float(view.locator("[data-total]").get_attribute("data-total"))
    heading = view.locator("[data-cursor]").inner_text()
    cycle = int(heading.split("·")[0].replace("cycle", "").replace(",", ""))
    expected = waves.filter(pl.col("start_cycles") <= cycle, pl.col("end_cycles") > cycle).height
    assert begin < cycle < end
    assert total == expected > 0
    # the column of that cycle is filled from the foot to the height of the sum, with colours of states only
    column = page.evaluate(
        """([x]) => { const canvas = document.querySelector('.curve-canvas canvas');
        const scale = canvas.width / canvas.clientWidth;
        const data = canvas.getContext('2d').getImageData(x * scale, 0, 1, canvas.height).data;
        let n = 0; for (let i = 0; i < data.length; i += 4) {
          const rgb = [data[i], data[i + 1], data[i + 2]].join();
          if (['47,174,84', '227,213,74', '229,72,77', '90,98,112'].includes(rgb)) n++; }
        return n / canvas.height }""",
        [58 + (box["width"] - 64) * 0.3 + 3],
    )
    assert column > 0.05


@pytest.mark.slow
def test_many_curves_stand_in_strips(page, serve):
    served = serve(real_trace("flash_attn_func", 38430))
    page.goto(f"{served.url}#layout=t(occupancy;0)")
    view = page.locator('[data-view="occupancy"]')
    shape = view.locator("[data-shape]")
    expect(shape).to_have_value("stacked")
    shape.select_option("strips")
    settled(page)
    count = view.locator("[data-series]").count()
    filled = page.evaluate(
        """() => { const canvas = document.querySelector('.curve-canvas canvas');
        const x = 70 * canvas.width / canvas.clientWidth;
        const { data } = canvas.getContext('2d').getImageData(x, 0, 1, canvas.height);
        const seen = []; for (let i = 0; i < data.length; i += 4) {
          const rgb = [data[i], data[i + 1], data[i + 2]].join(); if (seen.at(-1) !== rgb) seen.push(rgb); }
        return seen }"""
    )
    assert len({colour for colour in filled if filled.count(colour) == 1}) >= count


@pytest.mark.slow
def test_percents_stand_beside_their_bars(page, serve):
    served = serve(made_gemm())
    tracks = Tracks(page, served, "utilization")
    shares = tracks.view.locator(".utilization-shares .share")
    shares.first.wait_for()
    for share in shares.all():
        bar, whole = share.locator("span").bounding_box(), share.bounding_box()
        texts = share.evaluate(
            "node => { const range = document.createRange(); range.selectNodeContents(node.lastChild);"
            " return range.getBoundingClientRect().left }"
        )
        assert bar["x"] + bar["width"] <= texts
        assert bar["width"] > 0.2 * whole["width"]


@pytest.mark.slow
def test_steppers_keep_their_words_in_a_narrow_window(page, serve):
    page.set_viewport_size({"width": 800, "height": 700})
    served = serve(made_gemm())
    page.goto(f"{served.url}#layout=t(isa;0)&row=40&wave=0&iteration=0")
    steppers = page.locator(".stepper")
    expect(steppers.first.get_by_text("exec.", exact=True)).to_be_visible()
    expect(steppers.nth(1).get_by_text("loop", exact=True)).to_be_attached()
