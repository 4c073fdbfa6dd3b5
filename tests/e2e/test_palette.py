"""Find anything: what each kind of text finds, and where it leads."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.e2e.counter_captures import made_capture
from tests.e2e.inputs import made_gemm, other_gemm, real_trace
from tests.e2e.menus import time_field
from tests.e2e.run_inputs import made_ranks
from tests.e2e.waiting import eventually
from wavewright.analysis.trace.listing import isa_listing
from wavewright.page.trace.times import time_range

TRACES = {"made": made_gemm, "flash": lambda: real_trace("flash_attn_func", 38430)}
FOCUSED = "document.activeElement.closest('[data-view]')?.dataset.view"
TIMES = "[...document.querySelectorAll('.timeline-facts')].map(e => [+e.dataset.begin, +e.dataset.end])"
REGISTER = re.compile(r"\bv(?:(\d+)|\[(\d+):(\d+)\])")


def opened(page, served):
    page.goto(served.url)
    page.locator(".dock [data-view]").first.wait_for()
    page.wait_for_selector('html[data-asking="0"]')


def find(page, text: str):
    """Type into the palette; its hits, when all of them are there."""
    page.keyboard.press("/")
    page.get_by_label("Search for").fill(text)
    page.locator(".palette .note", has_text=re.compile(r"hits?$")).wait_for()
    page.wait_for_selector('html[data-asking="0"]')
    return page.locator(".hit")


def go(page, text: str) -> None:
    find(page, text).first.wait_for()
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for(state="detached")


def at(page, name: str) -> str | None:
    """A part of the URL."""
    return parse_qs(page.evaluate("location.hash.slice(1)")).get(name, [None])[0]


def has_v4(text: str) -> bool:
    return any(int(a or b) <= 4 <= int(a or c) for a, b, c in REGISTER.findall(text))


def hit_count(page) -> int:
    return int(page.locator(".palette .note").inner_text().replace(",", "").split()[-2])


@pytest.mark.slow
@pytest.mark.parametrize("trace", TRACES)
def test_addresses_rows_lines_and_waves_of_a_trace(page, serve, trace):
    served = serve(TRACES[trace]())
    opened(page, served)
    code = served.library.document(0).trace.code
    rows = isa_listing(served.library.document(0).trace).rows.filter(pl.col("hit_count") > 0)
    row = rows["row"][len(rows) // 2]
    go(page, hex(code["address"][row]))
    eventually(lambda: at(page, "row"), str(row))
    chosen = page.locator('[data-view="isa"] .row.selected')
    expect(chosen.locator('[data-column="row"]')).to_have_text(f"{row:,}", use_inner_text=True)
    go(page, str(row + 1))
    eventually(lambda: at(page, "row"), str(row + 1))
    go(page, f":{row}")
    eventually(lambda: at(page, "row"), str(row))
    lines = code.filter(pl.col("line") > 0)
    file, line = lines["file"][-1], lines["line"][-1]
    go(page, f"{file.split('/')[-1]}:{line}")
    eventually(lambda: (at(page, "file"), at(page, "line")), (file, str(line)))
    eventually(lambda: page.evaluate(FOCUSED), "source")
    go(page, "wave 4")
    eventually(lambda: at(page, "wave"), "4")
    eventually(lambda: page.evaluate(FOCUSED), "compute_unit")


@pytest.mark.slow
def test_an_exact_address_comes_before_texts_that_contain_it(page, serve):
    served = serve(made_gemm())
    opened(page, served)
    address = hex(served.library.document(0).trace.code["address"][5])
    hits = find(page, address)
    expect(hits.first).to_contain_text(address, use_inner_text=True)
    expect(page.locator('.hits [role="group"]').first).to_have_attribute("aria-label", "Go to")


@pytest.mark.slow
def test_a_cycle_and_a_time_are_brought_onto_the_screen(page, serve):
    served = serve(made_gemm())
    opened(page, served)
    fields = [time_field(page, f"On screen: {part}").input_value() for part in ("begin", "end")]
    page.keyboard.press("Escape")
    start, end = (int(text.replace(",", "")) for text in fields)
    cycle = start + (end - start) * 2 // 3
    go(page, f"cycle {cycle}")

    origin = time_range(served.library.document(0).trace)[0]  # the axis counts from here

    def sees() -> bool:
        shown = page.evaluate(TIMES)
        return bool(shown) and all(
            begin < origin + cycle < last and last - begin < (end - start) / 10 for begin, last in shown
        )

    eventually(sees, True)


@pytest.mark.slow
def test_instructions_by_register_type_and_stall(page, serve):
    served = serve(made_gemm())
    opened(page, served)
    trace = served.library.document(0).trace
    listing = isa_listing(trace).rows
    named = sum(has_v4(text) for text in trace.code["text"])
    find(page, "v4")
    assert hit_count(page) >= named > 0  # some are read or written without being named
    page.get_by_label("Search for").fill("stall>1000")
    wanted = listing.filter(pl.col("stall_cycles_total") > 1000).sort("stall_cycles_total", descending=True)
    eventually(lambda: hit_count(page), wanted.height)
    expect(page.locator(".hit").first).to_contain_text(
        f"stall {wanted['stall_cycles_total'][0]:,}", use_inner_text=True
    )
    page.get_by_label("Search for").fill("type:lds stall>1000")
    lds = wanted.filter(pl.col("class").str.starts_with("lds"))
    eventually(lambda: hit_count(page), lds.height)
    page.keyboard.press("Enter")
    eventually(lambda: at(page, "row"), str(lds["row"][0]))


@pytest.mark.slow
def test_views_and_commands_by_name_and_by_their_signs(page, serve):
    served = serve(made_gemm())
    opened(page, served)
    go(page, "Utilization")
    eventually(lambda: page.evaluate(FOCUSED), "utilization")
    go(page, "@loops")
    eventually(lambda: page.evaluate(FOCUSED), "loops")
    before = page.evaluate("document.documentElement.dataset.theme")
    go(page, ">theme: light")
    eventually(lambda: page.evaluate("document.documentElement.dataset.theme"), "light")
    assert before == "dark"
    go(page, ">reset the layout")
    page.locator('[data-view="diagnosis"]:visible').wait_for()
    page.keyboard.press("Control+k")
    page.get_by_label("Search for").fill(">zoom in")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.includes('time=')")
    with page.expect_download() as download:
        go(page, "@waves")
        go(page, "Waves: Save as CSV")
    assert download.value.suggested_filename.endswith(".csv")


@pytest.mark.slow
def test_who_presses_enter_before_the_hits_are_there_still_gets_the_best(page, serve):
    served = serve(made_gemm())
    opened(page, served)
    page.keyboard.press("/")
    page.keyboard.type("v_fma")
    page.keyboard.press("Enter")
    code = served.library.document(0).trace.code
    row = code.filter(pl.col("text").str.contains("v_fma"))["row"][0]
    eventually(lambda: at(page, "row"), str(row))


@pytest.mark.slow
def test_documents_are_in_the_palette(page, serve):
    served = serve(made_gemm(), other_gemm())
    opened(page, served)
    go(page, ">gemm-gfx942-after")
    eventually(lambda: at(page, "document"), "1")


@pytest.mark.slow
def test_kernels_ranks_and_times_of_a_run(page, serve):
    served = serve(made_ranks())
    opened(page, served)
    go(page, "rank 3")
    chooser = page.locator('[data-view="run_timeline"] select', has_text="all 4 processes")
    eventually(lambda: chooser.evaluate("select => select.value").startswith("rank 3"), True)
    go(page, "1.5 ms")
    eventually(lambda: all(begin < 1.5e6 < end for begin, end in page.evaluate(TIMES)), True)
    go(page, "flash")
    eventually(lambda: "flash" in (at(page, "kernelName") or ""), True)
    eventually(lambda: page.evaluate(FOCUSED), "kernels")


@pytest.mark.slow
def test_metrics_and_kernels_of_counters(page, serve):
    served = serve(made_capture())
    opened(page, served)
    go(page, "axpy")
    eventually(lambda: at(page, "kernelRank") is not None, True)
    go(page, "L2 Cache Hit Rate")
    eventually(lambda: at(page, "metric"), "2.1.21")
    page.locator('[data-explained="2.1.21"]').wait_for()
