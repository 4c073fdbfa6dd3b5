"""Counters and derived counters: values, the filter by shader engine, the editor."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.counter_inputs import made_counters
from tests.e2e.inputs import real_trace
from tests.e2e.test_curves import expected, pointed, values
from tests.e2e.waiting import eventually
from wavewright.analysis.trace.clocks import clock_curves
from wavewright.analysis.trace.derived_counters import BUILTIN, derived_counters, derived_values
from wavewright.analysis.trace.timeline.curves import derived_steps

OWN = "twice := 2 * sum[ACTIVE_INST_VALU, axis=[SE, CU]]\nbad := 1 +\nnone := NO_SUCH"


def opened(page, served):
    page.goto(f"{served.url}#layout=t(counters;0)")
    view = page.locator('[data-view="counters"]')
    view.locator(".curve-series").first.wait_for()
    return view


def chart(view, label):
    return view.locator(".curve-view").filter(has=view.page.locator(f'canvas[aria-label="{label}"]'))


def derived_at(trace, cycle, definitions=None, se=None):
    got = derived_values(trace, definitions=definitions, se=se)
    return {series.label: pytest.approx(float(curve.at([cycle])[0])) for series, curve in derived_steps(got)}


@pytest.mark.slow
def test_counters_of_all_engines_and_of_one(page, serve):
    served = serve(made_counters())
    trace = served.library.document(0).trace
    view = opened(page, served)
    raw = chart(view, "Counters over time")
    assert values_at(page, raw, lambda cycle: expected(trace, "sampled_counters", cycle))
    view.locator("[data-engine]").select_option("1")
    page.wait_for_load_state("networkidle")
    assert values_at(page, raw, lambda cycle: expected(trace, "sampled_counters", cycle, se=1))
    derived = chart(view, "Derived counters over time")
    assert values_at(page, derived, lambda cycle: derived_at(trace, cycle, se=1))


def values_at(page, panel, of):
    cycle = pointed(page, panel)
    assert values(panel) == of(cycle)
    return cycle


@pytest.mark.slow
def test_own_definitions_are_applied_and_mistakes_stand_beside_their_lines(page, serve):
    served = serve(made_counters())
    trace = served.library.document(0).trace
    view = opened(page, served)
    view.locator('[data-action="edit"]').click()
    area = view.locator("textarea")
    expect(area).to_have_value(BUILTIN)
    area.fill(OWN)
    view.locator('[data-action="apply"]').click()
    view.locator('[data-derived="twice"]').wait_for()
    mean = derived_counters(trace, definitions=OWN.splitlines()[0]).summary["value_mean"][0]
    eventually(lambda: float(view.locator('[data-derived="twice"]').get_attribute("data-mean")), pytest.approx(mean))
    eventually(
        lambda: [line.get_attribute("data-line") for line in view.locator(".derived-problems li").all()], ["2", "3"]
    )
    expect(view.locator('.derived-problems [data-line="3"]')).to_contain_text(
        "unknown name NO_SUCH", use_inner_text=True
    )
    derived = chart(view, "Derived counters over time")
    assert values_at(page, derived, lambda cycle: derived_at(trace, cycle, OWN))


@pytest.mark.slow
def test_definitions_are_kept_under_a_name_and_the_built_in_set_comes_back(page, serve):
    served = serve(made_counters())
    view = opened(page, served)
    view.locator('[data-action="edit"]').click()
    view.locator("textarea").fill(OWN)
    view.get_by_label("Name to save under").fill("<b>mine</b>")
    view.locator('[data-action="save"]').click()
    page.reload()
    view.locator('[data-series="twice"]').wait_for()
    view.locator('[data-action="edit"]').click()
    expect(view.locator("[data-sets] option")).to_have_text(["built-in set", "<b>mine</b>"], use_inner_text=True)
    expect(view.locator("textarea")).to_have_value(OWN)
    view.locator('[data-action="help"]').click()
    expect(view.locator(".language")).to_contain_text("delta[x, axis=A]", use_inner_text=True)
    view.locator('[data-action="delete"]').click()
    view.locator('[data-series="VALU_util"]').wait_for()
    expect(view.locator("[data-sets] option")).to_have_text(["built-in set"], use_inner_text=True)


@pytest.mark.slow
def test_a_trace_without_counters_shows_its_clock(page, serve):
    served = serve(real_trace("flash_attn_func", 38430))
    trace = served.library.document(0).trace
    view = opened(page, served)
    clock = chart(view, "Shader clock over time")
    pointed(page, clock)
    rates = clock_curves(trace).drop_nulls()
    shown = [float(row.get_attribute("data-value")) for row in clock.locator("[data-value]").all()]
    assert shown == pytest.approx([rates.filter(rates["se"] == se)["mhz"][0] for se in range(4)])
