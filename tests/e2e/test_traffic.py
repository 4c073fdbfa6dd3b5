"""The view Traffic of L2: sizes are typed in; figures, workgroups by XCD and by reuse, and tables are the answer's."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.kit.planted_traffic import PLANTED
from wavewright.analysis.trace.fabric import TrafficOptions, fabric_traffic


@pytest.mark.slow
def test_sizes_that_are_typed_in_give_numbers_and_pictures(page, serve, tmp_path):
    kernel = PLANTED[2]
    answer = fabric_traffic(kernel.trace("gfx942", tmp_path), TrafficOptions(kernel.lanes))
    page.goto(serve(tmp_path).url + "#layout=t(traffic;0)")
    view = page.locator('[data-view="traffic"]')
    expect(view).to_contain_text("the number of workgroups is not known")
    expect(view.locator("svg[role=img]")).to_have_count(0)
    for name, value in (
        ("workgroup", "256"),
        ("grid", str(256 * kernel.workgroups)),
        ("arg", f"{kernel.at}={kernel.size}"),
    ):
        view.locator(f'input[name="{name}"]').fill(value)
        view.locator(f'input[name="{name}"]').press("Enter")
    expect(view.locator('[data-figure="fabric_reads"] strong')).to_have_text("516 KB")
    expect(view.locator('[data-figure="unavoidable"] strong')).to_have_text("73.7 KB")
    expect(view.locator('[data-figure="best"] span')).to_have_text(answer.best_mapping)
    for name in ("by XCD", "by reuse"):
        cells = view.get_by_label(f"Workgroups {name}").locator("rect")
        expect(cells).to_have_count(kernel.workgroups)
        xcds = cells.evaluate_all("all => all.map(each => Number(each.dataset.xcd))")
        assert xcds == answer.workgroups["xcd"].to_list()
    first = answer.workgroups.row(0, named=True)
    words = view.get_by_label("Workgroups by reuse").locator("title").first.text_content()
    assert words.startswith(f"workgroup 0, 0, 0 on XCD 0: reads {first['lines_count']} lines")
    by_xcd = view.get_by_label("Workgroups by XCD").locator("rect")
    colours = by_xcd.evaluate_all("all => all.map(each => each.getAttribute('fill'))")
    assert len(set(colours)) == answer.xcd_count
    orders = view.get_by_label("Orders of workgroups", exact=True)
    expect(orders.locator("tbody tr")).to_have_count(answer.mappings.height)
    view.locator('input[name="grid"]').fill("many")
    view.locator('input[name="grid"]').press("Enter")
    expect(view).to_contain_text("'many' is not a size")
