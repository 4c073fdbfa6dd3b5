"""Views of runs, other than the timeline: tables and trees show what the analyses say, and are linked."""

from __future__ import annotations

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.menus import open_view
from tests.e2e.run_inputs import made_ranks, made_rpd, real_run
from tests.e2e.waiting import eventually, fragment
from tests.kit.sampling import every_third
from wavewright.analysis.run.calls.kernel_names import short_names
from wavewright.analysis.run.compare.compare import compare_runs
from wavewright.analysis.run.contents.regions import regions
from wavewright.analysis.run.contents.summary import summary
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.gpu_time.gaps import gaps
from wavewright.analysis.run.gpu_time.overlap import overlap
from wavewright.analysis.run.kernels import kernels
from wavewright.analysis.run.kernels.top import top
from wavewright.analysis.run.ranks.ranks import ranks
from wavewright.page.run.times import since_begin

KERNELS = '[data-view="kernels"] .table .row:not(.head)'


def nanoseconds(value: float) -> str:
    """As the page shows it."""
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(value) >= scale:
            return f"{value / scale:.3f} {unit}"
    return f"{round(value)} ns"


def cells(rows, column: str) -> list[str]:
    return rows.locator(f'[data-column="{column}"]').all_inner_texts()


def small(view, label: str, column: str) -> list[str]:
    """The cells of a column of a small table."""
    table = view.locator(f'table[aria-label="{label}"]')
    table.wait_for()
    return table.locator(f'td[data-column="{column}"]').all_inner_texts()


@pytest.mark.parametrize(
    "path",
    every_third(
        [
            made_ranks,
            made_rpd,
            lambda: real_run("rpd/matmul_result.rpd"),
            lambda: real_run("att-mi300x-bmm/c08/raw/45_results.db"),
            lambda: real_run("kineto-amd/gaunernst_bert-small-uncased__1016001.json.gz"),
        ]
    ),
    ids=["ranks", "rpd", "real rpd", "real rocpd", "real kineto"],
)
def test_kernels_are_those_of_the_analysis(page, serve, path):
    served = serve(path())
    page.goto(served.url + "#layout=t(kernels;0)")
    rows = page.locator(KERNELS)
    rows.first.wait_for()
    truth = kernels(served.library.document(0).run).kernels.sort("total_ns", descending=True, maintain_order=True)
    shown = len(cells(rows, "calls"))
    assert shown
    for column, look in (("calls", "{:,}".format), ("total_ns", nanoseconds), ("p95_ns", nanoseconds)):
        eventually(lambda: cells(rows, column), [look(value) for value in truth[column].head(shown)])


@pytest.mark.slow
def test_a_kernel_shows_its_distribution_and_the_selection_is_one(page, serve):
    served = serve(made_ranks())
    page.goto(served.url + "#view=kernels")
    row = page.locator(KERNELS).nth(1)
    name = row.locator('[data-column="name"]').get_attribute("title")
    row.click()
    view = page.locator('[data-view="kernels"]')
    run = served.library.document(0).run
    truth = kernels(run)
    view.get_by_text("as a table").click()
    expected = truth.histogram.filter(pl.col("name") == name)["calls"]
    eventually(lambda: small(view, "Histogram of durations", "calls"), [f"{calls:,}" for calls in expected])
    by_rank = summary(run, by="process").things.filter((pl.col("name") == name) & (pl.col("domain") == "KERNEL"))
    eventually(lambda: small(view, "By process", "total_ns"), [nanoseconds(value) for value in by_rank["total_ns"]])
    longest = truth.longest.filter(pl.col("name") == name)["duration_ns"]
    eventually(
        lambda: small(view, "Longest dispatches", "duration_ns")[:3], [nanoseconds(value) for value in longest.head(3)]
    )
    open_view(page, "run_summary")
    chosen = page.locator('[data-view="run_summary"] .table .row.selected [data-column="name"]')
    expect(chosen).to_have_attribute("title", name)
    expect(chosen).to_have_text(short_names(truth.kernels["name"], 44)[name], use_inner_text=True)
    assert "kernelName=" in fragment(page)


