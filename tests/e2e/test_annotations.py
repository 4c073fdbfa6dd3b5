"""Annotations of others (annotations.json of ROCm WaveScope) in the page: where they are about, as text."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm
from tests.e2e.waiting import eventually
from wavewright.analysis.trace.clocks import alignment
from wavewright.export.trace.ui_output import write_ui_output
from wavewright.readers.opening import open_trace

TITLE = "<img src=x onerror=alert(1)> late"


@pytest.fixture(scope="module")
def annotated(tmp_path_factory):
    """The matrix multiplication decoded, with an annotation of a wave of its second shader engine, and one of a row."""
    folder = write_ui_output(open_trace(made_gemm()), tmp_path_factory.mktemp("annotated"))
    wave = open_trace(folder).waves.filter(se=1).row(0, named=True)
    middle = (wave["start_cycles"] + wave["end_cycles"]) // 2
    rows = json.loads((folder / "code.json").read_text())["code"]
    place = next(place for place, row in enumerate(rows) if row[0].startswith("s_waitcnt"))
    about = {"wave": {"se": 1, "sm": wave["simd"], "slot": wave["slot"]}, "time": [middle, middle + 500]}
    annotations = [
        {"title": "later", "anchor": {"instIdxs": [place]}},
        {"title": TITLE, "severity": "high", "anchor": about},
    ]
    (folder / "annotations.json").write_text(json.dumps(annotations))
    return folder, middle


@pytest.mark.slow
def test_annotations_stand_where_they_are_about(page, serve, annotated):
    folder, middle = annotated
    served = serve(folder)
    trace = served.library.document(0).trace
    page.goto(served.url)
    first, second = (page.locator(f'[data-annotation-card="{number}"]') for number in (1, 2))
    expect(first.locator("h3")).to_have_text(TITLE)
    expect(second.locator("h3")).to_have_text("later")
    eventually(lambda: page.locator(".timeline-facts").first.get_attribute("data-flags"), "1")
    first.get_by_text("show its time").click()
    offset = alignment(trace).offset(1)
    assert offset, "else a clock that is forgotten would not be seen"
    begin, end = middle + offset - 500, middle + offset + 1000
    facts = page.locator(".timeline-facts").first
    eventually(lambda: (float(facts.get_attribute("data-begin")), float(facts.get_attribute("data-end"))), (begin, end))
    (row,) = trace.annotations["rows"].drop_nulls()
    second.locator(f'button[data-row="{row}"]').click()
    badge = page.locator(f'[data-view="isa"] [data-row="{row}"] [data-annotation]')
    expect(badge).to_have_text("2")
    assert badge.get_attribute("title") == "info: later"
