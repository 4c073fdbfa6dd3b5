"""The way that AMD teaches, in five steps: from the longest bar to the source line that asked for the awaited load."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.waiting import settled
from wavewright.analysis.trace.costs.hotspots import hotspots
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.waits import waits


def chosen(page, name: str) -> str | None:
    return page.evaluate("name => new URLSearchParams(location.hash.slice(1)).get(name)", name)


def until_chosen(page, name: str, value: object) -> None:
    page.wait_for_function(
        "([name, value]) => new URLSearchParams(location.hash.slice(1)).get(name) === value", arg=[name, str(value)]
    )


def front(page, title: str) -> None:
    page.locator(".lm-TabBar-tab", has_text=title).first.click()


@pytest.mark.parametrize("has_text", [True, False], ids=["made", "flash"])
def test_from_the_longest_bar_to_the_line_of_the_load(page, serve, has_text):
    served = serve(made_gemm() if has_text else real_trace("flash_attn_func", 38430))
    trace = served.library.document(0).trace
    page.goto(f"{served.url}#view=explorer")

    # 1. Explorer: the longest bar of all lines is the line with most cycles.
    lines = hotspots(trace, by="line").units
    cost = lines["latency_cycles_total"] + lines["idle_cycles_total"]
    hottest = lines.row(cost.arg_max(), named=True)
    explorer = page.locator('[data-view="explorer"]')
    line = explorer.locator(f'.row.line[data-line="{hottest["line"]}"]').first
    line.wait_for()
    lengths = explorer.locator(".row.line [data-column=share]").all_inner_texts()
    expect(line.locator("[data-column=share]")).to_have_text(
        max(lengths, key=lambda text: float(text.split()[0])), use_inner_text=True
    )
    line.click()
    until_chosen(page, "line", hottest["line"])

    # 2. Utilization: shares of the pipes.
    front(page, "Utilization")
    use = page.locator('[data-view="utilization"]')
    use.locator("canvas").first.wait_for()
    busiest = utilization(trace).pipes.sort("busy_share", descending=True).row(0, named=True)
    use.get_by_text(f"{busiest['busy_share'] * 100:.1f} %").first.wait_for()

    # 3. Compute unit: a click on a wave makes it the target.
    front(page, "Compute unit")
    tracks = page.locator('[data-view="compute_unit"] .timeline')
    tracks.wait_for()
    page.wait_for_selector('html[data-asking="0"]')
    facts = page.locator('[data-view="compute_unit"] .timeline-facts')
    gutter, top, height = (float(facts.get_attribute(f"data-{name}")) for name in ("gutter", "top", "row-height"))
    place = tracks.bounding_box()
    for track in range(1, 12):
        across = gutter + (place["width"] - gutter) * 0.4
        page.mouse.click(place["x"] + across, place["y"] + top + height * (track + 0.3))
        settled(page)
        if chosen(page, "wave") is not None:
            break
    assert int(chosen(page, "wave")) in trace.waves["wave"].to_list()

    # 4. Instructions: the fattest wait, and the arrow to its load.
    answer = waits(trace)
    fattest = answer.waits.sort("stall_cycles_total", descending=True).row(0, named=True)
    page.goto(f"{served.url}#view=isa&row={fattest['row']}")
    isa = page.locator('[data-view="isa"]')
    selected = isa.locator(f'.isa-list [data-row="{fattest["row"]}"]')
    selected.wait_for()
    expect(selected.locator('[data-column="stall"]')).to_have_text(
        f"{fattest['stall_cycles_total']:,}", use_inner_text=True
    )
    producers = answer.producers.filter(answer.producers["row"] == fattest["row"])
    load = producers.row(0, named=True)
    isa.locator(f'[data-related] >> css=button:has-text("{load["producer_row"]} ")').first.click()
    until_chosen(page, "row", load["producer_row"])

    # 5. Source: the line that asked for the load, with its text or the reason why there is none.
    until_chosen(page, "line", load["producer_line"])
    front(page, "Source")
    source = page.locator('[data-view="source"]')
    row = source.locator(f'.row.selected[data-line="{load["producer_line"]}"]')
    row.wait_for()
    if has_text:
        text = next(text for file, text in trace.sources.iter_rows() if file == load["producer_file"])
        expect(row).to_contain_text(
            text.splitlines()[load["producer_line"] - 1].strip().split()[0], use_inner_text=True
        )
    else:
        source.get_by_text("the source text is not part of this capture").wait_for()
