"""Time and tracks selected by one drag: what is listed equals the analysis, and a line leads to what it lists."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.run_inputs import made_ranks, real_run
from tests.e2e.test_timelines import Tracks, address
from wavewright.analysis.run.gpu_time.timeline import run_area
from wavewright.analysis.trace.timeline.area import area_rows
from wavewright.page.protocol.timelines import tracks_from
from wavewright.page.run.layers import timeline_of

TRACES = [pytest.param(made_gemm, id="made"), pytest.param(lambda: real_trace("flash_attn_func", 38430), id="real")]
RUNS = [pytest.param(made_ranks, id="made"),
        pytest.param(lambda: real_run("rpd/matmul_result.rpd"), id="real")]  # fmt: skip


def dragged(tracks, first, last):
    """Drag from one row to another over the middle of the time; gives the selected tracks and time."""
    begin, end = tracks.fact("begin"), tracks.fact("end")
    page = tracks.page
    page.mouse.move(tracks.x(begin + 0.3 * (end - begin)), tracks.y(first))
    page.mouse.down()
    page.mouse.move(tracks.x(begin + 0.6 * (end - begin)), tracks.y(last), steps=5)
    page.mouse.up()
    page.wait_for_url("**tracks=*")
    chosen = address(page)
    return tracks_from(chosen["tracks"]), [int(float(part)) for part in chosen["range"].split("~")]


def read(view, columns):
    """The lines on screen, by the tooltips or texts of their cells."""
    view.locator(".row:not(.head)").first.wait_for()
    rows = view.locator(".row:not(.head)").all()
    return [[row.locator(f'[data-column="{name}"]').inner_text() for name in columns] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("made", TRACES)
def test_the_instructions_of_dragged_tracks_are_listed(page, serve, made):
    served = serve(made())
    tracks = Tracks(page, served, "compute_unit")
    (layer, numbers), (start, stop) = dragged(tracks, 2, 4)
    assert layer == "instructions"
    assert len(numbers) == 3
    expected = area_rows(served.library.document(0).trace, layer, numbers, start, stop)
    assert expected.execution_count > 20
    tracks.view.get_by_role("button", name="list").click()
    view = page.locator('[data-view="area"]')
    view.get_by_text(f"{expected.execution_count:,} executions").wait_for()
    names = ("execution_count", "latency_cycles_total", "stall_cycles_total", "issue_cycles_total")
    shown = read(view, ("row", *names))
    wanted = [
        [str(row), *(f"{value:,}" for value in values)] for row, *values in expected.rows.select("row", *names).rows()
    ]
    assert len(shown) > 3
    assert shown == wanted[: len(shown)]
    line = view.locator(".row:not(.head)").nth(2)
    line.locator('[data-column="execution_count"]').dblclick()
    page.wait_for_url(f"**row={wanted[2][0]}&*")
    trace = served.library.document(0).trace
    longest = trace.instructions.row(expected.rows["longest_item"][2], named=True)
    expect(page.locator('[data-view="compute_unit"]')).to_be_visible()
    page.wait_for_function(
        "most => { const f = document.querySelector('[data-view=compute_unit] .timeline-facts').dataset;"
        " return f.end - f.begin <= most }",
        arg=3 * max(longest["duration_cycles"], longest["stall_cycles"]) + 16,
    )
    # a drag on the axis takes all tracks
    page.go_back()
    tracks = Tracks(page, served, "compute_unit")
    middle = tracks.box["y"] + tracks.fact("top") - 6
    page.mouse.move(tracks.x(start), middle)
    page.mouse.down()
    page.mouse.move(tracks.x(stop), middle, steps=4)
    page.mouse.up()
    page.wait_for_url(lambda url: "tracks=" not in url and "range=" in url)


@pytest.mark.slow
@pytest.mark.parametrize("made", RUNS)
def test_the_events_of_dragged_tracks_are_listed(page, serve, made):
    served = serve(made())
    tracks = Tracks(page, served, "run_timeline", is_low=False)
    (layer, numbers), (start, stop) = dragged(tracks, 0, 3)
    expected = run_area(timeline_of(served.library.document(0)), numbers, start, stop)
    assert layer == "run"
    assert expected.event_count > 5
    tracks.view.locator(".timeline").focus()
    page.keyboard.press("Enter")
    view = page.locator('[data-view="run_area"]')
    view.get_by_text(f"{expected.event_count:,} events").wait_for()
    counts = [line[0] for line in read(view, ("event_count",))]
    assert counts == [f"{count:,}" for count in expected.names["event_count"]][: len(counts)]
    total = view.locator('.row:not(.head) [data-column="total_ns"] [title]').first.get_attribute("title")
    assert total == f"{expected.names['total_ns'][0]:,} ns"
    view.locator(".row:not(.head)").first.locator('[data-column="event_count"]').dblclick()
    page.wait_for_url(f"**span=run%3A{expected.names['longest_item'][0]}&*")
    expect(page.locator('[data-view="run_timeline"]')).to_be_visible()


@pytest.mark.slow
def test_a_track_that_is_selected_elsewhere_is_scrolled_to(page, serve):
    served = serve(made_ranks())
    last = timeline_of(served.library.document(0)).tracks.height - 1
    page.set_viewport_size({"width": 1280, "height": 420})
    tracks = Tracks(page, served, "run_timeline")
    assert tracks.fact("scroll") == 0
    page.evaluate(f"location.hash = location.hash.slice(1) + '&range=0~1000&tracks=run:{last}'")
    page.wait_for_function("Number(document.querySelector('.timeline-facts').dataset.scroll) > 0")
