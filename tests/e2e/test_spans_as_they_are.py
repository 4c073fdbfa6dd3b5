"""What a timeline draws and reads is what is there: names, counts, lengths, shares."""

from __future__ import annotations

import itertools
import re

import polars as pl
import pytest

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.run_inputs import real_run
from tests.e2e.test_timelines import HEADING, Tracks, address
from wavewright.analysis.common.time_bins import TimeBins
from wavewright.analysis.trace.clocks import aligned
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.timeline.layers.pipes import busy_shares, pipe_shares
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.page.run.layers import timeline_of
from wavewright.page.trace.times import time_range

expect = pytest.importorskip("playwright.sync_api").expect

AREA = """
(row) => {
  const view = document.querySelector('[data-view="utilization"]');
  const facts = view.querySelector('.timeline-facts').dataset;
  const canvas = view.querySelector('.timeline canvas');
  const tall = Number(facts.rowHeight);
  const y = Math.round(Number(facts.top) + 18 + row * tall);
  const x = Math.ceil(Number(facts.gutter)) + 1;
  const wide = canvas.width - x;
  const { data } = canvas.getContext('2d').getImageData(x, y, wide, tall);
  let [covered, columns] = [0, 0];
  for (let column = 0; column < wide; column++) {
    if (data[4 * ((tall - 1) * wide + column) + 3]) continue; // a line of the axis goes through the gap below the row
    columns++;
    for (let line = 0; line < tall - 1; line++) {
      covered += data[4 * (line * wide + column) + 3] / 255;
    }
  }
  return covered / (columns * (tall - 1));
}
"""
"""How much of the n-th row of the first group is drawn, pale or in full colour."""
TOLD = """
([pipe, column]) => {
  const bars = [...document.querySelectorAll('.utilization-shares .row')];
  const bar = bars.find((line) => line.querySelector('[data-column="pipe"]')?.textContent.trim() === pipe);
  return Number.parseFloat(bar?.querySelector(`[data-column="${column}"]`)?.textContent ?? "") / 100;
}
"""
"""The share that the table tells."""


def settled(page, condition: str, *given) -> None:
    """Wait until a page that may still be loading fulfils a condition."""
    page.wait_for_function(condition, arg=list(given))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "name", "length_ns", "margin_ns"),
    [
        ("rpd/mytrace.rpd.gz", "run_to_completion", 456_842_927, None),
        ("kineto-multirank-2of4/merged_ranks01.json.gz", "MIOpenBatchNormFwdTrainSpatial", 15_183, 5_000),
    ],
    ids=["the longest call of a run", "a dispatch, closely"],
)
def test_a_span_reads_as_itself_all_along(page, serve, path, name, length_ns, margin_ns):
    served = serve(real_run(path))
    timeline = timeline_of(served.library.document(0))
    kind = timeline.kinds.filter(pl.col("name") == name)["kind"][0]
    long = pl.col("end_ns") - pl.col("start_ns") == length_ns
    span = timeline.spans.filter(pl.col("kind") == kind, long).row(0, named=True)
    begin, end = span["start_ns"], span["end_ns"]
    shown = "" if margin_ns is None else f"&time={begin - margin_ns}~{end + margin_ns}"
    page.goto(f"{served.url}#layout=t(run_timeline;0){shown}")
    view = page.locator('[data-view="run_timeline"]')
    facts = view.locator(".timeline-facts")
    expect(facts).to_have_attribute("data-drawn", "true")
    page.wait_for_selector('html[data-asking="0"]')
    box = view.locator(".timeline").bounding_box()
    gutter, first, last, top, tall = (
        float(facts.get_attribute(f"data-{fact}")) for fact in ("gutter", "begin", "end", "top", "row-height")
    )
    assert timeline.tracks["group"][span["track"]] == timeline.tracks["group"][0], "it stands below the first heading"
    y = box["y"] + top + HEADING + (span["track"] + 0.5) * tall
    tooltip = view.locator(".tooltip")
    for share in (0.02, 0.5, 0.98):
        time = begin + share * (end - begin)
        page.mouse.move(box["x"] + gutter + (time - first) / (last - first) * (box["width"] - gutter), y)
        expect(tooltip).to_have_attribute("data-item", str(span["item"]))
        expect(tooltip).to_have_attribute("data-count", "1")
        expect(tooltip).to_have_attribute("data-begin", str(begin))
        expect(tooltip).to_have_attribute("data-length", str(length_ns))
        expect(tooltip.locator(".strong")).to_have_text(name)
        # what else is known of it comes after its name
        expect(tooltip.locator("div").nth(1)).not_to_have_text(re.compile("^start"))


