"""Code without source lines: the explorer and the flame graph show functions, loops, blocks and instructions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm
from tests.e2e.numbers import percent
from tests.e2e.waiting import eventually
from wavewright.analysis.trace.costs.flame import flame
from wavewright.export.trace.tables import write_parquet
from wavewright.readers.opening import open_trace


@cache
def without_lines() -> Path:
    """The matrix multiplication as if it had been compiled without -g."""
    folder = Path(mkdtemp(prefix="wavewright-e2e-")) / "plain"
    trace = open_trace(made_gemm())
    nothing = [pl.lit(None, trace.code.schema[name]).alias(name) for name in ("file", "line", "inline_chain")]
    trace.tables["code"] = trace.code.with_columns(nothing)
    write_parquet(trace, folder)
    return folder


@pytest.mark.slow
def test_the_explorer_goes_from_the_kernel_over_loops_to_instructions(page, serve):
    served = serve(without_lines())
    frames = flame(served.library.document(0).trace, "code").frames.with_columns(
        cost=pl.col("latency_cycles_total") + pl.col("idle_cycles_total")
    )
    whole = frames["cost"][0]
    block = frames.filter(pl.col("kind") == "block").sort("cost").row(-1, named=True)
    hottest = frames.filter(pl.col("parent") == block["frame"]).sort("cost").row(-1, named=True)
    page.goto(f"{served.url}#view=explorer")
    view = page.locator('[data-view="explorer"]')
    kinds = view.locator("[data-kind]")
    kinds.first.wait_for()
    eventually(lambda: [row.get_attribute("data-kind") for row in kinds.all()][:3], ["function", "loop", "block"])
    loop = frames.filter(pl.col("kind") == "loop").row(0, named=True)
    line = view.locator(f'[data-kind="loop"][data-node="{loop["row"]}"]')
    expect(line.locator(".name")).to_contain_text(loop["name"], use_inner_text=True)
    expect(line.locator('[data-column="share"]')).to_have_text(percent(loop["cost"] / whole), use_inner_text=True)
    expect(view.locator(".headline")).to_contain_text(
        f"{block['name']} with {percent(block['cost'] / whole)}", use_inner_text=True
    )
    view.locator(f'[data-kind="instruction"][data-node="{hottest["row"]}"]').click()
    page.locator(f'[data-view="isa"] .isa-list .row.selected[data-row="{hottest["row"]}"]').wait_for()


@pytest.mark.slow
def test_the_flame_graph_opens_on_loops_and_blocks(page, serve):
    served = serve(without_lines())
    frames = flame(served.library.document(0).trace, "code").frames
    page.goto(f"{served.url}#layout=t(flame;0)")
    view = page.locator('[data-view="flame"]')
    expect(view.get_by_label("Tree")).to_have_value("code")
    expect(view.locator('[data-column="total"]')).to_have_attribute("data-frames", str(frames.height - 1))
