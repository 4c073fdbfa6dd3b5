"""Panels and menus: a view with the whole window, tabs that do not fit, layouts with names, toolbars of one line."""

from __future__ import annotations

import re

import pytest

from tests.e2e.inputs import made_gemm
from tests.e2e.menus import offered_views, open_view
from tests.e2e.waiting import eventually, fragment


@pytest.fixture
def expect():
    return pytest.importorskip("playwright.sync_api").expect


def _tab(page, title: str):
    return page.locator(".lm-TabBar-tab").filter(has_text=title)


@pytest.mark.slow
def test_a_view_gets_the_whole_window_and_gives_it_back(page, serve, expect):
    page.goto(serve(made_gemm()).url)
    listing = page.locator('[data-view="isa"]')
    listing.locator("[data-row]").first.wait_for()
    expect(page.locator("[data-headline]")).to_have_attribute("aria-busy", "false")
    before = listing.bounding_box()
    listing.locator(".list").evaluate("list => list.scrollTop = 200")
    _tab(page, "Instructions").dblclick()
    expect(page.locator('[data-view="compute_unit"]')).not_to_be_visible()
    assert listing.bounding_box()["width"] == 1280
    assert listing.bounding_box()["height"] > 600
    assert listing.locator(".list").evaluate("list => list.scrollTop") == 200  # nothing was made anew
    page.keyboard.press("Escape")
    expect(page.locator('[data-view="compute_unit"]')).to_be_visible()
    assert listing.bounding_box() == before
    listing.locator("[data-row]").nth(3).click()
    page.keyboard.press("x")
    expect(page.locator('[data-view="diagnosis"]')).not_to_be_visible()
    page.keyboard.press("2")  # a view of another group: all have their places again
    expect(page.locator('[data-view="compute_unit"]')).to_be_visible()
    expect(page.locator('[data-view="diagnosis"]')).to_be_visible()
    assert "row=" in fragment(page)


@pytest.mark.slow
def test_a_click_on_a_tab_closes_nothing_and_a_closed_view_comes_back(page, serve, expect):
    views = ("compute_unit", "utilization", "heat_map", "occupancy", "stalls", "waits", "waves", "loops")
    page.goto(f"{serve(made_gemm()).url}#layout=c(0.5:t({','.join(views)};0),0.5:t(isa,source;0))")
    tabs = page.locator(".lm-TabBar-tab")
    expect(tabs).to_have_count(len(views) + 2)
    for number in reversed(range(len(views) + 2)):
        place = tabs.nth(number).bounding_box()
        for share in (0.3, 0.5, 0.65, 0.8, 0.95):
            tabs.nth(number ^ 1).click(position={"x": 8, "y": 8})  # its neighbour is in front
            page.mouse.click(place["x"] + share * place["width"], place["y"] + place["height"] / 2)
            expect(tabs.nth(number)).to_have_class(re.compile("lm-mod-current"), timeout=5000)
    expect(tabs).to_have_count(len(views) + 2)
    assert tabs.nth(0).bounding_box()["width"] == pytest.approx(place["width"], abs=1)  # no title moves
    before = page.locator(".lm-TabBar-tabLabel").all_inner_texts()
    tabs.nth(0).click(position={"x": 8, "y": 8})
    tabs.nth(0).locator(".lm-TabBar-tabCloseIcon").click()
    expect(tabs).to_have_count(len(views) + 1)
    page.locator('[data-action="undo-close"]').click()
    expect(page.locator(".lm-TabBar-tabLabel")).to_have_text(before)
    expect(page.locator('[data-banner="closed-view"]')).to_have_count(0)


