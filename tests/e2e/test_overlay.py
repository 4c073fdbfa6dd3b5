"""Two traces on one time axis: by how much the earlier one is moved, and which executions are marked on both sides."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, other_gemm, real_trace
from tests.e2e.numbers import exact
from tests.e2e.run_inputs import made_ranks
from wavewright.analysis.trace.compare import compare
from wavewright.page.run.layers import layers_of_run, timeline_of
from wavewright.page.trace.answers import loops_of, wave_loops
from wavewright.page.trace.waves import wave, waves


@pytest.fixture(params=["made", "flash attention"])
def pair(request, serve):
    if request.param == "made":
        return serve(made_gemm(), other_gemm())
    return serve(real_trace("flash_attn_func", 38430), real_trace("flash_attn_func", 55287))


def show(page, served, more: str = ""):
    page.goto(f"{served.url}#document=1{more}&layout=t(overlay;0)")
    view = page.locator('[data-view="overlay"]')
    view.locator('.timeline-facts[data-drawn="true"]').wait_for(state="attached")
    return view


def offset(view) -> float:
    """The offset, after what is said of it in words was read, too."""
    place = view.locator("[data-offset]")
    place.wait_for()
    moved = float(place.get_attribute("data-offset"))
    sign = "-" if moved < 0 else "+"
    expect(place).to_have_text(f"before moved by {sign}{exact(abs(moved))} cycles")
    return moved


def target_waves(view) -> tuple[int, int]:
    own, base = view.locator("[data-waves]").get_attribute("data-waves").split("/")
    return int(own), int(base)


def starts(document):
    return waves(document)["start_cycles"].min()


@pytest.mark.slow
def test_first_waves_start_together(page, pair):
    view = show(page, pair)
    before, after = pair.library.documents[:2]
    assert offset(view) == starts(after) - starts(before)
    tracks = sum(waves(document).select("se", "cu", "simd", "slot").unique().height for document in (before, after))
    expect(view.locator(".timeline-facts")).to_have_attribute("data-track-count", str(tracks))


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 3])
def test_iterations_of_a_loop_start_together(page, pair, number):
    view = show(page, pair)
    view.get_by_label("Aligned by").select_option("loop")
    view.get_by_label("Iteration").fill(str(number))
    view.get_by_label("Iteration").press("Enter")
    own, base = target_waves(view)
    before, after = pair.library.documents[:2]
    loop = max(loops_of(after)["loops"]["rows"], key=lambda row: row["self_cycles_share"])
    units = compare([before.trace, after.trace], force=True).units
    start = units.filter(pl.col("row") == loop["start_row"])["base_row"][0]
    around = [row for row in loops_of(before)["loops"]["rows"] if row["first_row"] <= start <= row["last_row"]]
    partner = max(around, key=lambda row: row["depth"])
    begins = [
        wave_loops(document, wave=of_wave).filter(pl.col("loop") == which["loop"])["start_cycles"][number - 1]
        for document, of_wave, which in ((after, own, loop), (before, base, partner))
    ]
    expect(view.locator("[data-offset]")).to_have_attribute("data-offset", f"{begins[0] - begins[1]:.0f}")
    assert offset(view) == begins[0] - begins[1]


@pytest.mark.slow
def test_an_instruction_and_its_partner_are_marked_and_aligned(page, pair):
    before, after = pair.library.documents[:2]
    units = compare([before.trace, after.trace], force=True).units
    both = units.filter(
        pl.col("row").is_not_null() & pl.col("base_row").is_not_null() & (pl.col("hit_count_per_wave") > 1)
    )
    unit = both.filter(pl.col("base_hit_count_per_wave") > 1).sort("unit").row(-1, named=True)
    view = show(page, pair, f"&row={unit['row']}&iteration=1")
    view.get_by_label("Aligned by").select_option("row")
    own, base = target_waves(view)
    times = [
        wave(document, wave=of_wave).filter(pl.col("row") == row)["time_cycles"][1]
        for document, of_wave, row in ((after, own, unit["row"]), (before, base, unit["base_row"]))
    ]
    expect(view.locator("[data-offset]")).to_have_attribute("data-offset", f"{times[0] - times[1]:.0f}")
    marked = view.locator("[data-marked]")
    expect(marked).to_have_attribute("data-marked", _both_at(times[0]))
    focus = json.loads(marked.get_attribute("data-marked"))
    assert [each["begin"] for each in focus] == [times[0], times[0]]


def _both_at(time):
    return re.compile(rf'^\[\{{"begin":{time:.0f},.*\{{"begin":{time:.0f},')


@pytest.mark.slow
def test_one_is_below_the_other_if_that_is_chosen(page, serve):
    view = show(page, serve(made_gemm(), other_gemm()))
    count = view.locator(".timeline-facts").get_attribute("data-track-count")
    view.get_by_label("Arrangement").select_option("traces")
    expect(view.locator(".timeline-facts")).to_have_attribute("data-track-count", count)


@pytest.mark.slow
def test_without_a_selected_instruction_it_says_what_to_do(page, serve):
    view = show(page, serve(made_gemm(), other_gemm()))
    view.get_by_label("Aligned by").select_option("row")
    expect(view.locator("[data-why]")).to_contain_text("select an instruction")


@pytest.mark.slow
def test_the_time_reaches_as_far_as_both(page, serve):
    """The baseline may end later: its last waves can be looked at, too."""
    served = serve(other_gemm(), made_gemm())
    view = show(page, served)
    before = served.library.documents[0]
    last = waves(before)["end_cycles"].max() + offset(view)
    facts = view.locator(".timeline-facts")
    assert float(facts.get_attribute("data-end")) >= last


@pytest.mark.slow
def test_runs_are_aligned_by_their_start_or_an_event(page, serve):
    served = serve(made_ranks(), made_ranks(is_slow=True))
    before, after = served.library.documents[:2]
    starts = [timeline_of(document).spans for document in (before, after)]
    kinds = [
        {kind["name"]: kind["kind"] for kind in layers_of_run(document)["layers"][0]["kinds"]}
        for document in (before, after)
    ]
    name = after.run.read("dispatches", ["name"])["name"].cast(pl.String)[0]
    page.goto(f"{served.url}#document=1&kernelName={quote(name)}&layout=t(run_overlay;0)")
    view = page.locator('[data-view="run_overlay"]')
    expect(view.locator("[data-offset]")).to_have_attribute("data-offset", "0")
    view.get_by_label("Aligned by").select_option("event")
    first = [
        spans.filter(pl.col("kind") == names[name])["start_ns"].min()
        for spans, names in zip(starts, kinds, strict=True)
    ]
    expect(view.locator("[data-offset]")).to_have_attribute("data-offset", f"{first[1] - first[0]:.0f}")
    view.locator('.timeline-facts[data-drawn="true"]').wait_for(state="attached")
