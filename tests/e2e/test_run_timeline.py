"""The timeline of a run: spans, flows, details, search, and what links it with the other views."""

from __future__ import annotations

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.run_inputs import made_ranks, made_rpd, real_run
from tests.e2e.waiting import eventually, load
from tests.kit.sampled_runs import write_sampled
from tests.kit.sampling import every_third
from wavewright.page.run.events import flows
from wavewright.page.run.layers import layers_of_run, timeline_of

VIEW = '[data-view="run_timeline"]'
HEADING = 18
"""Pixels of the name of a process above its tracks."""


def opened(page, served, address: str = "", place: str = "layout=t(run_timeline;0)"):
    load(page, f"{served.url}#{place}{address}")
    view = page.locator(VIEW)
    view.locator(".timeline-facts").wait_for(state="attached")
    return view


def fact(view, name: str) -> str:
    return view.locator(f'dd[data-fact="{name}"]').first.inner_text()


def exact(view, name: str) -> str:
    return view.locator(f'dd[data-fact="{name}"]').first.get_attribute("title")


def streams_only(view, timeline, span) -> tuple[float, float]:
    """Show only the streams of the process of a span; the middle of the span on the screen."""
    track = timeline.tracks.row(span["track"], named=True)
    view.get_by_label("Processes").select_option(track["group"])
    for kind in ("Calls", "Marks", "Allocations"):
        view.get_by_label(kind, exact=True).uncheck()
    facts = view.locator(".timeline-facts")
    gutter, begin, end, top, tall = (
        float(facts.get_attribute(f"data-{name}")) for name in ("gutter", "begin", "end", "top", "row-height")
    )
    box = view.locator(".timeline").bounding_box()
    own = timeline.tracks.filter(pl.col("group") == track["group"], pl.col("kind") == "stream")["track"].to_list()
    middle = (span["start_ns"] + span["end_ns"]) / 2
    x = box["x"] + gutter + (middle - begin) / (end - begin) * (box["width"] - gutter)
    return x, box["y"] + top + HEADING + (own.index(span["track"]) + 0.5) * tall


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    every_third(
        [
            made_ranks,
            made_rpd,
            lambda: real_run("rpd/matmul_result.rpd"),
            lambda: real_run("att-mi300x-bmm/c09/raw/37_results.db"),
            lambda: real_run("kineto-multirank-2of4/merged_ranks01.json.gz"),
        ]
    ),
    ids=["ranks", "rpd", "real rpd", "real rocpd", "real kineto of ranks"],
)
def test_a_dispatch_is_told_and_linked_to_its_launch(page, serve, path):
    served = serve(path())
    document = served.library.document(0)
    run, first = document.run, timeline_of(document).first_items
    item = run.dispatches.height // 2
    kernel = run.dispatches.row(item, named=True)
    view = opened(page, served, f"&span=run:{item}")
    view.locator(".event-details h2").wait_for()
    expect(view.locator(".event-details h2")).to_have_text(kernel["name"], use_inner_text=True)
    assert exact(view, "duration") == f"{kernel['end_ns'] - kernel['start_ns']:,} ns"
    launch = flows(document, layer="run", item=item)["flows"][0]
    call = run.regions.row(launch["from_item"] - first["regions"], named=True)
    assert (call["process"], call["correlation"]) == (kernel["process"], kernel["correlation"])
    assert exact(view, "launch_latency") == f"{kernel['start_ns'] - call['start_ns']:,} ns"
    view.locator('[data-go="launch"]').click()
    view.locator(".event-details h2", has_text=call["name"]).wait_for()
    assert exact(view, "duration") == f"{call['end_ns'] - call['start_ns']:,} ns"
    view.locator('[data-go="work"]').first.wait_for()
    page.go_back()
    view.locator(".event-details h2", has_text=kernel["name"][:40]).wait_for()


@pytest.mark.slow
def test_a_click_on_a_span_selects_it_and_its_kernel(page, serve):
    served = serve(made_ranks())
    document = served.library.document(0)
    timeline = timeline_of(document)
    dispatch = (
        timeline.spans.filter(pl.col("item") < timeline.first_items["copies"]).sort("start_ns").row(40, named=True)
    )
    begin, end = dispatch["start_ns"], dispatch["end_ns"]
    length = end - begin
    view = opened(page, served, f"&time={begin - length}~{end + length}", "view=run_timeline")
    page.mouse.move(*streams_only(view, timeline, dispatch))
    tooltip = view.locator(".tooltip")
    tooltip.wait_for()
    eventually(lambda: float(tooltip.get_attribute("data-begin")), begin)
    eventually(lambda: float(tooltip.get_attribute("data-length")), length)
    page.mouse.down()
    page.mouse.up()
    name = document.run.dispatches["name"][dispatch["item"]]
    view.locator(".event-details h2", has_text=name).wait_for()
    tracks, details = (view.locator(part).bounding_box() for part in (".timeline-box", ".event-details"))
    assert tracks["x"] + tracks["width"] <= details["x"]  # beside the tracks, not over them
    chosen = page.locator('[data-view="kernels"] .table .row.selected [data-column="name"]')
    expect(chosen).to_have_attribute("title", name)