@pytest.mark.slow
def test_the_real_matmul_run_has_the_figures_of_rpd(page, serve):
    """Figures of `rocpd top` and `rocpd busy` for this file."""
    served = serve(real_run("rpd/matmul_result.rpd"))
    run = served.library.document(0).run
    first = top(run).things.row(0, named=True)
    assert (first["calls"], round(first["total_ns"] / 1000), round(first["share"] * 100, 6)) == (2, 157178, 85.46092)
    page.goto(served.url + "#layout=t(run_summary;0)")
    view = page.locator('[data-view="run_summary"]')
    truth = summary(run)
    view.locator('[data-figure="gpu_ns"] strong').wait_for()
    expect(view.locator('[data-figure="gpu_ns"] strong')).to_have_text(nanoseconds(truth.gpu_ns), use_inner_text=True)
    view.locator('[data-choose="domain"]').select_option("COPY")
    rows = view.locator(".table .row:not(.head)")
    eventually(lambda: cells(rows, "total_ns")[0], nanoseconds(first["total_ns"]))


@pytest.mark.slow
def test_the_summary_can_be_of_ranks(page, serve):
    served = serve(made_ranks())
    page.goto(served.url + "#layout=t(run_summary;0)")
    view = page.locator('[data-view="run_summary"]')
    view.locator('[data-choose="by"]').select_option("rank")
    truth = summary(served.library.document(0).run, by="rank").domains
    page.wait_for_function("document.querySelector('[data-view=run_summary] td[data-column=rank]')")
    eventually(lambda: small(view, "By kind", "total_ns"), [nanoseconds(v or 0) for v in truth["total_ns"].head(12)])


@pytest.mark.slow
@pytest.mark.parametrize("path", [made_ranks, lambda: real_run("rpd/matmul_result.rpd")], ids=["ranks", "real"])
def test_regions_are_a_tree_that_opens(page, serve, path):
    served = serve(path())
    page.goto(served.url + "#layout=t(regions;0)")
    view = page.locator('[data-view="regions"]')
    view.get_by_role("button", name="open all").click()
    tree = regions(served.library.document(0).run).tree
    rows = view.locator(".regions .row:not(.head)")
    values = [nanoseconds(value) for value in tree["gpu_total_ns"]]
    eventually(lambda: (shown := cells(rows, "gpu_total_ns")) == values[: len(shown)], True)
    shown = cells(rows, "gpu_total_ns")
    eventually(lambda: [text.strip("▾▸ \n") for text in cells(rows, "name")], tree["name"].head(len(shown)).to_list())
    view.get_by_role("button", name="close all").click()
    roots = tree.filter(pl.col("depth") == 0)
    expect(view.get_by_role("grid")).to_have_attribute("aria-rowcount", str(roots.height + 1))


@pytest.mark.slow
def test_a_gap_is_shown_in_the_timeline(page, serve):
    served = serve(made_ranks())
    page.goto(served.url + "#view=gaps")
    view = page.locator('[data-view="gaps"]')
    rows = view.locator(".gaps-longest .row:not(.head)")
    truth = gaps(served.library.document(0).run, keep=500)
    rows.first.wait_for()
    lengths = cells(rows, "gap_ns")
    assert lengths == [nanoseconds(value) for value in truth.largest["gap_ns"].head(len(lengths))]
    eventually(
        lambda: small(view, "Causes", "wait_ns"), [nanoseconds(value) for value in truth.causes["wait_ns"].head(12)]
    )
    rows.nth(1).click()
    length = truth.largest["gap_ns"][1]
    facts = page.locator('[data-view="run_timeline"] .timeline-facts')
    at = since_begin(served.library.document(0), truth.largest)["begin"][1]
    eventually(lambda: float(facts.get_attribute("data-begin")) + length, pytest.approx(at, abs=1))
    begin, end = (float(facts.get_attribute(f"data-{side}")) for side in ("begin", "end"))
    assert end - begin == pytest.approx(3 * length, rel=1e-6)


