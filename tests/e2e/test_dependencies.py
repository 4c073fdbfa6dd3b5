"""Dependencies: producers stand below their wait, fold, and fit into the panel."""

from __future__ import annotations

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm
from tests.e2e.numbers import exact
from tests.e2e.waiting import eventually
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.waits import waits

LINES = """() => [...document.querySelectorAll('[data-view="waits"] .list-body .row')].map(row => [
    row.classList.contains('wait') ? 'wait' : 'producer', Number(row.dataset.wait),
    row.querySelector('button[data-row]') ? Number(row.querySelector('button[data-row]').dataset.row) : null])"""


@pytest.mark.slow
def test_producers_stand_below_their_wait(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    answer = waits(trace)
    expected: list[list[object]] = []
    for row in answer.waits.sort("stall_cycles_total", "row", descending=[True, False])["row"]:
        expected.append(["wait", row, None])
        below = answer.producers.filter(pl.col("row") == row)["producer_row"]
        expected += [["producer", row, producer] for producer in below]
    page.goto(f"{served.url}#view=waits")
    view = page.locator('[data-view="waits"]')
    view.locator(".row.wait").first.wait_for()
    eventually(lambda: page.evaluate(LINES)[:9], expected[:9])
    expect(view.locator('[role="grid"]')).to_have_attribute("aria-rowcount", str(len(expected) + 1))
    worst = answer.waits.sort("stall_cycles_total").row(-1, named=True)
    exposed = row_costs(trace).filter(pl.col("row") == worst["row"])["exposed_stall_cycles_total"].item()
    for name, value in (("stall_cycles_total", worst["stall_cycles_total"]), ("exposed_stall_cycles_total", exposed)):
        cell = view.locator(f'.row.wait [data-column="{name}"]').first
        expect(cell).to_have_text(exact(value), use_inner_text=True)
    box = view.bounding_box()
    last = view.locator(".row.head > *").last.bounding_box()
    assert last["x"] + last["width"] <= box["x"] + box["width"]  # nothing is beside the panel
    view.locator(".row.wait .fold").first.click()
    first = answer.producers.filter(pl.col("row") == worst["row"]).height
    eventually(lambda: page.evaluate(LINES)[:4], [expected[0], *expected[1 + first : 4 + first]])
