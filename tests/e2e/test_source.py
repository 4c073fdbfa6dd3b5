"""Source lines with their costs, and the explorer that leads to them."""

from __future__ import annotations

import re

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import hostile_source, made_gemm, real_trace, sampled
from tests.e2e.waiting import eventually, fragment
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.listing.line_costs import line_costs
from wavewright.analysis.trace.listing.source_lines import sample_lines, source_listing

GEMM = "/wavewright/kernels/tiled_gemm.hip"
ROW = '[data-view="source"] .row[data-line="{}"]'


def cell(page, line, column):
    return page.locator(ROW.format(line)).locator(f'[data-column="{column}"]').text_content()


def share(part, whole):
    return f"{part / whole * 100:.1f} %"


def opened(page, served, view, first, *, alone=False):
    beside = f"r(0.3:t(explorer;0),0.7:c(0.5:t(isa;0),0.5:t(source;0)))&view={view}"
    page.goto(f"{served.url}#layout={f't({view};0)' if alone else beside}")
    page.locator(f'[data-view="{view}"] {first}').first.wait_for()


@pytest.mark.slow
def test_numbers_of_every_line_are_those_of_the_analysis(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    opened(page, served, "source", ".row[data-line]", alone=True)
    total = row_costs(trace).select((pl.col("latency_cycles_total") + pl.col("idle_cycles_total")).sum()).item()
    lines = source_listing(trace, attribution="innermost").lines.filter(pl.col("file") == GEMM)
    for line in lines.drop_nulls("line").to_dicts():
        cycles = line["latency_cycles_total"] + line["idle_cycles_total"]
        row = page.locator(ROW.format(line["line"]))
        expect(row.locator("pre")).to_have_text(line["text"])
        eventually(lambda: cell(page, line["line"], "cycles"), f"{cycles:,}" if cycles else "")
        if cycles:
            eventually(lambda: cell(page, line["line"], "share"), share(cycles, total))
            eventually(lambda: cell(page, line["line"], "hits"), f"{line['hit_count']:,}")
            eventually(
                lambda: cell(page, line["line"], "stall"),
                share(line["stall_cycles_total"], line["latency_cycles_total"]),
            )


def test_a_line_opens_to_its_instructions_whose_costs_add_up_to_its_own(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    opened(page, served, "source", ".row[data-line]", alone=True)
    lines = source_listing(trace, attribution="innermost").lines.filter(pl.col("file") == GEMM)
    line = lines.sort("latency_cycles_total", descending=True).row(0, named=True)
    page.locator(ROW.format(line["line"])).locator(".twist").click()
    below = page.locator('[data-view="source"] .row.of-line')
    below.first.wait_for()
    cycles = (pl.col("latency_cycles_total") + pl.col("idle_cycles_total")).alias("cycles")
    costs = dict(row_costs(trace).select("row", cycles).iter_rows())
    shown = {
        int(row.get_attribute("data-row")): row.locator('[data-column="cycles"]').inner_text() for row in below.all()
    }
    assert shown == {row: f"{costs[row]:,}" if costs.get(row) else "" for row in shown}
    assert sum(costs.get(row, 0) for row in shown) == line["latency_cycles_total"] + line["idle_cycles_total"]
    row = next(iter(shown))
    below.first.click()
    eventually(lambda: f"row={row}" in fragment(page).split("&"), expected=True)
    page.locator('[data-choose="instructions"]').check()
    eventually(lambda: below.count() > len(shown), expected=True)


@pytest.mark.slow
def test_with_inlined_lines_a_call_has_the_cost_of_what_it_calls(page, serve):
    served = serve(made_gemm())
    opened(page, served, "source", ".row[data-line]", alone=True)
    eventually(lambda: cell(page, 20, "cycles"), "")
    page.locator('[data-view="source"] [aria-label="Attribution"]').select_option("inclusive")
    lines = line_costs(served.library.document(0).trace).lines
    call = lines.filter(pl.col("file") == GEMM, pl.col("line") == 20)
    cycles = call["inclusive_latency_cycles_total"].item() + call["inclusive_idle_cycles_total"].item()
    eventually(lambda: cell(page, 20, "cycles"), f"{cycles:,}")
    page.locator(ROW.format(20)).click()
    chain = page.locator('[data-view="source"] .chain')
    chain.get_by_text("device.hpp:16").click()
    page.locator('[data-view="source"] [role=tab][aria-selected=true]', has_text="device.hpp").wait_for()
    expect(chain).to_contain_text("called from", use_inner_text=True)
    expect(chain).to_contain_text("tiled_gemm.hip:20", use_inner_text=True)


@pytest.mark.slow
def test_from_the_first_page_to_the_hottest_line_in_one_click(page, serve):
    served = serve(made_gemm())
    trace = served.library.document(0).trace
    opened(page, served, "explorer", ".headline")
    lines = source_listing(trace, attribution="innermost").lines
    lines = lines.with_columns(cycles=pl.col("latency_cycles_total") + pl.col("idle_cycles_total"))
    hottest = lines.sort("cycles", descending=True).row(0, named=True)
    part = share(hottest["cycles"], lines["cycles"].sum())
    name = f"tiled_gemm.hip:{hottest['line']}"
    headline = page.locator('[data-view="explorer"] .headline')
    eventually(lambda: headline.inner_text().splitlines()[0], f"The hottest line is {name} with {part} of all cycles")
    headline.get_by_role("button").click()
    chosen = page.locator('[data-view="source"] .row.selected')
    chosen.wait_for()
    expect(chosen).to_have_attribute("data-line", str(hottest["line"]))
    first = page.locator('[data-view="explorer"] .row.line').first
    expect(first).to_have_attribute("data-line", str(hottest["line"]))
    expect(first.locator('[data-column="cycles"]')).to_have_text(f"{hottest['cycles']:,}")
    assert f"line={hottest['line']}" in fragment(page)
    assert "row=" in fragment(page)


def test_files_and_folders_have_the_costs_of_the_analysis(page, serve):
    served = serve(made_gemm())
    opened(page, served, "explorer", ".row.file", alone=True)
    for file in line_costs(served.library.document(0).trace).files.to_dicts():
        row = page.locator(f'[data-view="explorer"] .row.file[data-file="{file["file"]}"]')
        cycles = file["latency_cycles_total"] + file["idle_cycles_total"]
        expect(row.locator('[data-column="cycles"]')).to_have_text(f"{cycles:,}")
    folder = page.locator('[data-view="explorer"] .row.folder')
    assert folder.locator(".name").inner_text().strip().endswith("/wavewright/kernels/")
    expect(folder.locator('[data-column="share"]')).to_have_text("100.0 %")


@pytest.mark.slow
def test_keys_move_the_line_and_search_finds_lines(page, serve):
    served = serve(made_gemm())
    opened(page, served, "source", ".row[data-line]", alone=True)
    page.locator(ROW.format(18)).click()
    page.locator('[data-view="source"] .list').press("ArrowDown")
    page.locator('[data-view="source"] .row.selected[data-line="19"]').wait_for()
    find = page.locator('[data-view="source"] input[type=search]')
    find.fill("/block_barrier|nothing/")
    expect(page.locator('[data-view="source"] [role=status]')).to_have_text("2 lines", use_inner_text=True)
    find.press("Enter")
    page.locator('[data-view="source"] .row.selected[data-line="20"]').wait_for()
    find.fill("/(/")
    expect(page.locator('[data-view="source"] [role=status]')).not_to_contain_text("lines", use_inner_text=True)


@pytest.mark.slow
def test_hovering_a_line_previews_it(page, serve):
    served = serve(made_gemm())
    opened(page, served, "source", ".row[data-line]")
    page.locator(ROW.format(22)).hover()
    page.locator('[data-view="explorer"] .row.line.preview[data-line="22"]').wait_for()


@pytest.mark.slow
def test_lines_of_a_real_trace_are_shown_with_the_reason_why_their_text_is_not(page, serve):
    served = serve(real_trace("flash_attn_func", 38430))
    opened(page, served, "source", ".row[data-line]", alone=True)
    missing = page.locator('[data-view="source"] .missing').inner_text()
    assert "the source text is not part of this capture" in missing
    assert "--source-root DIR" in missing
    lines = line_costs(served.library.document(0).trace).lines
    lines = lines.filter(pl.col("file").str.ends_with("/flash_attn_func.py"), pl.col("line") == 257)
    cycles = lines["latency_cycles_total"].item() + lines["idle_cycles_total"].item()
    eventually(lambda: cell(page, 257, "cycles"), f"{cycles:,}")
    page.locator(ROW.format(257)).click()
    assert "line=257" in fragment(page)


@pytest.mark.slow
def test_samples_are_shown_by_line_and_reason(page, serve):
    served = serve(sampled())
    opened(page, served, "source", ".row[data-line]")
    lines = sample_lines(served.library.document(0).trace, attribution="innermost").lines
    seen = (pl.col("issued_count") + pl.col("stalled_count")).alias("seen")
    top = lines.with_columns(seen).sort("seen", descending=True).row(0, named=True)
    eventually(lambda: cell(page, top["line"], "cycles"), f"{top['seen']:,}")
    assert cell(page, top["line"], "reason").startswith(f"{top['reason']} ")
    headline = page.locator('[data-view="explorer"] .headline').inner_text()
    assert headline.split(" with ")[0].endswith(f":{top['line']}")


@pytest.mark.slow
def test_bars_by_category_have_the_latency_of_the_analysis(page, serve):
    served = serve(made_gemm())
    opened(page, served, "source", ".row[data-line]", alone=True)
    page.locator('[data-view="source"] [aria-label="Bars"]').select_option("category")
    found = line_costs(served.library.document(0).trace).categories
    found = found.filter(pl.col("file") == GEMM, pl.col("line") == 22, pl.col("latency_cycles_total") > 0)
    bar = page.locator(ROW.format(22)).locator(".cost-bar")
    names = {5: "LDS", 6: "VALU", 9: "IMMED"}
    for _, _, category, cycles, _ in found.iter_rows():
        expect(bar).to_have_attribute("title", re.compile(re.escape(f"{names[category]}: {cycles:,} (")))


@pytest.mark.slow
def test_hostile_names_and_texts_are_only_text(page, serve):
    served = serve(hostile_source())
    opened(page, served, "source", ".row[data-line]")
    name = "<img src=x onerror=alert(1)>.hip"
    page.locator('[data-view="source"] [role=tab]', has_text=name).click()
    row = page.locator(ROW.format(18))
    expect(row.locator("pre")).to_have_text("<script>alert(2)</script> /* <b>", use_inner_text=True)
    expect(page.locator(".dock img, .dock script, pre b")).to_have_count(0)
    names = page.locator('[data-view="explorer"] .row.file .name').all_inner_texts()
    assert any("passwd" in one for one in names)
    assert any(one.endswith("[no source location]") for one in names)


@pytest.mark.slow
def test_lines_and_instructions_follow_each_other(page, serve):
    served = serve(made_gemm())
    opened(page, served, "source", ".row[data-line]")
    page.locator('[data-view="isa"] [data-row]').first.wait_for()
    page.locator(ROW.format(22)).click()
    code = served.library.document(0).trace.code
    rows = code.filter(pl.col("file") == GEMM, pl.col("line") == 22)
    costs = row_costs(served.library.document(0).trace).filter(pl.col("row").is_in(rows["row"].implode()))
    stall = pl.col("exposed_stall_cycles_total")
    costliest = costs.filter(stall == stall.max())["row"].to_list()  # of what waves waited for
    chosen = page.locator('[data-view="isa"] .selected[data-row]')
    chosen.wait_for()
    assert int(chosen.get_attribute("data-row")) in costliest
    other = page.locator(f'[data-view="isa"] [data-row="{int(chosen.get_attribute("data-row")) - 1}"]')
    other.hover()
    line = code.filter(pl.col("row") == int(other.get_attribute("data-row")))["inline_chain"].item()
    numbers = [part.rsplit(":", 1)[1] for part in line.split(" -> ") if part.startswith(GEMM)]
    page.locator(f'[data-view="source"] .row.preview[data-line="{numbers[-1]}"]').wait_for()
    other.click()
    file, number = line.split(" -> ")[0].rsplit(":", 1)
    page.locator(f'[data-view="source"] .row.selected[data-line="{number}"]').wait_for()
    expect(page.locator('[data-view="source"] [role=tab][aria-selected=true]')).to_have_attribute("title", file)