@pytest.mark.slow
def test_overlap_and_ranks(page, serve):
    served = serve(made_ranks())
    run = served.library.document(0).run
    page.goto(served.url + "#layout=t(overlap;0)")
    view = page.locator('[data-view="overlap"]')
    truth = overlap(run)
    exposed = [nanoseconds(value) for value in truth.gpus["exposed_communication_ns"]]
    eventually(lambda: small(view, "Overlap by GPU", "exposed_communication_ns"), exposed)
    page.goto(served.url + "#view=ranks")
    view = page.locator('[data-view="ranks"]')
    even = ranks(run)
    eventually(
        lambda: small(view, "Processes", "compute_ns"), [nanoseconds(value) for value in even.processes["compute_ns"]]
    )
    expect(view.locator('[data-figure="imbalance"] strong')).to_have_text(
        f"{even.imbalance:.3f} x", use_inner_text=True
    )
    last = even.collectives.row(0, named=True)
    eventually(lambda: small(view, "Collectives", "process")[0], f"rank {last['rank']} ({last['pid']})")
    name = view.get_by_role("grid", name="Kernels by imbalance").locator("tbody tr").first
    name.click()
    assert "kernelName=" in fragment(page)


@pytest.mark.slow
def test_two_runs_are_compared(page, serve):
    served = serve(made_ranks(is_slow=True), made_ranks())
    page.goto(served.url + "#layout=t(run_compare;0)")
    view = page.locator('[data-view="run_compare"]')
    after, before = (served.library.document(number) for number in (0, 1))
    truth = compare_runs([before.run, after.run], labels=[before.label, after.label])
    verdict = view.locator("[data-verdict]")
    expect(verdict).to_have_text(truth.verdict(1), use_inner_text=True)
    expect(view.locator("[data-time-verdict]")).to_have_text(truth.time_verdict(1) or "", use_inner_text=True)
    parts = view.get_by_role("table", name="What the difference of the GPU time is made of").locator("tbody tr")
    expect(parts).to_have_count(truth.parts.height)
    assert any("not attributed" in text for text in parts.all_inner_texts())
    rows = view.locator(".table .row:not(.head)")
    changed = truth.changes(1)
    shown = cells(rows, "status")
    assert shown == changed["status"].head(len(shown)).to_list()
    assert any("flash" in name for name in cells(rows, "name"))


@pytest.mark.slow
def test_one_run_alone_says_how_to_compare(page, serve):
    served = serve(made_ranks())
    page.goto(served.url + "#layout=t(run_compare;0)")
    page.locator('[data-view="run_compare"]').get_by_text("wavewright open BEFORE AFTER").wait_for()


@pytest.mark.slow
def test_busy_shares_are_those_of_the_analysis(page, serve):
    served = serve(real_run("rpd/matmul_result.rpd"))
    page.goto(served.url + "#layout=t(busy;0)")
    view = page.locator('[data-view="busy"]')
    truth = busy(served.library.document(0).run).gpus
    assert truth.select("busy_ns", "span_ns").row(0) == (183_918_056, 2_964_070_817)
    eventually(lambda: small(view, "GPUs", "busy_ns"), [nanoseconds(value) for value in truth["busy_ns"]])
    strips = view.locator('.busy-strip [data-column="busy_share"]')
    eventually(strips.all_inner_texts, [f"{share * 100:.1f} %" for share in truth["busy_share"]])


@pytest.mark.slow
def test_names_are_shown_as_text(page, serve):
    served = serve(made_ranks(hostile=True))
    page.goto(served.url + "#layout=t(kernels;0)")
    rows = page.locator(KERNELS)
    rows.first.wait_for()
    truth = kernels(served.library.document(0).run).kernels["name"]
    hostile = [name for name in truth if ("<" in name and "onerror" in name) or "<script" in name]
    assert hostile
    page.get_by_label("Kernels whose name contains").fill("<")
    rows.first.click()
    page.locator(".kernel-name").wait_for()
    eventually(lambda: page.evaluate("document.querySelectorAll('#app img, #app script, #app iframe').length"), 0)
