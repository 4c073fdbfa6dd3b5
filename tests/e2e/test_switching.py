"""From one choice to another and back: what is on screen is the answer to what is chosen, every time."""

from __future__ import annotations

import json

import polars as pl
import pytest

from tests.e2e.counter_captures import made_capture
from tests.e2e.inputs import made_gemm, other_gemm, two_kernels
from tests.e2e.menus import offered_views, open_view
from tests.e2e.numbers import exact
from tests.e2e.run_inputs import made_rpd
from wavewright.analysis.run.kernels import kernels
from wavewright.analysis.trace.compare import compare
from wavewright.export.page import write_html
from wavewright.readers.opening import open as open_path


@pytest.fixture
def expect():
    return pytest.importorskip("playwright.sync_api").expect


@pytest.mark.slow
@pytest.mark.parametrize("place", ["served", "exported"])
def test_details_are_those_of_the_chosen_kernel(page, serve, tmp_path, expect, place):
    url = serve(made_rpd()).url
    run = open_path(made_rpd())
    if place == "exported":
        write_html(run, tmp_path / "run.html")
        url = (tmp_path / "run.html").as_uri()
    found = kernels(run)
    page.goto(url + "#layout=t(kernels;0)")
    view = page.locator('[data-view="kernels"]')
    calls = view.locator('table[aria-label="Histogram of durations"] td[data-column="calls"]')
    names = found.kernels.sort("total_ns", descending=True)["name"].head(2)
    told = {name: [exact(n) for n in found.histogram.filter(pl.col("name") == name)["calls"]] for name in names}
    assert told[names[0]] != told[names[1]]
    for name in (*names, *names):
        view.locator(f".kernels-table .row [title={json.dumps(name)}]").first.click()
        expect(view.locator("h2.kernel-name")).to_have_text(name)
        expect(calls).to_have_text(told[name])


@pytest.mark.slow
def test_a_comparison_is_with_the_chosen_base_by_the_chosen_unit(page, serve, expect):
    served = serve(made_gemm(), other_gemm(), two_kernels())
    page.goto(f"{served.url}#document=1&layout=t(compare;0)")
    view = page.locator('[data-view="compare"]')
    view.get_by_text("add 1 other open trace").click()
    documents = served.library.documents
    heads = view.locator('table[aria-label="Totals"] th.number')
    for base, by in ((0, "line"), (2, "line"), (2, "function"), (0, "function"), (0, "line")):
        view.get_by_label("Base").select_option(str(base))
        view.get_by_label("Compare by").select_option(by)
        chosen, third = [documents[base], documents[1]], documents[2 - base]
        found = compare([one.trace for one in chosen], by=by, labels=[one.label for one in chosen])
        expect(view.locator('[data-field="verdict"]')).to_have_text(found.verdict())
        counted = f"{exact(found.standing_out().height)} of {exact(found.units.height)} {by}s "
        expect(view.locator('[data-field="beyond"]')).to_contain_text(counted)
        expect(heads.first).to_have_text(f"{chosen[0].label} (base)")
        expect(heads.nth(3)).to_have_text(third.label)


@pytest.mark.slow
def test_a_banner_that_was_closed_is_there_for_the_next_document(page, serve, expect):
    served = serve(made_gemm(), made_gemm("gfx950"))
    page.route("**/api/*/overview", _with_a_loss)
    page.goto(served.url)
    banner = page.locator('[data-banner="damage"]')
    banner.get_by_role("button", name="Close").click()
    expect(banner).to_have_count(0)
    page.get_by_label("Document").select_option("0")
    expect(banner).to_have_count(1)


def _with_a_loss(route):
    answer = route.fetch()
    facts = answer.json()
    loss = {"kind": "made", "count": 1, "se": None, "message": "something is missing", "advice": "", "is_damage": True}
    route.fulfill(response=answer, json={**facts, "losses": [loss]})


@pytest.mark.slow
@pytest.mark.parametrize(
    "paths",
    [
        lambda: (made_gemm(), two_kernels()),
        lambda: (made_rpd(),),
        lambda: (made_capture(), made_capture(slower=1.5)),
    ],
    ids=["traces", "run", "counters"],
)
def test_every_chooser_leads_there_and_back(page, serve, expect, paths):
    page.goto(f"{serve(*paths()).url}#document={len(paths()) - 1}")
    changed = 0
    for name in offered_views(page):
        open_view(page, name)
        view = page.locator(f'[data-view="{name}"]')
        view.wait_for()
        for number in range(view.locator("select").count()):
            changed += _there_and_back(page, view, number, expect)
    assert changed >= 3


def _there_and_back(page, view, number: int, expect) -> bool:
    """Whether another choice changes the text; the first choice brings the first text back."""
    chooser = view.locator("select").nth(number)
    _settled(page, view, expect)
    values = chooser.locator("option:not([disabled])").evaluate_all("all => all.map((one) => one.value)")
    first = chooser.input_value()
    other = next((value for value in values if value != first), None)
    if other is None:
        return False
    texts = {}
    for value in (first, other, first, other, first):
        chooser.select_option(value)
        _settled(page, view, expect)
        texts.setdefault(value, view.text_content())
        expect(view).to_have_text(texts[value])
        expect(chooser).to_have_value(value)
    return texts[first] != texts[other]


def _settled(page, view, expect) -> None:
    expect(page.locator("html")).to_have_attribute("data-asking", "0")
    expect(view.locator('[aria-busy="true"]')).to_have_count(0)
    expect(view.locator(".waiting")).to_have_count(0)