@pytest.mark.slow
def test_titles_of_tabs_are_whole_and_a_list_has_all(page, serve, expect):
    views = "compute_unit,utilization,global_view,heat_map,occupancy,wave_states,hotspot_histogram,dispatches,waves"
    page.goto(f"{serve(made_gemm()).url}#layout=c(0.5:t({views};0),0.5:t(isa;0))")
    page.set_viewport_size({"width": 700, "height": 700})
    page.locator('[data-view="compute_unit"]').wait_for()
    cut = "labels => labels.filter(label => label.scrollWidth > label.clientWidth + 1).map(label => label.textContent)"
    assert page.locator(".lm-TabBar-tabLabel").evaluate_all(cut) == []
    bar = page.locator(".lm-TabBar").filter(has_text="Compute unit")
    bar.locator(".tab-list").click()
    entries = page.locator('[data-popup="tabs"] .entry')
    titles = [title.strip() for title in bar.locator(".lm-TabBar-tabLabel").all_inner_texts()]
    expect(entries).to_have_text(titles, use_inner_text=True)
    entries.last.click()
    expect(page.locator('[data-popup="tabs"]')).to_have_count(0)
    front = bar.locator(".lm-TabBar-tab.lm-mod-current")
    expect(front).to_contain_text(titles[-1])
    (tab, box) = front.bounding_box(), bar.bounding_box()
    assert box["x"] <= tab["x"] <= tab["x"] + tab["width"] <= box["x"] + box["width"]


@pytest.mark.slow
def test_layouts_have_names(page, serve, expect):
    page.goto(serve(made_gemm()).url)
    page.locator('[data-view="diagnosis"]').wait_for()
    menu, popup = page.locator('[data-opens="Layout"]'), page.locator('[data-popup="Layout"]')
    menu.click()
    page.locator('[data-layout="Timelines stacked"]').click()
    stacked = ("occupancy", "compute_unit", "utilization", "wave_states")
    for view in stacked:
        expect(page.locator(f'[data-view="{view}"]')).to_be_visible()
    tops = [page.locator(f'[data-view="{view}"]').bounding_box()["y"] for view in stacked]
    assert tops == sorted(tops)
    open_view(page, "loops")
    menu.click()
    page.get_by_label("Name of a new layout").fill("Mine <b>")
    page.keyboard.press("Enter")
    expect(popup.locator('[data-layout="Mine <b>"]')).to_be_visible()
    page.get_by_label("Name of a new layout").fill("Default")
    expect(popup.get_by_role("button", name="replace")).to_be_disabled()  # those of the page stay
    popup.locator('[data-layout="Default"]').click()
    expect(page.locator('[data-view="diagnosis"]')).to_be_visible()
    expect(page.locator('[data-view="loops"]')).not_to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-keeping", "0")
    page.reload()
    page.locator('[data-view="diagnosis"]').wait_for()
    menu.click()
    popup.get_by_role("button", name="Rename Mine <b>").click()
    page.get_by_label("New name of Mine <b>").fill("Loops")
    page.keyboard.press("Enter")
    popup.locator('[data-layout="Loops"]').click()
    expect(page.locator('[data-view="loops"]')).to_be_visible()
    menu.click()
    popup.get_by_role("button", name="Delete Loops").click()
    expect(popup.locator('[data-layout="Loops"]')).to_have_count(0)


@pytest.mark.slow
def test_views_are_grouped_and_found_by_a_word(page, serve, expect):
    page.goto(serve(made_gemm()).url)
    assert len(offered_views(page)) >= 15
    page.locator('[data-opens="Views"]').click()
    popup = page.locator('[data-popup="Views"]')
    popup.locator("[data-go]").first.wait_for()
    groups = popup.get_by_role("group")
    assert [group.get_attribute("aria-label") for group in groups.all()][:3] == ["Time", "Code", "Why"]
    page.keyboard.type("barrier")
    expect(popup.locator('[data-go="barriers"]')).to_be_visible()
    expect(popup.locator('[data-go="isa"]')).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.locator('[data-view="barriers"]')).to_be_visible()


@pytest.mark.slow
def test_toolbars_have_one_line(page, serve):
    url = serve(made_gemm()).url
    page.set_viewport_size({"width": 900, "height": 700})
    page.goto(f"{url}#layout=t(explorer;0)")
    page.locator('[data-view="explorer"]').wait_for()
    for view in ("compute_unit", "isa", "source", "hotspot_histogram", "flame", "utilization"):
        open_view(page, view)
        bar = page.locator(f'[data-view="{view}"] .toolbar').first
        bar.wait_for()
        eventually(lambda bar=bar: bar.bounding_box()["height"] < 45, True)
        last = bar.locator(".save, .bar-more").locator("visible=true").last.bounding_box()
        assert last["x"] + last["width"] <= 901
