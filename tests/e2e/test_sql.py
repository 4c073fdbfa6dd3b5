"""SQL in the page: the rows of `wavewright query`, drawn, saved, stopped, and wrong."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import hostile_run
from tests.e2e.run_inputs import made_ranks, real_run
from tests.e2e.test_runs import cells
from tests.e2e.waiting import eventually
from tests.kit.sampling import every_third
from wavewright.analysis.run.query import query
from wavewright.analysis.run.select.clocks import node_clocks
from wavewright.page.run.sql import EXAMPLES

VIEW = '[data-view="sql"]'
TOTALS = (
    "SELECT name, COUNT(*) AS calls, SUM(duration) AS total_ns FROM kernels GROUP BY name ORDER BY total_ns DESC, name"
)
ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT COUNT(*) FROM t"


def asked(page, text: str):
    view = page.locator(VIEW)
    view.get_by_label("SQL", exact=True).fill(text)
    page.keyboard.press("Control+Enter")
    return view


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    every_third(
        [
            made_ranks,
            lambda: real_run("att-mi300x-bmm/c08/raw/45_results.db"),
            lambda: real_run("kineto-multirank-2of4/merged_ranks01.json.gz"),
            lambda: real_run("rpd/mytrace.rpd.gz"),
        ]
    ),
    ids=["ranks", "rocpd", "kineto", "rpd"],
)
def test_rows_are_those_of_the_command(page, serve, path):
    served = serve(path())
    page.goto(served.url + "#layout=t(sql;0)")
    view = asked(page, TOTALS)
    truth = query(served.library.document(0).run, TOTALS)
    expect(view.locator('[data-figure="rows"]')).to_have_text(f"{truth.height:,} rows" if truth.height > 1 else "1 row")
    rows = view.get_by_role("grid", name="Rows of the query").locator(".row:not(.head)")
    shown = len(cells(rows, "calls"))
    assert shown
    eventually(lambda: cells(rows, "calls"), [f"{value:,}" for value in truth["calls"].head(shown)])
    eventually(lambda: cells(rows, "total_ns"), [f"{value:,}" for value in truth["total_ns"].head(shown)])
    view.locator('[data-choose="look"]').select_option("bar")
    expect(view.locator(".sql-plot")).to_have_attribute("data-points", str(truth.height))


@pytest.mark.slow
def test_rows_with_times_are_a_track_of_the_timeline(page, serve):
    served = serve(hostile_run())
    page.goto(served.url + "#layout=t(run_timeline,sql;0)")
    facts = page.locator('[data-view="run_timeline"] .timeline-facts')
    expect(facts).to_have_attribute("data-drawn", "true")
    page.wait_for_selector('html[data-asking="0"]')
    before = int(facts.get_attribute("data-track-count"))
    page.get_by_role("tab", name="SQL").click()
    sql = "SELECT name, start, duration FROM kernels ORDER BY duration DESC, start LIMIT 1"
    view = asked(page, sql)
    view.locator('[data-action="track"]').click()
    run = served.library.document(0).run
    eventually(lambda: int(facts.get_attribute("data-track-count")), before + 1)
    rows = query(run, sql)
    start = rows["start"][0] - node_clocks(run).nodes["start_ns"][0]
    place = page.locator('[data-view="run_timeline"] .timeline').bounding_box()
    shown = [float(facts.get_attribute(f"data-{name}")) for name in ("begin", "end", "gutter", "top")]
    begin, end, gutter, top = shown
    middle = start + rows["duration"][0] / 2
    x = place["x"] + gutter + (middle - begin) / (end - begin) * (place["width"] - gutter)
    page.mouse.click(x, place["y"] + top + 18 + 4)
    eventually(lambda: f"range={start}~{start + rows['duration'][0]}" in unquote(page.evaluate("location.hash")), True)


@pytest.mark.slow
def test_a_mistake_is_marked_where_it_is(page, serve):
    served = serve(made_ranks())
    page.may_fail_to_load = True
    page.goto(served.url + "#layout=t(sql;0)")
    view = asked(page, "SELECT name,\n  nme\nFROM kernels")
    expect(view.locator(".problem")).to_contain_text("nme")
    expect(view.locator(".numbered-gutter .wrong")).to_contain_text("2")
    view.locator('[data-action="go"]').click()
    area = view.get_by_label("SQL", exact=True)
    chosen = area.evaluate("element => element.value.slice(element.selectionStart, element.selectionEnd)")
    assert chosen == "nme"
    for hostile in ("COPY (SELECT 1) TO '/tmp/x'", "SELECT * FROM read_csv('/etc/passwd')"):
        asked(page, hostile)
        expect(view.locator(".problem")).to_contain_text("refused")


@pytest.mark.slow
def test_a_query_is_stopped_and_the_next_one_runs(page, serve):
    served = serve(made_ranks())
    page.may_fail_to_load = True
    page.goto(served.url + "#layout=t(sql;0)")
    view = asked(page, ENDLESS)
    view.locator('[data-action="stop"]:enabled').click()
    expect(view.locator(".problem")).to_contain_text("stopped")
    asked(page, ENDLESS)
    asked(page, "SELECT 41 + 1 AS answer")
    rows = view.get_by_role("grid", name="Rows of the query").locator(".row:not(.head)")
    eventually(lambda: cells(rows, "answer"), ["42"])


@pytest.mark.slow
def test_queries_are_saved_remembered_and_offered(page, serve):
    served = serve(made_ranks())
    page.goto(served.url + "#layout=t(sql;0)")
    view = asked(page, "SELECT 7 AS seven")
    expect(view.locator('[data-figure="rows"]')).to_have_text("1 row")
    view.get_by_label("Name to save the query under").fill("mine & <b>")
    view.locator('[data-action="save"]').click()
    page.wait_for_function("document.documentElement.dataset.keeping === '0'")
    page.reload()
    area = page.locator(VIEW).get_by_label("SQL", exact=True)
    expect(area).to_have_value("SELECT 7 AS seven")  # the last one that ran
    area.fill("")
    page.locator(f'{VIEW} [data-choose="query"]').select_option(label="mine & <b>")
    expect(area).to_have_value("SELECT 7 AS seven")
    page.locator(f'{VIEW} [data-choose="query"]').select_option(label="Kernels by time")
    expect(area).to_have_value(EXAMPLES["Kernels by time"])
    # The schema says what columns mean, and writes them into the query.
    area.fill("")
    column = page.locator(f'{VIEW} [data-relation="kernels"] [data-column="duration"]')
    assert "ns" in column.get_attribute("title")
    column.click()
    expect(area).to_have_value("duration")
