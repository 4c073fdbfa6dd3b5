"""Views of the answers of the analyses: numbers on screen are those of the API, links select what they name."""

from __future__ import annotations

import re

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import (
    HOSTILE,
    damaged_capture,
    empty_trace,
    hostile_trace,
    made_gemm,
    real_empty_trace,
    real_trace,
    sampled,
    two_kernels,
)
from tests.e2e.menus import open_view
from tests.e2e.numbers import exact, percent, short
from tests.e2e.waiting import eventually, load
from wavewright.analysis.trace.barriers import barriers
from wavewright.analysis.trace.costs.hotspots import sample_hotspots
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.memory_latency import memory_latency
from wavewright.analysis.trace.occupancy import occupancy
from wavewright.analysis.trace.selection import Selection, select
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.trust.verdicts import trust_of
from wavewright.analysis.trace.waits import waits

TRACES = {
    "made gfx942": made_gemm,
    "made gfx1201": lambda: made_gemm("gfx1201"),
    "flash attention": lambda: real_trace("flash_attn_func", 38430),
}
SELECTED_ROW = "row => new URLSearchParams(location.hash.slice(1)).get('row') === String(row)"


@pytest.fixture(params=["made gfx942", pytest.param("made gfx1201", marks=pytest.mark.slow), "flash attention"])
def served(request, serve):
    return serve(TRACES[request.param]())


@pytest.fixture
def gemm(serve):
    return serve(made_gemm())


def show(page, served, view: str):
    """The panel of a view that fills the page, and the trace."""
    load(page, f"{served.url}#layout=t({view};0)")
    page.locator(".dock [data-view]").first.wait_for()
    return page.locator(f'[data-view="{view}"]'), served.library.document(0).trace


def cells(view, column: str) -> list[str]:
    return view.locator(f'[role="gridcell"][data-column="{column}"]').all_inner_texts()


@pytest.mark.slow
def test_the_diagnosis_is_the_plan_of_diagnose(page, served):
    view, trace = show(page, served, "diagnosis")
    plan = diagnose(trace)
    view.locator(".finding").first.wait_for()
    expect(view.locator(".finding h3")).to_have_text(
        [finding.verdict for finding in plan.findings], use_inner_text=True
    )
    gains = view.locator('[data-field="gain"]').all_inner_texts()
    assert gains == [percent(finding.gain_share_max) for finding in plan.findings if finding.gain_share_max > 0]
    stalled = [short(finding.stall_cycles_total) for finding in plan.findings if finding.stall_cycles_total]
    expect(view.locator('[data-field="stall"]')).to_have_text(stalled, use_inner_text=True)
    expect(view.locator('[data-field="time"]')).to_have_text(short(plan.time_cycles), use_inner_text=True)
    first = view.locator(".finding").first
    for item in plan.findings[0].evidence:
        first.locator(f'[data-row="{item.row}"]').first.wait_for()
    in_all = dict(row_costs(trace).select("row", "stall_cycles_total").iter_rows())
    for finding in plan.findings:
        card = view.locator(f'[data-finding="{finding.name}"]')
        for item in finding.evidence:
            if 0 < item.stall_cycles_total < in_all[item.row]:  # one class of what stalls there
                expect(card).to_contain_text(f"in all {short(in_all[item.row])} stall cycles", use_inner_text=True)
    expect(first).to_contain_text(plan.findings[0].remedies[0].text, use_inner_text=True)


@pytest.mark.slow
def test_the_evidence_of_a_finding_is_a_link(page, gemm):
    page.goto(gemm.url + "#view=diagnosis")
    view = page.locator('[data-view="diagnosis"]')
    trace = gemm.library.document(0).trace
    evidence = diagnose(trace).findings[0].evidence[0]
    link = view.locator(f'.evidence [data-row="{evidence.row}"]').first
    link.click()
    page.wait_for_function(SELECTED_ROW, arg=evidence.row)
    expect(link).to_have_class(re.compile("is-selected"))
    edge = waits(trace).producers.filter(pl.col("row") == evidence.row).row(0, named=True)
    view.locator(f'.producer [data-row="{edge["producer_row"]}"]').first.click()
    page.wait_for_function(SELECTED_ROW, arg=edge["producer_row"])
    page.locator('[data-view="isa"]').wait_for()
    view.locator('.finding footer [data-to-view="waits"]').first.click()
    page.locator('[data-view="waits"] .row.selected').wait_for()


