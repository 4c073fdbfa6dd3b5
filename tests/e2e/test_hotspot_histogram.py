"""The histogram of code rows: bars equal the analysis, a click selects rows."""

from __future__ import annotations

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from wavewright.analysis.trace.costs.histogram import row_histogram
from wavewright.analysis.trace.costs.row_costs import entered_rows
from wavewright.page.payloads import part_of_time
from wavewright.page.trace.answers import histogram

GUTTER = 58


def opened(page, served):
    page.goto(f"{served.url}#layout=t(hotspot_histogram;0)")
    panel = page.locator('[data-view="hotspot_histogram"]')
    panel.locator(".histogram-legend [data-category]").first.wait_for()
    return panel


def total(page, panel, cycles):
    page.wait_for_function(
        "([selector, value]) => document.querySelector(selector)?.dataset.total === value",
        arg=['[data-view="hotspot_histogram"] .toolbar [data-total]', str(cycles)],
    )


@pytest.mark.slow
def test_a_bar_tells_its_rows_and_cycles_and_a_click_selects_them(page, serve):
    served = serve(real_trace("flash_attn_func", 38430))
    answer = row_histogram(served.library.document(0).trace)
    panel = opened(page, served)
    total(page, panel, answer.cycles_total)
    box = panel.locator("canvas").bounding_box()
    number = 24
    x = box["x"] + GUTTER + (number + 0.5) * (box["width"] - GUTTER - 6) / answer.bin_count
    page.mouse.move(x, box["y"] + box["height"] / 2)
    tip = panel.locator(".histogram-tip")
    tip.wait_for()
    expected = answer.bins.filter(pl.col("bin") == number)
    shown = {
        part.get_attribute("data-category"): int(part.get_attribute("data-cycles"))
        for part in tip.locator("[data-cycles]").all()
    }
    assert shown == dict(expected.select("category", "cycles_total").rows())
    first, last = expected["first_row"][0], expected["last_row"][0]
    expect(tip.locator(".strong")).to_have_text(f"rows {first:,} to {last:,}", use_inner_text=True)
    page.mouse.click(x, box["y"] + box["height"] / 2)
    page.wait_for_function(f"location.hash.includes('row={first}&lastRow={last}')")
    panel.locator(".histogram").press("ArrowRight")
    page.wait_for_function(f"location.hash.includes('row={last + 1}&')")


def test_options_are_those_of_the_analysis(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    panel = opened(page, served)
    panel.locator("[data-engine]").select_option("1")
    total(page, panel, row_histogram(trace, se=1).cycles_total)
    panel.locator('[data-option="rows"]').fill("40")
    panel.locator('[data-option="to"]').fill("90")
    panel.locator('[data-option="bins"]').fill("1000")
    panel.locator('[data-option="bins"]').press("Enter")
    total(page, panel, row_histogram(trace, se=1, first_row=40, last_row=90).cycles_total)
    expect(panel.locator('[data-option="bins"]')).to_have_value("100")


@pytest.mark.slow
def test_only_the_selected_time_counts(page, serve):
    served = serve(made_gemm())
    document = served.library.document(0)
    middle = int(document.trace.waves["start_cycles"].median())  # type: ignore[arg-type]
    begin, end = middle, middle + 2_000
    inside = histogram(part_of_time(document, begin, end)).cycles_total
    assert 0 < inside < histogram(document).cycles_total
    page.goto(f"{served.url}#layout=t(hotspot_histogram;0)&range={begin}~{end}&onlyRange=1")
    total(page, page.locator('[data-view="hotspot_histogram"]'), inside)


@pytest.mark.slow
def test_bars_are_those_of_the_functions_that_ran(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    panel = opened(page, served)
    rows = entered_rows(trace)["row"]
    assert rows[-1] < trace.code.height - 1
    expect(panel.locator('[data-option="rows"]')).to_have_value(str(rows[0]))
    expect(panel.locator('[data-option="to"]')).to_have_value(str(rows[-1]))


FIRST_MOMENT = """
new MutationObserver((_, observer) => {
  const canvas = document.querySelector('[data-view="hotspot_histogram"] canvas');
  if (!canvas) return;
  observer.disconnect();
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const place = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true };
  canvas.dispatchEvent(new PointerEvent("pointermove", place));
}).observe(document, { childList: true, subtree: true });
"""


def test_the_pointer_may_come_before_the_first_painting(fresh_page, serve):
    """The bars are drawn with the next frame; whoever points at them before is told the bar, too."""
    page = fresh_page
    page.add_init_script(FIRST_MOMENT)
    panel = opened(page, serve(made_gemm()))
    expect(panel.locator(".histogram-tip")).to_be_visible()


@pytest.mark.slow
def test_an_answer_does_not_change_what_is_being_typed(page, serve):
    """The last row, selected to be typed over, stays so while the answer to the first row is on its way."""
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    panel = opened(page, served)
    total(page, panel, row_histogram(trace).cycles_total)
    waiting = []
    page.route("**/histogram?*first=40*", lambda route: route.continue_() if waiting else waiting.append(route))
    panel.locator('[data-option="rows"]').fill("40")
    last = panel.locator('[data-option="to"]')
    last.focus()
    last.evaluate("(input) => input.select()")
    expect(panel.locator(".toolbar [data-total]")).to_have_count(0)
    waiting[0].continue_()
    total(page, panel, row_histogram(trace, first_row=40).cycles_total)
    page.keyboard.insert_text("90")
    expect(last).to_have_value("90")
    last.press("Enter")
    total(page, panel, row_histogram(trace, first_row=40, last_row=90).cycles_total)
