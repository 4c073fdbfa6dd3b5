"""Printing: a PDF with the findings, the numbers of the summary and the current view, on white paper."""

from __future__ import annotations

import io
import re
import unicodedata

import pytest

from tests.e2e.inputs import made_gemm
from tests.e2e.run_inputs import made_rpd
from tests.e2e.waiting import eventually
from wavewright.analysis.trace.costs.row_costs import activity
from wavewright.analysis.trace.diagnose import diagnose


def _laid_out(page, url: str) -> None:
    """Opens a page and gives the command to print; the browser's own dialog stays away."""
    page.add_init_script("window.print = () => {}")
    page.goto(url)
    page.locator(".dock [data-view]").first.wait_for()
    page.wait_for_selector('html[data-asking="0"]')
    page.keyboard.press("p")
    page.wait_for_selector('html[data-printing="now"]')


def _printed(page) -> str:
    """The text of all pages, with single spaces."""
    pypdf = pytest.importorskip("pypdf")
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    text = " ".join(sheet.extract_text() for sheet in pypdf.PdfReader(io.BytesIO(pdf)).pages)
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text))  # ﬀ and ﬁ are one character there


@pytest.fixture
def page(fresh_page):
    """Scripts of a test stay with their page."""
    return fresh_page


@pytest.mark.slow
def test_a_trace_is_printed_with_findings_summary_and_view(page, serve):
    expect = pytest.importorskip("playwright.sync_api").expect
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    _laid_out(page, f"{served.url}#layout=t(waves;0)")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    text = _printed(page)
    assert re.search(r"wavewright \d+\.\d+", text)
    assert str(made_gemm()) in text.replace(" ", "")
    for finding in diagnose(trace).findings:
        assert finding.verdict in text
    split = activity(trace)
    for share in (split.idle_share, split.stall_share, split.issue_share):
        assert f"{share * 100:.1f} %" in text
    assert f"{trace.waves.height} traced waves" in text
    for begin, end in trace.waves.head(3).select("start_cycles", "end_cycles").iter_rows():
        assert f"{end - begin:,}" in text  # the current view: the table of waves
    expect(page.locator(".print-sheet")).to_have_count(0)  # the page is back
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator('[data-view="waves"]')).to_be_visible()


@pytest.mark.slow
def test_drawings_are_printed_in_light_colours_and_sharp(page, serve):
    _laid_out(page, f"{serve(made_gemm()).url}#layout=t(compute_unit;0)")
    canvas = page.locator('[data-view="compute_unit"] .timeline canvas').first
    eventually(lambda: round(canvas.evaluate("canvas => canvas.width / canvas.clientWidth"), 1), 3.0)
    ground = canvas.evaluate("canvas => [...canvas.getContext('2d').getImageData(4, 4, 1, 1).data.slice(0, 3)]")
    assert min(ground) > 200


@pytest.mark.slow
def test_a_run_is_printed(page, serve):
    _laid_out(page, f"{serve(made_rpd()).url}#layout=t(kernels;0)")
    text = _printed(page)
    assert "Findings" in text
    assert "dispatches" in text
