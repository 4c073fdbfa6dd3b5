"""Time and lanes selected by one drag: what is listed equals the analysis, and a line leads to what it lists."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.run_inputs import made_ranks, real_run
from tests.e2e.test_timelines import Lanes, address
from wavewright.analysis.run.gpu_time.area import run_area
from wavewright.analysis.trace.timeline.area import area_rows
from wavewright.page.area import lanes_from
from wavewright.page.run.tracks import timeline_of

TRACES = [pytest.param(made_gemm, id="made"), pytest.param(lambda: real_trace("flash_attn_func", 38430), id="real")]
RUNS = [pytest.param(made_ranks, id="made"),
        pytest.param(lambda: real_run("rpd/matmul_result.rpd"), id="real")]  # fmt: skip


def dragged(lanes, first, last):
    """Drag from one row to another over the middle of the time; gives the selected lanes and time."""
    begin, end = lanes.fact("begin"), lanes.fact("end")
    page = lanes.page
    page.mouse.move(lanes.x(begin + 0.3 * (end - begin)), lanes.y(first))
    page.mouse.down()
    page.mouse.move(lanes.x(begin + 0.6 * (end - begin)), lanes.y(last), steps=5)
    page.mouse.up()
    page.wait_for_url("**lanes=*")
    chosen = address(page)
    return lanes_from(chosen["lanes"]), [int(float(part)) for part in chosen["range"].split("~")]


def read(view, columns):
    """The lines on screen, by the tooltips or texts of their cells."""
    view.locator(".row:not(.head)").first.wait_for()
    rows = view.locator(".row:not(.head)").all()
    return [[row.locator(f'[data-column="{name}"]').inner_text() for name in columns] for row in rows]


@pytest.mark.parametrize("made", TRACES)
def test_the_instructions_of_dragged_lanes_are_listed(page, serve, made):
    served = serve(made())
    lanes = Lanes(page, served, "compute_unit")
    (track, numbers), (start, stop) = dragged(lanes, 2, 4)
    assert track == "instructions"
    assert len(numbers) == 3
    expected = area_rows(served.library.document(0).trace, track, numbers, start, stop)
    assert expected.execution_count > 20
    lanes.view.get_by_role("button", name="list").click()
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
    # a drag on the axis takes all lanes
    page.go_back()
    lanes = Lanes(page, served, "compute_unit")
    middle = lanes.box["y"] + lanes.fact("top") - 6
    page.mouse.move(lanes.x(start), middle)
    page.mouse.down()
    page.mouse.move(lanes.x(stop), middle, steps=4)
    page.mouse.up()
    page.wait_for_url(lambda url: "lanes=" not in url and "range=" in url)


@pytest.mark.parametrize("made", RUNS)
def test_the_events_of_dragged_lanes_are_listed(page, serve, made):
    served = serve(made())
    lanes = Lanes(page, served, "run_timeline", is_low=False)
    (track, numbers), (start, stop) = dragged(lanes, 0, 3)
    expected = run_area(timeline_of(served.library.document(0)), numbers, start, stop)
    assert track == "run"
    assert expected.event_count > 5
    lanes.view.locator(".timeline").focus()
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
def test_a_lane_that_is_selected_elsewhere_is_scrolled_to(page, serve):
    served = serve(made_ranks())
    last = timeline_of(served.library.document(0)).lanes.height - 1
    page.set_viewport_size({"width": 1280, "height": 420})
    lanes = Lanes(page, served, "run_timeline")
    assert lanes.fact("scroll") == 0
    page.evaluate(f"location.hash = location.hash.slice(1) + '&range=0~1000&lanes=run:{last}'")
    page.wait_for_function("Number(document.querySelector('.timeline-facts').dataset.scroll) > 0")
