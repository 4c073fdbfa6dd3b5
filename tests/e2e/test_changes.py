"""Changes beside the figures of all views: what stands there is what the comparison of both documents says."""

from __future__ import annotations

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.counter_captures import made_capture
from tests.e2e.inputs import made_gemm, other_gemm, real_trace
from tests.e2e.numbers import exact, measured, percent
from tests.e2e.run_inputs import made_ranks
from wavewright.analysis.counters.compare import counter_compare
from wavewright.analysis.run.compare.compare import compare_runs
from wavewright.analysis.trace.compare import compare
from wavewright.page.counters.kernels import kernels_of
from wavewright.page.trace.answers import loops_of


def signed(share: float) -> str:
    return f"{'+' if share > 0 else ''}{percent(share)}"


@pytest.fixture(params=["made", "flash attention"])
def pair(request, serve):
    if request.param == "made":
        return serve(made_gemm(), other_gemm())
    return serve(real_trace("flash_attn_func", 38430), real_trace("flash_attn_func", 55287))


def show(page, served, view: str, more: str = ""):
    page.goto(f"{served.url}#document=1{more}&layout=t({view};0)")
    place = page.locator(f'[data-view="{view}"]')
    place.wait_for()
    return place


def units(served, by: str) -> pl.DataFrame:
    return compare([document.trace for document in served.library.documents[:2]], by=by, force=True).units


@pytest.mark.slow
def test_instructions_have_what_the_comparison_says_per_wave(page, pair):
    view = show(page, pair, "isa")
    seen = 0
    for unit in units(pair, "instruction").filter(pl.col("row").is_between(0, 9)).iter_rows(named=True):
        for figure in ("latency", "stall", "exposed"):
            before, after = (unit[f"{side}{figure}_cycles_per_wave"] for side in ("base_", ""))
            cell = view.locator(f'[data-row="{unit["row"]}"] [data-column="{figure}_change"]')
            if unit["change"] == "new":
                expect(cell).to_have_text("new")
            elif before:
                expect(cell).to_have_text(signed(after / before - 1))
                seen += 1
    assert seen > 5


@pytest.mark.slow
def test_source_lines(page, serve):
    served = serve(made_gemm(), other_gemm())
    view = show(page, served, "source")
    lines = units(served, "line").filter(pl.col("label").str.starts_with("tiled_gemm.hip:"))
    costly = lines.sort("cost_cycles_per_wave", descending=True).row(0, named=True)
    line = costly["label"].rsplit(":", 1)[1]
    cell = view.locator(f'[data-line="{line}"] [data-column="change"]')
    share = costly["cost_cycles_per_wave"] / costly["base_cost_cycles_per_wave"] - 1
    expect(cell).to_have_text(signed(share))
    expect(cell.locator(".delta")).to_have_class("delta worse" if costly["stands_out"] else "delta noise")


@pytest.mark.slow
def test_stall_classes(page, pair):
    view = show(page, pair, "stalls")
    documents = pair.library.documents[:2]
    classes = compare([document.trace for document in documents], force=True).stall_classes
    top = classes.sort("stall_cycles_per_wave", descending=True).row(0, named=True)
    head = view.locator(f'[data-class="{top["class"]}"] [data-delta]')
    share = top["stall_cycles_per_wave"] / top["base_stall_cycles_per_wave"] - 1
    expect(head).to_have_text(f"per wave: was {exact(top['base_stall_cycles_per_wave'])} {signed(share)}")


@pytest.mark.slow
def test_loops(page, serve):
    served = serve(made_gemm(), other_gemm())
    before, after = served.library.documents[:2]
    view = show(page, served, "loops")
    (own,), (base,) = (loops_of(document)["loops"]["rows"] for document in (after, before))
    cell = view.locator('.row:not(.head) [data-column="iteration_cycles_median_change"]')
    expect(cell).to_have_text(signed(own["iteration_cycles_median"] / base["iteration_cycles_median"] - 1))


@pytest.mark.slow
def test_cards_of_the_summary_until_changes_are_switched_off(page, serve):
    served = serve(made_gemm(), other_gemm())
    before, after = served.library.documents[:2]
    view = show(page, served, "summary")
    counts = [document.trace.instructions.height for document in (before, after)]
    card = view.locator('[data-figure="instructions"] [data-delta]')
    expect(card).to_have_text(f"was {exact(counts[0])} {signed(counts[1] / counts[0] - 1)}")
    page.locator('[data-switch="changes"]').uncheck()
    expect(card).to_have_count(0)


@pytest.mark.slow
def test_kernels_of_runs(page, serve):
    served = serve(made_ranks(), made_ranks(is_slow=True))
    before, after = served.library.documents[:2]
    truth = compare_runs([before.run, after.run]).things.filter(pl.col("domain") == "KERNEL")
    view = show(page, served, "kernels")
    slow = truth.filter(pl.col("status") == "slower").row(0, named=True)
    row = view.locator(".row", has=page.locator(f'[data-column="name"][title="{slow["name"]}"]'))
    expect(row.locator('[data-column="mean_ns_change"]')).to_have_text(signed(slow["change"]))
    expect(row.locator('[data-column="mean_ns_change"] .delta')).to_have_class("delta worse")
    quiet = truth.filter(pl.col("status") == "same").row(0, named=True)
    row = view.locator(".row", has=page.locator(f'[data-column="name"][title="{quiet["name"]}"]'))
    expect(row.locator('[data-column="mean_ns_change"] .delta')).to_have_class("delta noise")


@pytest.mark.slow
def test_metrics_of_counters(page, serve):
    served = serve(made_capture(), made_capture(slower=1.5))
    before, after = served.library.documents[:2]
    view = show(page, served, "speed_of_light", "&kernelRank=0")
    answer = counter_compare([before.counters, after.counters]).metrics
    kernel = kernels_of(after).filter(pl.col("kernel") == 0)["kernel_name"][0]
    rows = answer.filter((pl.col("kernel_name") == kernel) & pl.col("status").is_in(["higher", "lower"]))
    for row in rows.filter(pl.col("table_id") == "2.1").head(5).iter_rows(named=True):
        place = view.locator(f'[data-metric="{row["metric_id"]}"] [data-delta]')
        expect(place).to_have_text(f"was {measured(row['base'])} {signed(row['change'])}")