@pytest.mark.slow
def test_every_link_to_a_view_opens_one(page, gemm):
    page.goto(gemm.url + "#view=diagnosis")
    links = page.locator('[data-view="diagnosis"] [data-to-view]')
    links.first.wait_for()
    wanted = {link.get_attribute("data-to-view") for link in links.all()}
    assert len(wanted) > 3
    for view in wanted:
        page.locator(f'[data-view="diagnosis"] [data-to-view="{view}"]').first.click()
        page.locator(f'[data-view="{view}"]').wait_for()
        open_view(page, "diagnosis")


@pytest.mark.slow
def test_stalls_are_those_of_the_classes(page, served):
    view, trace = show(page, served, "stalls")
    found = stalls(trace)
    stalled = found.classes.filter(pl.col("stall_cycles_total") > 0).height
    expect(view.locator(".toolbar").first).to_contain_text(f"{stalled} of {found.classes.height} classes have stalls")
    classes = found.classes.filter(pl.col("stall_cycles_total") > 0)
    view.locator(".stall-class").first.wait_for()
    expect(view.locator(".stall-class b")).to_have_text(classes["class"].to_list(), use_inner_text=True)
    expect(view.locator('[data-field="stall"]')).to_have_text(
        [short(n) for n in classes["stall_cycles_total"]], use_inner_text=True
    )
    expect(view.locator('[data-field="stall_share"]')).to_have_text(
        [percent(n) for n in classes["stall_share"]], use_inner_text=True
    )
    expect(view.locator('[data-figure="stall"] strong')).to_have_text(
        short(found.stall_cycles_total), use_inner_text=True
    )
    view.locator(".stall-head").first.click()
    of_first = found.by_row.filter((pl.col("class") == classes["class"][0]) & (pl.col("stall_cycles_total") > 0))
    costs = view.locator('.small-table td[data-column="stall_cycles_total"]')
    costs.first.wait_for()
    shown = costs.all_inner_texts()
    assert shown[: min(12, of_first.height)] == [exact(n) for n in of_first["stall_cycles_total"].head(12)]
    view.locator(".small-table [data-row]").first.click()
    page.wait_for_function(SELECTED_ROW, arg=of_first["row"][0])


@pytest.mark.slow
def test_dependencies_are_the_edges_of_waits(page, served):
    view, trace = show(page, served, "waits")
    found = waits(trace)
    view.get_by_text(f"{exact(found.stalled_count)} of {exact(found.execution_count)} waits stalled").wait_for()
    worst = found.waits.row(0, named=True)
    edge = found.producers.filter(pl.col("row") == worst["row"]).row(0, named=True)
    eventually(lambda: cells(view, "stall_cycles_total")[0], exact(worst["stall_cycles_total"]))
    eventually(lambda: cells(view, "distance_cycles_mean")[0], exact(edge["distance_cycles_mean"]))
    mean = edge["last_stall_cycles_mean"]
    eventually(lambda: cells(view, "last_stall_cycles_mean")[0], "" if mean is None else exact(mean))
    view.locator('.row.wait [data-column="text"] code').first.click()
    page.wait_for_function(SELECTED_ROW, arg=worst["row"])
    view.locator(f'[data-row="{edge["producer_row"]}"]').first.click()
    page.wait_for_function(SELECTED_ROW, arg=edge["producer_row"])


@pytest.mark.slow
def test_barriers_tell_who_came_last(page, served):
    view, trace = show(page, served, "barriers")
    found = barriers(trace)
    view.locator('table[aria-label="Barriers"]').wait_for()
    lost = view.locator('table[aria-label="Barriers"] td[data-column="lost_cycles_total"]').all_inner_texts()
    assert lost == [exact(n) for n in found.rows["lost_cycles_total"]]
    expect(view.locator('[data-figure="workgroups"] strong')).to_have_text(
        exact(found.workgroup_count), use_inner_text=True
    )
    row = found.rows["row"][0]
    last = found.last_waves.filter(pl.col("row") == row).sort("simd", "slot")
    shown = [text for text in view.locator(".places td").all_inner_texts() if "%" in text]
    assert shown == [percent(share) for share in last["last_share"]]
    view.locator('table[aria-label="Barriers"] tbody tr').last.click()
    page.wait_for_function(SELECTED_ROW, arg=found.rows["row"][-1])


