"""Flame graphs of runs: three orders, with the numbers of the analyses."""

from __future__ import annotations

from urllib.parse import unquote

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.run_inputs import made_ranks, real_run
from tests.e2e.test_runs import cells, nanoseconds
from tests.e2e.waiting import eventually, fragment
from tests.kit.sampling import every_third
from wavewright.analysis.run.calls.flame import functions_of, sandwich
from wavewright.analysis.run.contents.regions import regions
from wavewright.page.run.flame import stacks_of_line

VIEW = '[data-view="run_flame"]'


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    every_third([made_ranks, lambda: real_run("rpd/mytrace.rpd.gz"), lambda: real_run("rpd/matmul_result.rpd")]),
    ids=["ranks", "real rpd", "small rpd"],
)
def test_left_heavy_has_the_time_of_the_call_tree(page, serve, path):
    served = serve(path())
    page.goto(served.url + "#layout=t(run_flame;0)")
    view = page.locator(VIEW)
    tree = regions(served.library.document(0).run).tree
    roots = tree.filter(pl.col("depth") == 0)
    total = view.locator('.run-flame-facts [data-column="total"]')
    shown = tree.filter(pl.col("total_ns") > 0).height
    expect(total).to_have_text(f"{nanoseconds(roots['total_ns'].sum())} in {shown:,} paths", use_inner_text=True)
    view.locator('[data-choose="weight"]').select_option("gpu")
    expect(total).to_contain_text(nanoseconds(roots["gpu_total_ns"].sum()))
    # Keys go to the heaviest child, and say what it is.
    view.locator('[data-choose="weight"]').select_option("host")
    expect(total).to_contain_text(nanoseconds(roots["total_ns"].sum()))
    view.get_by_role("application").focus()
    page.keyboard.press("ArrowDown")
    heaviest = roots.sort("total_ns", descending=True).row(0, named=True)
    expect(view.locator(".run-flame-spoken")).to_contain_text(heaviest["name"])
    expect(view.locator(".run-flame-spoken")).to_contain_text(nanoseconds(heaviest["total_ns"]))
    # The search says which share it finds: the outermost of frames inside each other.
    view.get_by_label("Find in the flame graph").fill(heaviest["name"])
    whole = roots["total_ns"].sum()
    named = tree.filter(pl.col("name").str.to_lowercase().str.contains(heaviest["name"].lower(), literal=True))
    outer = named.join(named.select(parent="node"), on="parent", how="anti")
    if outer["depth"].max() == 0:
        share = f"{outer['total_ns'].sum() / whole * 100:.1f} %"
        expect(view.locator('[data-column="matched"]')).to_contain_text(share)


@pytest.mark.slow
def test_a_function_stands_between_its_callers_and_callees(page, serve):
    served = serve(made_ranks())
    page.goto(served.url + "#layout=t(run_flame;0)")
    view = page.locator(VIEW)
    view.locator('[data-mode="sandwich"]').click()
    tree = regions(served.library.document(0).run).tree
    truth = functions_of(tree)
    rows = view.locator(".table .row:not(.head)")
    rows.first.wait_for()
    shown = len(cells(rows, "total_ns"))
    for column in ("total_ns", "self_ns", "gpu_total_ns"):
        eventually(lambda: cells(rows, column), [nanoseconds(value) for value in truth[column].head(shown)])
    deepest = tree.sort("depth", descending=True).row(0, named=True)
    place = truth["name"].to_list().index(deepest["name"])
    rows.nth(place).click()
    answer = sandwich(tree, deepest["name"], deepest["domain"], "host", 2500)
    for half in ("Callers", "Callees"):
        box = view.locator(f'[data-half="{half}"]')
        first = (answer.callers if half == "Callers" else answer.callees).row(0, named=True)
        expect(box.locator('[data-column="total"]')).to_have_text(nanoseconds(first["total_ns"]))
    callers = view.locator('[data-half="Callers"]')
    callers.get_by_role("application").focus()
    page.keyboard.press("ArrowUp")
    caller = answer.callers.filter(pl.col("parent") == 0).sort("total_ns", descending=True).row(0, named=True)
    expect(callers.locator(".run-flame-spoken")).to_contain_text(caller["name"])


@pytest.mark.slow
@pytest.mark.parametrize("path", [made_ranks, lambda: real_run("rpd/mytrace.rpd.gz")], ids=["ranks", "real"])
def test_a_thread_in_the_order_of_time(page, serve, path):
    served = serve(path())
    page.goto(served.url + "#layout=t(run_flame;0)")
    view = page.locator(VIEW)
    view.locator('[data-mode="time"]').click()
    line = int(view.locator('[data-choose="line"]').input_value())
    truth = stacks_of_line(served.library.document(0), line=line)
    total = view.locator('.run-flame-facts [data-column="total"]')
    expect(total).to_contain_text(f"{truth['span_count'][0]:,} events")
    expect(total).to_have_attribute("data-frames", str(truth.height))
    is_cut = truth.height < truth["span_count"][0]
    expect(view.locator('[data-column="truncated"]')).to_have_count(int(is_cut))
    # A click on the first event of the outermost row zooms to it, and selects it on the timeline.
    outermost = truth.filter(pl.col("depth") == 0).sort(pl.col("begin") - pl.col("end")).row(0, named=True)
    box = view.locator(".stage canvas").bounding_box()
    middle = (outermost["begin"] + outermost["end"]) / 2
    share = (middle - truth["first"][0]) / (truth["last"][0] - truth["first"][0])
    page.mouse.click(box["x"] + share * box["width"], box["y"] + 19 * 1.5)
    eventually(lambda: f"span=run:{outermost['item']}" in unquote(fragment(page)), True)
    if is_cut:
        before = int(total.get_attribute("data-frames"))
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
        for _ in range(30):
            page.mouse.wheel(0, -200)
        eventually(lambda: int(total.get_attribute("data-frames")) != before, True)
