"""Two traces against each other: totals, units and code on screen are those of `compare`."""

from __future__ import annotations

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, other_gemm, real_trace, renamed_gemm
from tests.e2e.numbers import exact, percent
from tests.e2e.waiting import eventually
from wavewright.analysis.trace.compare import compare
from wavewright.export.page import write_html
from wavewright.readers.opening import open as open_path

SELECTED_ROW = "row => new URLSearchParams(location.hash.slice(1)).get('row') === String(row)"


@pytest.fixture(params=["made", "flash attention"])
def pair(request, serve):
    """Two traces of one kernel: the first one is the base."""
    if request.param == "made":
        return serve(made_gemm(), other_gemm())
    return serve(real_trace("flash_attn_func", 38430), real_trace("flash_attn_func", 55287))


def show(page, served, document: int = 1):
    page.goto(f"{served.url}#document={document}&layout=t(compare;0)")
    view = page.locator('[data-view="compare"]')
    view.wait_for()
    return view


def asked(served, by: str = "instruction"):
    documents = served.library.documents[:2]
    return compare([document.trace for document in documents], by=by, labels=[document.label for document in documents])


@pytest.mark.slow
def test_totals_and_classes(page, pair):
    view = show(page, pair)
    found = asked(pair)
    view.locator('[data-field="verdict"]').wait_for()
    expect(view.locator('[data-field="verdict"]')).to_have_text(found.verdict(), use_inner_text=True)
    base, other = found.traces.row(0, named=True), found.traces.row(1, named=True)
    for name in ("duration_cycles_mean", "stall_cycles_per_wave", "instructions_per_wave"):
        shown = view.locator(f'[data-total="{name}"] td.number').all_inner_texts()
        share = other[name] / base[name] - 1
        assert shown == [exact(base[name]), exact(other[name]), f"{'+' if share > 0 else ''}{percent(share)}"]
    classes = view.locator('table[aria-label="Stall classes"] td[data-column="stall_cycles_per_wave"]')
    few = found.stall_classes["stall_cycles_per_wave"].head(12)
    expect(classes).to_have_text([exact(cycles) for cycles in few], use_inner_text=True)


def test_units_with_the_largest_difference_first(page, pair):
    view = show(page, pair)
    view.locator('[data-part="units"]').click()
    found = asked(pair)
    apart = found.standing_out()
    view.get_by_text(f"only what stands out ({exact(apart.height)} of {exact(found.units.height)}").wait_for()
    most = found.units["delta_cycles_per_wave"].abs().sort(descending=True).head(5)
    shown = view.locator('.row:not(.head) [data-column="delta_cycles_per_wave"]').all_inner_texts()[:5]
    assert [abs(float(text)) for text in shown] == pytest.approx(most.round(1).to_list(), abs=0.06)
    kept = found.units.filter(pl.col("row").is_not_null() & (pl.col("delta_cycles_per_wave").abs() == most[0]))
    if kept.height == 1:
        view.locator(".row.can-click").first.click()
        page.wait_for_function(SELECTED_ROW, arg=kept["row"][0])


@pytest.mark.slow
@pytest.mark.parametrize("by", ["line", "function"])
def test_other_units_can_be_chosen(page, pair, by):
    view = show(page, pair)
    view.get_by_label("Compare by").select_option(by)
    found = asked(pair, by)
    view.get_by_text(f"{exact(found.standing_out().height)} of {exact(found.units.height)} {by}s ").wait_for()


@pytest.mark.slow
def test_code_stands_side_by_side(page, serve):
    served = serve(made_gemm(), other_gemm())
    view = show(page, served)
    view.locator('[data-part="code"]').click()
    found = asked(served)
    units = found.units.sort("unit").head(10)
    rows = view.locator(".pair:not(.head)")
    rows.first.wait_for()
    left = [text or "" for text in units["base_label"]]
    right = [text or "" for text in units["label"]]
    eventually(lambda: view.locator(".pair .left").all_inner_texts()[:10], left)
    eventually(lambda: view.locator(".pair .right").all_inner_texts()[:10], right)
    changed = found.units.filter(pl.col("change") != "same").sort("unit")
    view.get_by_text(f"{changed.height} of {found.units.height} instructions differ").wait_for()
    view.get_by_text("next difference").click()
    unit = changed.row(0, named=True)
    marked = view.locator(f'.pair[data-change="{unit["change"]}"]').first
    marked.wait_for()
    expect(marked).to_contain_text(unit["base_label"] or unit["label"], use_inner_text=True)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["made", "two kernels"])
def test_renamed_registers_are_counted_apart(page, serve, which):
    made = which == "made"
    first, second = (
        (made_gemm(), renamed_gemm()) if made else (real_trace("layernorm", 22257), real_trace("rmsnorm", 19276))
    )
    served = serve(first, second)
    view = show(page, served)
    view.locator('[data-part="code"]').click()
    found = compare([document.trace for document in served.library.documents[:2]], force=True)
    counts = dict(found.units["change"].value_counts().iter_rows())
    differ = found.units.height - counts["same"]
    assert counts["registers"] == differ if made else 0 < counts["registers"] < differ
    words = f"{exact(differ)} of {exact(found.units.height)} instructions differ"
    view.get_by_text(f"{words}, {exact(counts['registers'])} of {exact(differ)} only rename registers").wait_for()
    view.locator('.pair[data-change="registers"]').first.wait_for()
    expect(view.get_by_text("next difference")).to_have_count(0 if made else 1)


def test_one_trace_alone_is_not_compared(page, serve):
    page.goto(f"{serve(made_gemm()).url}#layout=t(compare;0)")
    page.locator('[data-view="isa"]').wait_for()
    assert page.locator('[data-view="compare"]').count() == 0


@pytest.mark.slow
def test_traces_that_cannot_be_compared_leave_the_choice(page, serve):
    served = serve(made_gemm(), real_trace("flash_attn_func", 38430), made_gemm("gfx1201"))
    view = show(page, served)
    view.get_by_text("different kernels").wait_for()
    view.get_by_label("Base").select_option("2")
    view.locator('[data-field="verdict"]').filter(has_text="gfx1201").wait_for()
    view.get_by_text("add 1 other open trace").click()
    view.locator('table[aria-label="Totals"] th').nth(3).wait_for()


@pytest.mark.slow
def test_an_exported_page_compares_the_traces_in_it(page, tmp_path):
    traces = [("before", open_path(made_gemm())), ("after", open_path(other_gemm()))]
    file = tmp_path / "both.html"
    write_html(traces, file)
    page.goto(f"{file.as_uri()}#document=1&layout=t(compare;0)")
    view = page.locator('[data-view="compare"]')
    found = compare([trace for _, trace in traces], labels=["before", "after"])
    view.locator('[data-field="verdict"]').wait_for()
    expect(view.locator('[data-field="verdict"]')).to_have_text(found.verdict(), use_inner_text=True)
    view.get_by_label("Compare by").select_option("function")
    view.locator('[data-field="beyond"]').filter(has_text="functions ").wait_for()
    view.locator('[data-part="code"]').click()
    view.locator(".pair .right").first.wait_for()