def busy_between(trace, pipe: str, begin: int, end: int) -> tuple[float, float, float]:
    """How much of a stretch a pipe is busy, as the mean of all SIMDs; of their traced spans, and how much it issues."""
    stretch = TimeBins(begin, end, end - begin, 1)
    series = pipe_shares(trace)
    units = [one for one in series if one.pipe == "resident"]
    issues = sum(one.sums(stretch).integral[0] for one in series if one.pipe == pipe)
    long = [curve for curve in busy_shares(trace) if curve.pipe == pipe]
    busy = sum(curve.sums(stretch).integral[0] for curve in long) if long else issues
    spans = sum(max(0, min(end, one.end_cycles) - max(begin, one.start_cycles)) for one in units)
    return busy / (len(units) * (end - begin)), busy / spans, issues / spans


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "known"),
    [
        (made_gemm, {}),
        (lambda: real_trace("flash_attn_func", 38430), {"VALU": "41.8 %", "MATRIX": "23.8 %"}),
    ],
    ids=["made", "flash"],
)
def test_pipes_are_as_high_as_they_are_busy(page, serve, made, known):
    served = serve(made())
    trace = served.library.document(0).trace
    tracks = Tracks(page, served, "utilization")
    table = tracks.view.locator(".utilization-shares")
    pipes = list(dict.fromkeys(one.pipe for one in pipe_shares(trace) if one.pipe != "resident"))
    whole = {row["pipe"]: row for row in utilization(trace).pipes.iter_rows(named=True)}
    for stretch in ("all", "screen"):
        expect(table).to_have_attribute("data-shares-of", stretch)
        begin, end = round(tracks.fact("begin")), round(tracks.fact("end"))
        for row, pipe in enumerate(pipe for pipe in pipes if pipe != "no issue"):
            height, *shares = busy_between(trace, pipe, begin, end)
            settled(page, f"([row, height]) => Math.abs(({AREA})(row) - height) <= 0.02", row, height)
            for column, share in zip(("busy_share", "issue_share"), shares, strict=True):
                told = f"([pipe, column, share]) => Math.abs(({TOLD})([pipe, column]) - share) <= 0.002"
                settled(page, told, pipe, column, share)
                if stretch == "all":
                    assert share == pytest.approx(whole[pipe][column])
            if stretch == "all":
                line = table.locator(".row:not(.head)").filter(has=page.get_by_text(pipe, exact=True)).first
                told = line.locator('[data-column="busy_share"]')
                expect(told).to_contain_text(known.get(pipe, "%"))
        page.mouse.move(tracks.x((begin + end) / 2), tracks.y(1))
        for _ in range(5):
            tracks.key("w")


def test_a_drag_counts_the_waves_that_are_there(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    waves = aligned(trace, resident_waves(trace), "start_cycles", "end_cycles")
    tracks = Tracks(page, served, "global_view", time_range(trace))
    page.wait_for_selector('html[data-asking="0"]')
    begin, end = tracks.fact("begin"), tracks.fact("end")
    # a short stretch in which no wave begins or ends
    times = sorted({*waves["start_cycles"], *waves["end_cycles"]})
    quiet = max(itertools.pairwise(times), key=lambda pair: pair[1] - pair[0])
    middle = sum(quiet) / 2
    pixels = 8
    time = (end - begin) / (tracks.box["width"] - tracks.fact("gutter")) * pixels
    axis = tracks.box["y"] + tracks.fact("top") - 6  # on the axis: the time of all tracks
    page.mouse.move(tracks.x(middle - time / 2), axis)
    page.mouse.down()
    page.mouse.move(tracks.x(middle + time / 2), axis, steps=4)
    page.mouse.up()
    page.wait_for_url("**range=*")
    first, last = (float(part) for part in address(page)["range"].split("~"))
    there = waves.filter(pl.col("start_cycles") < last, pl.col("end_cycles") > first).height
    assert there > 10
    expect(tracks.facts_of).to_have_attribute("data-counted", f"{there:,} waves")


def test_utilization_asks_for_issues_only_where_a_cycle_has_a_pixel(page, serve):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    served = serve(made_gemm())
    view = page.locator('[data-view="utilization"]')

    def settled_at(address: str) -> bool:
        page.goto(served.url + address)
        expect(view.locator(".utilization-shares .row").nth(1)).to_be_visible()
        settled(page, "() => document.documentElement.dataset.asking === '0'")
        return any("spans?layer=pipes" in url for url in asked)

    assert not settled_at("#layout=t(utilization;0)")
    begin, _ = time_range(served.library.document(0).trace)
    assert settled_at(f"#layout=t(utilization;0)&time={begin}~{begin + 300}")
