"""Two documents that were opened together: Compare is in front, and the baseline stays chosen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.counter_captures import made_capture
from tests.e2e.inputs import made_gemm, other_gemm, real_trace
from tests.e2e.run_inputs import made_ranks
from wavewright.analysis.trace.compare import compare

BASELINE = 'select[data-choose="baseline"]'


@pytest.mark.slow
@pytest.mark.parametrize("which", ["made", "flash attention"])
def test_the_second_is_shown_against_the_first(page, serve, which):
    real = which != "made"
    before = real_trace("flash_attn_func", 38430) if real else made_gemm()
    after = real_trace("flash_attn_func", 55287) if real else other_gemm()
    served = serve(before, after)
    page.goto(served.url)
    expect(page.get_by_label("Document")).to_have_value("1")
    expect(page.locator(BASELINE)).to_have_value("0")
    documents = served.library.documents[:2]
    found = compare([each.trace for each in documents], labels=[each.label for each in documents])
    view = page.locator('[data-view="compare"]')
    expect(view.locator('[data-field="verdict"]')).to_have_text(found.verdict(), use_inner_text=True)
    assert view.bounding_box()["width"] > 600


@pytest.mark.slow
def test_a_choice_stays_with_other_documents_and_in_the_address(page, serve):
    served = serve(made_gemm(), other_gemm(), made_gemm("gfx1201"))
    page.goto(f"{served.url}#document=2&layout=t(compare;0)")
    chooser = page.locator(BASELINE)
    expect(chooser).to_have_value("")  # of three, none is before and after
    chooser.select_option("1")
    expect(page.get_by_label("Base")).to_have_value("1")
    page.wait_for_function("location.hash.includes('baseline=1')")
    page.get_by_label("Document").select_option("0")
    expect(chooser).to_have_value("1")
    page.reload()
    expect(chooser).to_have_value("1")
    chooser.select_option("")
    page.wait_for_function("!location.hash.includes('baseline')")
    expect(page.locator('[data-switch="changes"]')).to_have_count(0)


@pytest.mark.slow
def test_one_document_has_nothing_to_choose(page, serve):
    page.goto(serve(made_gemm()).url)
    page.locator('[data-view="compute_unit"]').wait_for()
    expect(page.locator(BASELINE)).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run", "counters"])
def test_runs_and_counters_are_compared_at_once_too(page, serve, kind):
    paths = (made_ranks(), made_ranks(is_slow=True)) if kind == "run" else (made_capture(), made_capture(slower=1.5))
    page.goto(serve(*paths).url)
    expect(page.locator(BASELINE)).to_have_value("0")
    view = page.locator(f'[data-view="{"run" if kind == "run" else "counter"}_compare"]')
    view.locator("[data-verdict]").wait_for()


@pytest.mark.slow
def test_a_trace_and_counters_are_not_compared(page, serve):
    page.goto(serve(made_gemm(), made_capture()).url)
    expect(page.get_by_label("Document")).to_have_value("0")
    expect(page.locator(BASELINE)).to_have_count(0)
