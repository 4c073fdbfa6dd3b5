"""The summary: shares that AMD's viewer shows for the same traces, totals, hardware utilization."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.counter_inputs import made_counters
from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.waiting import eventually
from wavewright.analysis.trace.costs.row_costs import activity
from wavewright.analysis.trace.derived_counters.sampled_counters import sampled_counters
from wavewright.analysis.trace.occupancy import occupancy
from wavewright.analysis.trace.pipes.utilization import utilization


def opened(page, served):
    page.goto(f"{served.url}#layout=t(summary;0)")
    panel = page.locator('[data-view="summary"]')
    panel.locator('[data-figure="waves"]').wait_for()
    return panel


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "agent", "shares"),
    [("flash_attn_func", 55287, ("4.2 %", "56.0 %", "39.8 %")), ("softmax", 47920, ("2.8 %", "74.2 %", "23.0 %"))],
)
def test_the_ring_of_real_traces(page, serve, kernel, agent, shares):
    panel = opened(page, serve(real_trace(kernel, agent)))
    found = tuple(panel.locator(f'[data-part="{part}"] strong').inner_text() for part in ("idle", "stall", "issue"))
    assert found == shares


def test_numbers_are_those_of_the_analyses(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    panel = opened(page, served)
    split = activity(trace)
    for part, share in (("idle", split.idle_share), ("stall", split.stall_share), ("issue", split.issue_share)):
        eventually(
            lambda: float(panel.locator(f'[data-part="{part}"]').get_attribute("data-share")), pytest.approx(share)
        )
    expect(panel.locator('[data-figure="waves"] strong')).to_have_text(f"{trace.waves.height:,}", use_inner_text=True)
    for pipe, share in utilization(trace).pipes.select("pipe", "busy_share").iter_rows():
        eventually(
            lambda: float(panel.locator(f'[data-pipe="{pipe}"]').get_attribute("data-share")), pytest.approx(share)
        )
    kernel = occupancy(trace).kernels.row(0, named=True)  # the two views say the same
    row = panel.locator(".kernel-facts").first
    for name in ("vgprs", "agprs", "sgprs", "lds_bytes", "workgroup_size"):
        expect(row.locator(f'[data-column="{name}"] b')).to_have_text(f"{kernel[name]:,}", use_inner_text=True)
    row.click()
    page.wait_for_function("location.hash.includes('kernel=')")


@pytest.mark.slow
def test_registers_that_were_not_recorded_are_said_to_be_inferred(page, serve):
    served = serve(real_trace("flash_attn_func", 38430))
    trace = served.library.document(0).trace
    assert trace.kernels["vgprs"].to_list() == [None]
    (kernel,) = occupancy(trace).kernels.filter(occupancy(trace).kernels["vgprs"] > 0).to_dicts()
    panel = opened(page, served)
    expect(panel.locator('.kernel-facts [data-column="vgprs"] b')).to_have_text(f"{kernel['vgprs']:,}")
    expect(panel.locator(".kernel-facts [data-inferred]")).to_have_text("registers inferred from code")
    expect(panel.get_by_text("Not in this trace:")).to_contain_text("recorded registers and LDS")


@pytest.mark.slow
def test_hardware_utilization_from_counters(page, serve):
    served = serve(made_counters())
    answer = sampled_counters(served.library.document(0).trace)
    assert answer.hardware.height
    panel = opened(page, served)
    for unit, share, peak in answer.hardware.iter_rows():
        shown = panel.locator(f'[data-unit="{unit}"]')
        eventually(lambda: float(shown.get_attribute("data-share")), pytest.approx(share))
        beside = panel.locator(f'[data-unit="{unit}"] + [data-peak]')
        eventually(lambda: float(beside.get_attribute("data-peak")), pytest.approx(peak))
    places = answer.hardware_by_cu.select("se", "cu").unique().height
    expect(panel.locator('[aria-label="Counters per CU"] tbody tr')).to_have_count(min(places, 12))
