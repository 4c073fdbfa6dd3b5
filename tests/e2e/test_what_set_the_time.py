"""Findings and critical path of a run: the page says what the command line says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from playwright.sync_api import expect

from synth.runs import planted, simulate, write_rocpd
from tests.cli.in_process import call
from tests.e2e.waiting import eventually
from wavewright.export.page import write_html
from wavewright.page.run.times import clocks_of
from wavewright.readers.opening import open as open_path

CHANGE = "launch-gaps"


@cache
def late_rank() -> Path:
    """Four ranks on two nodes, of which one is late."""
    folder = Path(mkdtemp(prefix="wavewright-e2e-")) / "late"
    folder.mkdir()
    write_rocpd(simulate(planted("straggler", seed=3, ranks=4)[0]), folder)
    return folder


@cache
def said(verb: str, *options: str) -> dict:
    """What the command line says."""
    return json.loads(call(verb, late_rank(), *options, "--json").stdout)


def percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def test_the_first_screen_says_the_first_finding(page, serve):
    served = serve(late_rank())
    page.goto(served.url)
    view = page.locator('[data-view="run_diagnosis"]')
    truth = said("diagnose")
    first = truth["findings"][0]
    expect(view.locator('[data-field="headline"]')).to_have_text(truth["headline"])
    card = view.locator(".finding").first
    expect(card.locator("h3")).to_have_text(first["verdict"])
    expect(card.locator('[data-field="gain"]')).to_have_text(percent(first["bound_share"]))
    reason = first["reason"]
    expect(card.locator('[data-field="reason"]')).to_have_text(reason[:1].upper() + reason[1:])
    expect(card.locator(".remedies li")).to_have_count(len(first["remedies"]))
    expect(view.locator(".finding")).to_have_count(len(truth["findings"]))
    view.locator('[data-notes="Not a finding"] summary').click()
    expect(view.get_by_text(truth["not_findings"][0]["text"])).to_be_visible()


@pytest.mark.slow
def test_a_case_is_shown_in_the_timeline(page, serve):
    served = serve(late_rank())
    page.goto(served.url + "#view=run_diagnosis")
    evidence = said("diagnose")["findings"][0]["evidence"][0]
    page.locator('[data-view="run_diagnosis"] .finding').first.locator(".evidence button").first.click()
    facts = page.locator('[data-view="run_timeline"] .timeline-facts')
    length = evidence["end_ns"] - evidence["start_ns"]
    at = evidence["start_ns"] - clocks_of(served.library.document(0)).starts("node")[evidence["node"]]
    eventually(lambda: float(facts.get_attribute("data-begin")), pytest.approx(at - length, abs=2))
    assert float(facts.get_attribute("data-end")) == pytest.approx(at + 2 * length, abs=2)


@pytest.mark.slow
def test_the_path_has_the_classes_and_predictions_of_the_command_line(page, serve):
    page.goto(serve(late_rank()).url + "#layout=t(path;0)")
    view = page.locator('[data-view="path"]')
    truth = said("path", "--what-if", CHANGE, "--steps")
    shares = [f"{row['class']} {percent(row['path_share'])}" for row in truth["classes"]["rows"]]
    eventually(
        lambda: [text.strip() for text in view.locator(".path-classes .part-legend span").all_inner_texts()], shares
    )
    names = view.locator("table[aria-label=Contributors] td[data-column=name]")
    before = [f"code before {row['name']}" for row in truth["contributors"]["rows"] if row["what"] == "code before"]
    assert before
    eventually(lambda: [text for text in names.all_inner_texts() if text.startswith("code")][:1], before[:1])
    found = said("diagnose")
    expect(view.locator("[data-beside]")).to_contain_text(f"computation {percent(found['computation_share'])}")
    expect(view.locator("[data-beside]")).to_contain_text(f"idle {percent(found['idle_share'])}")
    view.get_by_label("What if", exact=True).select_option(CHANGE)
    (prediction,) = truth["what_if"][0]["predictions"]
    expect(view.locator("[data-predicted]")).to_have_attribute("data-predicted", str(prediction["span_ns_max"]))
    steps = {row["step"] for row in truth["steps"]["rows"]}
    expect(view.get_by_role("grid", name="Path by step")).to_have_attribute("aria-rowcount", str(len(steps) + 1))


@pytest.mark.slow
def test_a_change_can_be_typed(page, serve):
    page.goto(serve(late_rank()).url + "#layout=t(path;0)")
    view = page.locator('[data-view="path"]')
    field = view.get_by_label("A change as wavewright path --what-if takes it")
    field.fill("host=-50%")
    field.press("Enter")
    (prediction,) = said("path", "--what-if", "host=-50%")["what_if"][0]["predictions"]
    expect(view.locator("[data-predicted]")).to_have_attribute("data-predicted", str(prediction["span_ns_max"]))
    field.fill("nonsense")
    page.may_fail_to_load = True
    field.press("Enter")
    expect(view.get_by_role("alert")).to_contain_text("nonsense")


@pytest.mark.slow
def test_the_path_is_drawn_over_the_timeline(page, serve):
    page.goto(serve(late_rank()).url + "#layout=t(run_timeline;0)")
    timeline = page.locator('[data-view="run_timeline"]')
    timeline.locator("canvas").first.wait_for()
    page.wait_for_selector('html[data-asking="0"]')
    before = timeline.locator(".run-timeline").screenshot()
    with page.expect_response(lambda response: "run_path_spans" in response.url) as asked:
        timeline.locator('[data-choose="path"]').check()
    assert asked.value.ok
    page.wait_for_selector('html[data-asking="0"]')
    page.mouse.move(0, 0)
    eventually(lambda: timeline.locator(".run-timeline").screenshot() != before, True)


@pytest.mark.slow
def test_an_exported_page_says_it_too(page, tmp_path):
    file = tmp_path / "run.html"
    write_html(open_path(late_rank()), file)
    page.goto(file.as_uri())
    expect(page.locator('[data-view="run_diagnosis"] .finding h3').first).to_have_text(
        said("diagnose")["findings"][0]["verdict"]
    )
    page.goto(file.as_uri() + "#view=path")
    view = page.locator('[data-view="path"]')
    view.get_by_label("What if", exact=True).select_option(CHANGE)
    (prediction,) = said("path", "--what-if", CHANGE, "--steps")["what_if"][0]["predictions"]
    expect(view.locator("[data-predicted]")).to_have_attribute("data-predicted", str(prediction["span_ns_max"]))