@pytest.mark.slow
def test_latencies_are_those_of_memory_latency(page, served):
    view, trace = show(page, served, "memory_latency")
    found = memory_latency(trace)
    view.get_by_text(f"{exact(found.by_row.height)} memory operations").wait_for()
    few = found.by_row.head(8)
    bounds = ["≤ " if is_bound else "" for is_bound in few["is_bound"]]
    means = [f"{bound}{exact(n)}" for bound, n in zip(bounds, few["latency_cycles_mean"], strict=True)]
    eventually(lambda: cells(view, "latency_cycles_mean")[: few.height], means)
    eventually(lambda: cells(view, "sample_count")[: few.height], [exact(n) for n in few["sample_count"]])
    part = found.exposure.row(0, named=True)
    expect(view.locator('[data-part="stall"]')).to_contain_text(percent(part["exposed_share"]), use_inner_text=True)
    view.locator('.row:not(.head) [data-column="kind"]').nth(1).click()
    page.wait_for_function(SELECTED_ROW, arg=found.by_row["row"][1])
    counts = ", ".join(str(n) for n in found.by_row["distribution"][1])
    view.get_by_label(f"Latencies of row {found.by_row['row'][1]}: {counts}").wait_for()


@pytest.mark.slow
def test_occupancy_limits_are_those_of_every_resource(page, served):
    view, trace = show(page, served, "occupancy_limits")
    found = occupancy(trace)
    kernel = found.kernels.row(0, named=True)
    card = view.locator(".limit-card").first
    card.wait_for()
    expect(card.locator('[data-field="limit"]')).to_have_text(str(kernel["waves_per_simd_limit"]), use_inner_text=True)
    expect(card.locator('[data-field="bound_by"]')).to_have_text(kernel["bound_by"], use_inner_text=True)
    expect(card.locator('[data-field="mean"]')).to_have_text(
        f"{kernel['waves_per_simd_mean']:.2f}", use_inner_text=True
    )
    for limiter in found.limiters.iter_rows(named=True):
        shown = card.locator(f'[data-limiter="{limiter["limiter"]}"]').inner_text()
        assert shown == str(limiter["waves_per_simd"])
    for limiter in ("VGPR", "LDS"):
        steps = card.locator(f'[data-amounts="{limiter}"] .step').evaluate_all(
            "steps => steps.map((step) => [Number(step.dataset.atMost), Number(step.dataset.waves)])"
        )
        told = found.amounts.filter(pl.col("limiter") == limiter, pl.col("kernel").eq_missing(kernel["kernel"]))
        assert steps == [list(row) for row in told["at_most", "waves_per_simd"].iter_rows()] or told.height < 2
    unknown = [name for name in ("vgprs", "sgprs", "lds_bytes", "workgroup_size") if kernel[name] is None]
    expect(card.locator("[data-unknown]")).to_have_count(1 if unknown or kernel["registers_from"] == "code" else 0)


@pytest.mark.slow
def test_coverage_tells_what_was_traced_and_every_caveat(page, served):
    view, trace = show(page, served, "coverage")
    found = coverage(trace)
    view.locator('[data-figure="executed"]').wait_for()
    expect(view.locator('[data-figure="executed"] strong')).to_have_text(
        percent(found.executed_share), use_inner_text=True
    )
    expect(view.locator('[data-figure="all_waves"] strong')).to_have_text(
        exact(found.all_wave_count), use_inner_text=True
    )
    expect(view.locator('[data-field="cycles"]')).to_contain_text(trust_of(trace).cycles, use_inner_text=True)
    expect(view.locator('[data-field="lines"]')).to_contain_text(trust_of(trace).lines, use_inner_text=True)
    shown = [item.get_attribute("data-caveat") for item in view.locator("[data-caveat]").all()]
    assert shown == [caveat.name for caveat in trust_of(trace).caveats]
    view.locator('table[aria-label="Paths"] tbody tr').first.click()
    wave = found.paths["first_wave"][0]
    page.wait_for_function("wave => location.hash.includes(`wave=${wave}`)", arg=wave)


@pytest.mark.slow
def test_losses_are_listed_with_what_to_do(page, serve):
    served = serve(damaged_capture())
    page.goto(served.url)
    page.locator('[data-banner="damage"] button').first.click()
    view = page.locator('[data-view="losses"]')
    losses = served.library.document(0).trace.losses
    assert losses.height
    view.locator(".loss").first.wait_for()
    expect(view.locator(".loss")).to_have_count(losses.height)
    for message, advice in losses.select("message", "advice").iter_rows():
        expect(view).to_contain_text(message, use_inner_text=True)
        expect(view).to_contain_text(advice, use_inner_text=True)


