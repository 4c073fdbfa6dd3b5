"""Views of counter captures: what is on screen is what the analyses say."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.counter_captures import few_counters, made_capture, real_capture
from tests.e2e.menus import save
from tests.e2e.numbers import measured
from tests.e2e.waiting import eventually, fragment
from wavewright.analysis.counters.choice import CounterChoice, ranked_kernels
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.analysis.counters.limiters import limiters
from wavewright.analysis.counters.memory_chart import memory_chart
from wavewright.analysis.counters.raw import raw_counters
from wavewright.analysis.counters.roofline import roofline
from wavewright.analysis.counters.values import metric_values

CAPTURES = [
    pytest.param(made_capture, id="made"),
    pytest.param(lambda: real_capture("pmc-mi300x-bmm"), id="real MI300X"),
    pytest.param(lambda: real_capture("pmc-rocprofcompute-vcopy/MI350"), id="real MI350", marks=pytest.mark.slow),
]
CELLS = """(selector) => [...document.querySelectorAll(selector)].map((row) => [row.dataset.metric ?? "",
    Object.fromEntries([...row.querySelectorAll("[data-field], [data-column]")]
        .map((cell) => [cell.dataset.field ?? cell.dataset.column, cell.innerText.trim()]))])"""


TITLES = """() => Object.fromEntries([...document.querySelectorAll(".memory-chart-value")].map((value) => {
    const block = value.closest("[data-block]").dataset.block;
    return [`${block} ${value.dataset.value}`, value.querySelector("title").textContent];
}))"""


def counters_of(served):
    return served.library.document(0).counters


def rows_of(counters, table: str, **asked) -> dict[str, dict]:
    rows = counter_panels(counters, **asked).rows
    return {row["metric_id"]: row for row in rows.filter(pl.col("table_id") == table).iter_rows(named=True)}


def _settled(page) -> None:
    page.wait_for_selector('html[data-asking="0"]')


@pytest.mark.slow
@pytest.mark.parametrize("capture", CAPTURES)
def test_speed_of_light_is_that_of_the_analysis(page, serve, capture):
    served = serve(capture())
    page.goto(served.url + "#layout=t(speed_of_light;0)")
    page.locator(".sol-row").first.wait_for()
    expected = rows_of(counters_of(served), "2.1")
    shown = dict(page.evaluate(CELLS, ".sol-row"))
    assert shown.keys() == expected.keys()
    for metric, row in expected.items():
        assert shown[metric].get("average", "") == measured(row["average"]), row["name"]
        share = row["peak_share"]
        assert shown[metric].get("peak_share", "") == ("" if share is None else f"{share:.1f} %"), row["name"]


@pytest.mark.slow
def test_what_is_not_known_says_why(page, serve):
    served = serve(few_counters())
    page.goto(served.url + "#layout=t(speed_of_light;0)")
    blank = {metric: row for metric, row in rows_of(counters_of(served), "2.1").items() if row["average"] is None}
    assert len(blank) > 20
    for metric, row in list(blank.items())[:4]:
        expect(page.locator(f'[data-metric="{metric}"] .sol-reason')).to_have_text(row["reason"], use_inner_text=True)


@pytest.mark.slow
def test_a_kernel_that_is_selected_anywhere_is_shown_everywhere(page, serve):
    served = serve(made_capture())
    counters = counters_of(served)
    page.goto(served.url + "#layout=c(0.3:t(counter_kernels;0),0.7:r(0.5:t(speed_of_light;0),0.5:t(memory_chart;0)))")
    page.locator('[data-view="counter_kernels"] .row:not(.head)', has_text="axpy").first.click()
    rank = ranked_kernels(counters.dispatches).filter(pl.col("kernel_name").str.contains("axpy"))["kernel"].item()
    page.wait_for_function(f"location.hash.includes('kernelRank={rank}')")
    _settled(page)
    _check_kernel(page, counters, rank)
    page.reload()
    page.locator(".sol-row").first.wait_for()
    _settled(page)
    _check_kernel(page, counters, rank)
    page.locator('[data-view="speed_of_light"] select[aria-label="Kernel"]').select_option("")
    page.wait_for_function("!new URLSearchParams(location.hash.slice(1)).has('kernelRank')")
    page.go_back()
    page.wait_for_function("new URLSearchParams(location.hash.slice(1)).has('kernelRank')")
    _settled(page)
    _check_kernel(page, counters, rank)


def _check_kernel(page, counters, rank: int) -> None:
    choice = CounterChoice(kernels=(str(rank),))
    metric, row = next((k, r) for k, r in rows_of(counters, "2.1", choice=choice).items() if r["name"] == "VALU FLOPs")
    page.wait_for_function(
        "([id, text]) => document.querySelector(`[data-metric='${id}'] [data-field=average]`)?.innerText === text",
        arg=[metric, measured(row["average"])],
    )
    assert row["average"] != rows_of(counters, "2.1")[metric]["average"]
    hit = memory_chart(counters, choice=choice).values.filter(
        (pl.col("block") == "l2") & (pl.col("label") == "hit rate")
    )
    shown = page.locator('[data-block="l2"] [data-value="hit rate"] text').nth(1)
    expect(shown).to_have_text(f"{hit['value'].item():.1f} %")
    expect(page.locator('[data-view="memory_chart"] select[aria-label="Kernel"]')).to_have_value(str(rank))


@pytest.mark.slow
@pytest.mark.parametrize("capture", CAPTURES[:2])
def test_the_memory_chart_has_every_number(page, serve, capture):
    served = serve(capture())
    page.goto(served.url + "#layout=t(memory_chart;0)")
    page.locator(".memory-chart").wait_for()
    answer = memory_chart(counters_of(served))
    told = page.evaluate(TITLES)
    assert len(told) == answer.values.height
    for row in answer.values.iter_rows(named=True):
        said = told[f"{row['block']} {row['label']}"]
        assert (row["reason"] if row["value"] is None else measured(row["value"])) in said
    flows = page.locator(".memory-chart [data-flow]").count()
    assert flows == answer.wires.height


@pytest.mark.slow
def test_panels_search_sort_and_normalize(page, serve):
    served = serve(made_capture())
    counters = counters_of(served)
    page.goto(served.url + "#layout=t(panels;0)&per=wave")
    page.locator('[data-panel="mix"]').click()
    page.locator('[data-table="10.1"] tr[data-metric]').first.wait_for()
    expected = rows_of(counters, "10.1", normalization="wave")
    shown = dict(page.evaluate(CELLS, '[data-table="10.1"] tr[data-metric]'))
    for metric, row in expected.items():
        assert [shown[metric][name] for name in ("average", "minimum", "maximum")] == [
            measured(row[name]) for name in ("average", "minimum", "maximum")
        ], row["name"]
    page.locator('[data-table="10.1"] th [data-column="average"]').click()
    largest_first = sorted((row["average"] for row in expected.values()), reverse=True)

    def order() -> list[float]:
        return [expected[line]["average"] for line, _ in page.evaluate(CELLS, '[data-table="10.1"] tr[data-metric]')]

    eventually(order, largest_first)
    page.get_by_label("Metrics whose name").fill("TCC_MISS")
    page.locator('[data-table="2.1"]').wait_for()
    names = page.locator("tr[data-metric] td:first-child")
    expect(names.get_by_text("VALU FLOPs", exact=True)).to_have_count(0)
    assert "L2 Cache Hit Rate" in names.all_inner_texts()
    page.get_by_label("Metrics whose name").fill("/(/")
    page.get_by_text("not a regular expression").wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("capture", CAPTURES[:2])
def test_the_diagnosis_is_that_of_the_analysis(page, serve, capture):
    served = serve(capture())
    page.goto(served.url + "#layout=t(counter_diagnosis;0)")
    page.locator("[data-limit]").first.wait_for()
    expected = limiters(counters_of(served)).kernels
    summaries = page.locator('[data-limit] [data-field="summary"]').all_inner_texts()
    shown = [text.split(" confidence: ")[0] for text in summaries]
    assert shown == [kernel.summary for kernel in expected]
    page.locator('[data-limit="1"] .limit-name').click()
    page.wait_for_function("location.hash.includes('kernelRank=1')")
    page.wait_for_function("document.querySelectorAll('[data-limit]').length === 1")
    expect(page.locator("[data-limit] header")).to_contain_text(f"{expected[1].duration_share:.1%}".replace("%", " %"))
    told = expected[1].of("at limit", "likely")
    names = page.locator("[data-limit] > .limiter").evaluate_all("all => all.map((one) => one.dataset.limiter)")
    assert names == [one.name for one in told]


@pytest.mark.slow
@pytest.mark.parametrize("capture", CAPTURES[:2])
def test_every_channel_has_its_value(page, serve, capture):
    served = serve(capture())
    page.goto(served.url + "#layout=t(panels;0)&kernelRank=0&metric=18.1.0")
    heat = page.locator('[data-table="18.2"] .heat')
    heat.wait_for()
    rows = rows_of(counters_of(served), "18.2", choice=CounterChoice(kernels=("0",)))
    by_channel = {row["channel"]: row["average"] for row in rows.values()}
    shown = {
        int(one.get_attribute("data-channel")): one.get_attribute("data-value")
        for one in heat.locator("[data-channel]").all()
    }
    assert {channel: pytest.approx(value) for channel, value in by_channel.items()} == {
        channel: float(value) for channel, value in shown.items()
    }


@pytest.mark.slow
def test_a_metric_is_explained_where_it_is_selected(page, serve):
    served = serve(made_capture())
    page.goto(served.url + "#layout=r(0.5:t(speed_of_light;0),0.5:t(panels;0))")
    row = next(row for row in rows_of(counters_of(served), "2.1").values() if row["name"] == "L2 Cache Hit Rate")
    page.locator(f'.sol-row[data-metric="{row["metric_id"]}"]').click()
    explained = page.locator(f'[data-explained="{row["metric_id"]}"]')
    explained.get_by_text("TCC_HIT / (TCC_HIT + TCC_MISS)").wait_for()
    expect(explained).to_contain_text(measured(row["average"]), use_inner_text=True)
    assert f"metric={row['metric_id']}" in fragment(page)
    page.keyboard.press("/")
    page.get_by_label("Search for").fill("Wave Life")
    page.locator(".hit", has_text="Wave Life").click()
    page.locator('[data-explained^="3.1."]').wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("capture", CAPTURES)
def test_the_roofline_is_that_of_the_analysis(page, serve, capture):
    served = serve(capture())
    page.goto(served.url + "#layout=t(roofline;0)")
    plot = page.locator(".roofline-plot")
    plot.wait_for()
    answer = roofline(counters_of(served))
    placed = answer.points.filter(
        (pl.col("intensity") > 0) & (pl.col("gops_per_second") > 0) & (pl.col("level") != "MALL")
    )
    work = "flop" if "flop" in placed["work"] else "iop"  # integer work only where there is no other
    eventually(lambda: int(plot.get_attribute("data-marks")), placed.filter(pl.col("work") == work).height)
    verdicts = page.locator('.roofline-kernels .row:not(.head) [data-column="verdict"]').all_inner_texts()
    assert verdicts == answer.kernels["verdict"].to_list()


@pytest.mark.slow
def test_a_mark_tells_its_numbers_and_selects_its_kernel(page, serve):
    served = serve(made_capture())
    page.goto(served.url + "#layout=t(roofline;0)")
    canvas = page.locator(".roofline-plot canvas")
    canvas.wait_for()
    page.locator(".roofline-kernels .row:not(.head)", has_text="axpy").wait_for()
    answer = roofline(counters_of(served))
    rank = answer.kernels.filter(pl.col("kernel_name").str.contains("axpy"))["kernel"].item()
    place = page.evaluate(FIND_COLOUR, SERIES[rank])
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
    tip = page.locator(f'[data-tip="{rank}"]')
    tip.wait_for()
    points = answer.points.filter((pl.col("kernel") == rank) & (pl.col("work") == "flop"))
    said = tip.inner_text()
    point = next(row for row in points.iter_rows(named=True) if f"{row['level']}: " in said)
    assert measured(point["intensity"]) in said
    assert measured(point["gops_per_second"]) in said
    page.mouse.click(box["x"] + place["x"], box["y"] + place["y"])
    page.wait_for_function(f"location.hash.includes('kernelRank={rank}')")
    before = page.evaluate(FIND_COLOUR, SERIES[rank])
    page.mouse.wheel(0, -600)
    page.locator('[data-action="show-all"]').wait_for()
    page.locator('[data-action="show-all"]').click()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    eventually(lambda: page.evaluate(FIND_COLOUR, SERIES[rank]), before)


@pytest.mark.slow
def test_dispatches_of_a_metric_are_plotted(page, serve):
    served = serve(made_capture())
    counters = counters_of(served)
    page.goto(served.url + "#layout=t(by_dispatch;0)&kernelRank=1&metric=2.1.22")
    plot = page.locator(".by-dispatch")
    plot.wait_for()
    expected = metric_values(counters, by="dispatch", panels=("2.1",), choice=CounterChoice(kernels=("1",))).values
    eventually(lambda: int(plot.get_attribute("data-points")), expected.height)
    with page.expect_download() as download:
        save(page.locator('[data-view="by_dispatch"]'), "csv")
    saved = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines()))
    assert [float(row["value"]) for row in saved] == [pytest.approx(value) for value in expected["2.1.22"]]
    page.get_by_label("Metric", exact=True).select_option("duration")
    page.wait_for_function("!location.hash.includes('metric=')")


@pytest.mark.slow
def test_counters_are_listed_as_they_were_measured(page, serve):
    served = serve(made_capture())
    page.goto(served.url + "#layout=t(raw_counters;0)&kernelRank=2")
    page.get_by_label("Counters whose name contains").fill("TCC_HIT")
    row = page.locator('[data-view="raw_counters"] .row:not(.head)')
    page.get_by_text("1 of ").wait_for()
    expected = raw_counters(counters_of(served), choice=CounterChoice(kernels=("2",))).counters
    total = expected.filter(pl.col("counter") == "TCC_HIT")["total"].item()
    expect(row.locator('[data-column="total"]')).to_have_text(measured(total), use_inner_text=True)


@pytest.mark.slow
def test_numbers_bring_views_to_the_front(page, serve):
    page.goto(serve(made_capture()).url)
    page.locator(".sol-row").first.wait_for()
    for key, view in (("4", "memory_chart"), ("5", "panels"), ("3", "roofline"), ("1", "speed_of_light")):
        page.keyboard.press(key)
        page.locator(f'[data-view="{view}"]:visible').wait_for()


SERIES = ("#4a90e2", "#f0a93b", "#2fae54")
FIND_COLOUR = """(hex) => {
    const canvas = document.querySelector(".roofline-plot canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    const found = [];
    for (let i = 0; i < data.length; i += 4) {
        if (data[i] === r && data[i + 1] === g && data[i + 2] === b) found.push(i / 4);
    }
    const at = found[Math.floor(found.length / 2)];
    return { x: (at % canvas.width) / devicePixelRatio, y: Math.floor(at / canvas.width) / devicePixelRatio };
}"""


@pytest.mark.slow
def test_what_is_saved_is_what_the_analysis_says(page, serve, tmp_path):
    served = serve(made_capture())
    page.goto(served.url + "#layout=r(0.5:t(panels;0),0.5:t(roofline;0))")
    page.locator('[data-panel="l2"]').click()
    with page.expect_download() as download:
        save(page.locator('[data-view="panels"]'), "csv")
    file: Path = tmp_path / "panels.csv"
    download.value.save_as(file)
    saved = {row["metric_id"]: row for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines())}
    expected = rows_of(counters_of(served), "17.1")
    assert {metric: float(saved[metric]["average"]) for metric in expected} == {
        metric: pytest.approx(row["average"]) for metric, row in expected.items()
    }
    with page.expect_download() as download:
        save(page.locator('[data-view="roofline"]'), "svg")
    picture: Path = tmp_path / "roofline.svg"
    download.value.save_as(picture)
    assert "TFLOP/s" in picture.read_text(encoding="utf-8")
