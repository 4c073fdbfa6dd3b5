"""Pages of counter captures: exported, hostile, poor, in both themes; two of them compared."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.counter_captures import few_counters, hostile_capture, made_capture, real_capture, single_dispatch
from tests.e2e.every_view import look_at_every_view
from tests.e2e.inputs import HOSTILE
from tests.e2e.numbers import measured, percent
from tests.e2e.test_export import offline_page  # noqa: F401 - a fixture
from tests.e2e.waiting import eventually
from tests.kit.sampling import every_third
from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.compare import counter_compare
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.export.page import write_html
from wavewright.readers.counters import open_counters

SHOWN = ".dock .panel:not(.lm-mod-hidden)"
ROOM = """() => [...document.querySelectorAll(".dock .panel:not(.lm-mod-hidden)")].map((panel) => ({
    view: panel.dataset.view,
    text: panel.innerText.trim(),
    images: panel.querySelectorAll("img, script, svg[onload]").length,
}))"""


def _is_bad(panel: dict) -> bool:
    text = panel["text"]
    return panel["images"] > 0 or not text or "this is a bug" in text or "NaN" in text


def _look(page, url: str) -> list[str]:
    """Looks at every view: none is blank, broken or more than text; a script error fails the fixture `page`."""
    bad: list[str] = []

    def look() -> None:
        page.wait_for_function(f"!document.querySelector('{SHOWN} .waiting')")
        bad.extend(str(panel)[:300] for panel in page.evaluate(ROOM) if _is_bad(panel))

    views = look_at_every_view(page, url, look)
    assert bad == []
    return views


@pytest.mark.slow
@pytest.mark.parametrize(
    "capture",
    every_third(
        [
            hostile_capture,
            few_counters,
            single_dispatch,
            lambda: real_capture("gfx1201-counters-pcsampling"),
            lambda: real_capture("pmc-rocprofcompute-vcopy/MI300X_A1_rocpd"),
        ]
    ),
    ids=["hostile", "few counters", "single dispatch", "RDNA", "rocpd form"],
)
def test_every_view_of_a_poor_capture_shows_something(page, serve, capture):
    place = capture()
    if place.name == "gfx1201-counters-pcsampling":
        place = next(iter(sorted(place.rglob("*counter_collection.csv"))))
    page.may_fail_to_load = True  # a question that has no answer says so in its view
    assert len(_look(page, serve(place).url)) >= 8


@pytest.mark.slow
def test_names_of_kernels_are_text(page, serve):
    page.goto(serve(hostile_capture()).url)
    page.locator('[data-view="counter_kernels"] .row:not(.head)', has_text=HOSTILE).first.click()
    page.wait_for_function("location.hash.includes('kernelRank=')")
    expect(page.locator('[data-view="roofline"]')).to_contain_text(HOSTILE, use_inner_text=True)
    eventually(lambda: page.evaluate("document.querySelectorAll('.dock img').length"), 0)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_roofline_is_drawn_in_the_colours_of_the_theme(page, serve, theme):
    page.goto(serve(made_capture()).url + "#layout=t(roofline;0)")
    page.locator(".roofline-plot canvas").wait_for()
    if theme == "light":
        page.locator('[data-action="theme"]').click()
    text = {"dark": [228, 232, 238], "light": [27, 32, 39]}[theme]  # `text` of draw/palette.ts: the roofs
    page.wait_for_function(
        """(text) => {
            const canvas = document.querySelector(".roofline-plot canvas");
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) {
                if (text.every((part, n) => Math.abs(data[i + n] - part) < 3) && data[i + 3] > 250) count += 1;
            }
            return count > 100;
        }""",
        arg=text,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "capture", every_third([made_capture, lambda: real_capture("pmc-mi300x-bmm")]), ids=["made", "real"]
)
def test_an_exported_page_has_all_answers_and_asks_nobody(offline_page, tmp_path, capture):  # noqa: F811
    counters = open_counters(capture())
    file: Path = tmp_path / "counters.html"
    write_html(counters, file)
    shown: list[str] = []
    problems = offline_page.locator(".problem")
    views = look_at_every_view(offline_page, file.as_uri(), lambda: shown.extend(problems.all_inner_texts()))
    assert len(views) >= 8
    assert shown == []
    offline_page.goto("about:blank")
    offline_page.goto(file.as_uri() + "#layout=t(speed_of_light;0)&kernelRank=1&per=wave")
    rows = counter_panels(counters, choice=CounterChoice(kernels=("1",)), normalization="wave").rows
    for row in rows.filter(pl.col("table_id") == "2.1").head(12).iter_rows(named=True):
        cell = offline_page.locator(f'[data-metric="{row["metric_id"]}"] [data-field="average"]')
        eventually(lambda: cell.inner_text() if row["average"] is not None else "", measured(row["average"]))
    assert offline_page.problems == []
    assert {url for url in offline_page.asked if not url.startswith(("data:", "blob:", "about:"))} == {file.as_uri()}


@pytest.mark.slow
def test_two_captures_are_compared(page, serve):
    before, after = made_capture(), made_capture(slower=1.5)
    served = serve(before, after)
    page.goto(served.url + "#document=1&layout=t(counter_compare;0)")
    verdict = page.locator("[data-verdict]")
    verdict.wait_for()
    answer = counter_compare([open_counters(before), open_counters(after)])
    slow = answer.kernels.filter(pl.col("status") == "slower").row(0, named=True)
    row = page.locator('[aria-label="Kernels that changed"] tr', has_text=slow["kernel_name"])
    expect(row.locator('[data-column="change"]')).to_have_text(f"+{percent(slow['change'])}", use_inner_text=True)
    row.click()
    page.wait_for_function("location.hash.includes('kernelRank=0')")
    changed = answer.changes(1).filter(pl.col("kernel_name") == slow["kernel_name"])
    page.get_by_text(f"{changed.height:,} of ").wait_for()


def test_what_the_capture_lacks_is_said(page, serve):
    served = serve(real_capture("pmc-rocprofcompute-vcopy/MI350"))
    page.goto(served.url + "#layout=t(counter_losses;0)")
    losses = served.library.document(0).counters.losses
    assert losses.height
    page.locator("[data-loss]").first.wait_for()
    expect(page.locator("[data-loss]")).to_have_count(losses.height)