@pytest.mark.slow
def test_one_of_several_kernels_can_be_chosen(page, serve):
    served = serve(two_kernels())
    view, trace = show(page, served, "diagnosis")
    whole = diagnose(trace)
    titles = view.locator(".finding h3")
    titles.first.wait_for()
    expect(titles).to_have_text([finding.verdict for finding in whole.findings], use_inner_text=True)
    waves = trace.waves.filter(pl.col("kernel") == 1)["wave"].to_list()
    part = diagnose(select(trace, Selection(waves=tuple(waves))))
    assert part.wave_cycles_total < whole.wave_cycles_total
    assert short(part.time_cycles) != short(whole.time_cycles)
    view.get_by_label("Kernel").select_option("1")
    view.locator('[data-field="time"]').get_by_text(short(part.time_cycles)).wait_for()
    expect(titles).to_have_text([finding.verdict for finding in part.findings], use_inner_text=True)
    assert "kernel=1" in page.evaluate("location.hash")
    page.evaluate("() => { location.hash = 'kernel=1&view=occupancy_limits' }")
    cards = page.locator('[data-view="occupancy_limits"] .limit-card')
    cards.nth(1).wait_for()
    eventually(
        lambda: [card.get_attribute("data-kernel") for card in cards.all()], ["1", "0"]
    )  # the chosen one comes first
    for name in ("stalls", "waits", "barriers", "memory_latency"):
        page.evaluate("id => { location.hash = `kernel=1&view=${id}` }", name)
        expect(page.locator(f'[data-view="{name}"]').get_by_label("Kernel")).to_have_value("1")


@pytest.mark.slow
def test_pc_samples_show_their_reasons(page, serve):
    served = serve(sampled())
    view, trace = show(page, served, "stalls")
    found = sample_hotspots(trace)
    view.locator('[data-figure="samples"]').get_by_text(exact(found.sample_count)).wait_for()
    for reason, count in found.reasons.select("reason", "count").iter_rows():
        expect(view.locator(f'[data-reason="{reason}"]')).to_contain_text(exact(count), use_inner_text=True)
    counts = view.locator('td[data-column="sample_count"]').all_inner_texts()
    assert counts == [exact(count) for count in found.units["sample_count"].head(12)]
    view, _ = show(page, served, "diagnosis")
    view.get_by_text("these are PC samples").wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("trace", [empty_trace, real_empty_trace])
def test_a_trace_without_waves_says_why_there_is_nothing(page, serve, trace):
    served = serve(trace())
    said = {
        "diagnosis": "Do not draw conclusions",
        "coverage": "do not use",
        "stalls": "no instruction was traced",
        "waits": "no instruction was traced",
        "barriers": "no instruction was traced",
        "memory_latency": "no instruction was traced",
        "occupancy_limits": re.compile("GPU|No wave"),
        "compare": "no instruction was traced",
        "losses": re.compile("loss"),
    }
    page.may_fail_to_load = True  # what fits cannot be told where nothing says which GPU it was
    page.goto(served.url)
    page.locator(".shell").wait_for()
    for view, words in said.items():
        page.evaluate("id => { location.hash = `view=${id}` }", view)
        panel = page.locator(f'[data-view="{view}"]')
        panel.wait_for()
        panel.locator(".note, .scroll").first.wait_for()
        panel.get_by_text(words).first.wait_for()


@pytest.mark.slow
def test_names_from_a_trace_are_only_text(fresh_page, serve):
    page = fresh_page
    served = serve(hostile_trace())
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    for view in ("occupancy_limits", "coverage", "stalls", "diagnosis", "memory_latency"):
        panel, _ = show(page, served, view)
        panel.locator(".scroll, .list").first.wait_for()
        if view in ("occupancy_limits", "coverage"):
            panel.get_by_text(HOSTILE).first.wait_for()
        if view == "stalls":
            for head in panel.locator(".stall-head").all():
                head.click()
        eventually(
            lambda: page.evaluate("document.querySelectorAll('.dock img, .dock svg[onload], .dock script').length"), 0
        )
    expect(page.locator(".facts")).to_contain_text(HOSTILE, use_inner_text=True)
    assert dialogs == []
