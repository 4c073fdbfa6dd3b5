"""Busy GPUs as strips, gaps on the tracks of their GPU, legends that say what is drawn."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from playwright.sync_api import expect

from tests.e2e.run_inputs import made_ranks, real_run
from tests.e2e.waiting import eventually, fragment
from wavewright.analysis.run.calls.kernel_names import short_names
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.gpu_time.gaps import gaps
from wavewright.analysis.run.kernels import kernels
from wavewright.page.run.names import gpu_tracks
from wavewright.page.run.times import clocks_of


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [made_ranks, lambda: real_run("kineto-multirank-2of4/merged_ranks01.json.gz")],
    ids=["ranks", "real kineto"],
)
def test_every_gpu_has_a_strip_with_its_share(page, serve, path):
    served = serve(path())
    page.goto(served.url + "#layout=t(busy;0)")
    view = page.locator('[data-view="busy"]')
    truth = busy(served.library.document(0).run).gpus
    shares = [f"{share * 100:.1f} %" for share in truth["busy_share"]]
    strips = view.locator('.busy-strip [data-column="busy_share"]')
    eventually(strips.all_inner_texts, shares)
    mean = f"{truth['busy_share'].mean() * 100:.1f} %"
    expect(view.locator(".busy-mean .number")).to_have_text(mean)
    view.locator('[data-choose="order"]').select_option("idle")
    idlest = [f"{share * 100:.1f} %" for share in truth["busy_share"].sort()]
    eventually(strips.all_inner_texts, idlest)
    # What is drawn covers as much of the width as the GPU was busy: the first strip is the idlest.
    canvas = view.locator("[data-gpu] canvas").first
    page.wait_for_function("document.documentElement.dataset.asking === '0'")
    drawn = """canvas => {
        const { width, height } = canvas, data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
        let painted = 0;
        for (let at = 1; at < data.length; at += 4) if (data[at] > 120 && data[at - 1] < 90) painted++;
        return painted / (width * height);
    }"""
    busy_ns = truth.sort("busy_share")["busy_ns"][0]
    share = busy_ns / clocks_of(served.library.document(0)).duration_ns
    eventually(lambda: abs(canvas.evaluate(drawn) - share) < 0.1, True)


@pytest.mark.slow
def test_a_gap_is_on_the_tracks_of_its_gpu(page, serve):
    served = serve(made_ranks())
    document = served.library.document(0)
    page.goto(served.url + "#layout=t(gaps;0)")
    rows = page.locator('[data-view="gaps"] .gaps-longest .row:not(.head)')
    rows.first.wait_for()
    truth = gaps(document.run, keep=500).largest.row(2, named=True)
    tracks = next(
        row["tracks"] for row in gpu_tracks(document) if (row["node"], row["gpu"]) == (truth["node"], truth["gpu"])
    )
    rows.nth(2).click()
    # The timeline gets the tracks with the time; it scrolls to them and marks no others.
    expect(page.locator('[data-view="gaps"] .row.selected')).to_have_count(1)
    eventually(lambda: _tracks(page), ("run", tracks))


def _tracks(page) -> tuple[str, list[int]]:
    """The selected tracks of a layer, which stand in the address as `run:3,15-18`."""
    layer, _, ranges = parse_qs(fragment(page)).get("tracks", [""])[0].partition(":")
    ends = [list(map(int, each.split("-"))) for each in ranges.split(",") if each]
    return layer, [track for each in ends for track in range(each[0], each[-1] + 1)]


@pytest.mark.slow
def test_kernels_with_one_beginning_are_told_apart(page, serve):
    served = serve(real_run("rpd/mytrace.rpd.gz"))
    page.goto(served.url + "#view=kernels")
    cells = page.locator('[data-view="kernels"] .table .row:not(.head) [data-column="name"]')
    cells.first.wait_for()
    names = kernels(served.library.document(0).run).kernels.sort("total_ns", descending=True)["name"].to_list()
    short = short_names(names, 44)
    page.wait_for_selector(".kernel-cut")
    shown = cells.evaluate_all("cells => cells.map((cell) => cell.textContent)")
    assert shown == [short[name] for name in names[: len(shown)]]
    # What is left of them on screen differs: the head may be cut, the tail stays.
    tails = page.locator('[data-view="kernels"] .kernel-cut').evaluate_all(
        "cells => cells.map((cell) => cell.lastElementChild.textContent)"
    )
    assert len(tails) > 3
    assert len(set(tails)) == len(tails)
    mangled = next(name for name in names[: len(shown)] if name.startswith("_Z"))
    title = cells.nth(names.index(mangled)).locator("[title]").first.get_attribute("title")
    assert title.startswith("void ") or "ck_tile::" in title
    assert f"recorded as {mangled}" in title


@pytest.mark.slow
def test_bars_have_a_legend(page, serve):
    served = serve(made_ranks())
    page.goto(served.url + "#layout=t(ranks;0)")
    legend = page.locator('[data-view="ranks"] .part-legend span')
    expect(legend).to_have_text(["compute", "collectives without waiting", "waiting in collectives", "copies"])
    colours = legend.locator("i").evaluate_all("marks => marks.map((mark) => getComputedStyle(mark).backgroundColor)")
    bar = page.locator('[data-view="ranks"] .parts-cell').first.locator(".bar-part")
    drawn = bar.evaluate_all("parts => parts.map((part) => getComputedStyle(part).backgroundColor)")
    assert drawn == colours
    page.goto(served.url + "#view=overlap")
    expect(page.locator('[data-view="overlap"] .part-legend span')).to_have_count(4)