@pytest.mark.slow
def test_a_click_on_events_that_touch_selects_the_one_under_the_pointer(page, serve):
    served = serve(made_ranks())
    timeline = timeline_of(served.library.document(0))
    before = pl.all().shift(1).over("track").name.suffix("_before")
    events = timeline.spans.sort("track", "start_ns").with_columns(before)
    touching = events.filter(
        pl.col("item") < timeline.first_items["copies"],
        pl.col("kind") == pl.col("kind_before"),
        pl.col("start_ns") - pl.col("end_ns_before") < timeline.duration_ns // 1500,
        pl.col("end_ns") - pl.col("start_ns") > timeline.duration_ns // 100,
    )
    chosen = touching.row(0, named=True)
    view = opened(page, served)
    page.mouse.click(*streams_only(view, timeline, chosen))
    view.locator(".event-details h2").wait_for()
    assert exact(view, "begin") == f"{chosen['start_ns']:,} ns"
    assert exact(view, "duration") == f"{chosen['end_ns'] - chosen['start_ns']:,} ns"


@pytest.mark.slow
def test_arrows_are_drawn_when_they_are_few_and_else_counted(page, serve):
    served = serve(made_ranks())
    document = served.library.document(0)
    view = opened(page, served)
    view.locator("[data-too-many-flows]").wait_for()
    layer = layers_of_run(document)["layers"][0]
    whole = sum(flows(document, layer="run", level=layer["level_count"] - 2, tile=tile)["count"] for tile in range(2))
    assert int(view.locator("[data-too-many-flows]").get_attribute("data-too-many-flows")) in (
        whole, flows(document, layer="run", level=layer["level_count"] - 1, tile=0)["count"],
    )  # fmt: skip
    view = opened(page, served, "&time=1000000~1200000")
    page.wait_for_function("Number(document.querySelector('.run-timeline').dataset.flows) > 0")
    view.locator('[data-choose="flows"]').uncheck()
    page.wait_for_function("Number(document.querySelector('.run-timeline').dataset.flows) === 0")


@pytest.mark.slow
def test_a_name_is_found_again_and_again(page, serve):
    served = serve(made_ranks())
    timeline = timeline_of(served.library.document(0))
    view = opened(page, served)
    view.get_by_label("Highlight events whose name contains").fill("hipMemcpyAsync")
    kinds = timeline.kinds.filter(pl.col("name").str.contains("(?i)hipMemcpyAsync"))
    view.locator(f'[data-matches="{kinds.height}"]').wait_for()
    view.locator("[data-next]").click()
    events = timeline.spans.filter(pl.col("kind") == kinds["kind"][0]).sort("start_ns", "item")
    view.locator(".event-details h2", has_text="hipMemcpyAsync").wait_for()
    assert exact(view, "begin") == f"{events['start_ns'][0]:,} ns"
    view.locator("[data-next]").click()
    page.wait_for_function(
        "title => document.querySelector('dd[data-fact=begin]')?.title === title", arg=f"{events['start_ns'][1]:,} ns"
    )


@pytest.mark.slow
def test_notes_say_that_clocks_are_not_compared(page, serve):
    view = opened(page, serve(made_ranks()))
    view.get_by_text("2 nodes: each counts from its own first event").wait_for()


@pytest.mark.slow
def test_hostile_names_are_text(page, serve):
    served = serve(made_ranks(hostile=True))
    document = served.library.document(0)
    names = document.run.dispatches["name"].cast(pl.String)
    item = int((names.str.contains("<")).arg_max())
    view = opened(page, served, f"&span=run:{item}")
    view.locator(".event-details h2").wait_for()
    expect(view.locator(".event-details h2")).to_have_text(names[item])
    eventually(lambda: page.evaluate("document.querySelectorAll('#app img, #app script, #app iframe').length"), 0)


@pytest.mark.slow
def test_an_event_that_does_not_exist_is_a_message(page, serve):
    page.may_fail_to_load = True
    view = opened(page, serve(made_ranks()), "&span=run:999999999")
    view.get_by_role("alert").get_by_text("there is no event 999999999").wait_for()


@pytest.mark.slow
def test_curves_stand_below_the_timeline(page, serve, tmp_path_factory):
    path = tmp_path_factory.mktemp("sampled") / "sampled.db"
    write_sampled(path)
    page.goto(serve(path).url + "#layout=t(run_timeline;0)")
    view = page.locator('[data-view="run_timeline"]')
    power = view.locator('[data-strip^="device_power"]')
    expect(power.locator("canvas")).to_be_visible()
    view.locator('[data-action="tracks"]').click()
    view.locator('[data-choose="strip"]').select_option("memory")
    expect(view.locator('[data-strip="memory"] canvas')).to_be_visible()
    page.wait_for_selector('html[data-asking="0"]')
    power.get_by_role("button", name="Close").click()
    expect(view.locator("[data-strip]")).to_have_count(1)
