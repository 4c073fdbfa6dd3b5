"""The settings: every change is seen at once, is there after a reload, and can be taken back."""

from __future__ import annotations

import json

import pytest

from tests.e2e.inputs import made_gemm
from tests.e2e.waiting import eventually, load
from wavewright.analysis.trace.about.overview import traced_span


@pytest.fixture
def expect():
    return pytest.importorskip("playwright.sync_api").expect


def _open_settings(page):
    page.keyboard.press("o")
    dialog = page.locator("dialog.settings-page")
    dialog.wait_for()
    return dialog


def _height(page, selector: str) -> float:
    return page.locator(selector).first.bounding_box()["height"]


@pytest.mark.slow
def test_text_numbers_and_theme_change_at_once_and_can_be_reset(page, serve, expect):
    served = serve(made_gemm())
    page.goto(f"{served.url}#layout=c(0.5:t(isa;0),0.5:t(waves;0))")
    page.locator('[data-view="isa"] [data-row] [data-column="latency"]').first.wait_for()
    rows = {name: _height(page, f'[data-view="{name}"] .row:not(.head)') for name in ("isa", "waves")}
    dialog = _open_settings(page)
    dialog.get_by_label("Text size", exact=True).last.fill("150")
    expect(dialog.locator('[data-setting="textSize"] output')).to_have_text("150 %")
    for name, before in rows.items():
        eventually(
            lambda name=name: round(_height(page, f'[data-view="{name}"] .row:not(.head)'), 1), round(before * 1.5, 1)
        )
    assert page.evaluate("getComputedStyle(document.body).fontSize") == "19.5px"

    facts = page.locator(".shell .facts")
    cycles = traced_span(served.library.document(0).trace)
    assert cycles >= 1000
    expect(facts).to_contain_text(f"{cycles:,} cycles")
    dialog.get_by_label("Thousands", exact=True).last.select_option("none")
    expect(facts).to_contain_text(f"{cycles} cycles")

    dialog.get_by_label("Theme", exact=True).last.select_option("light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.emulate_media(color_scheme="dark")
    dialog.get_by_label("Theme", exact=True).last.select_option("system")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.emulate_media(color_scheme="light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")

    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.reload()
    eventually(lambda: page.evaluate("getComputedStyle(document.body).fontSize"), "19.5px")
    page.locator(".dock [data-view]").first.wait_for()  # keys are heard from then on
    dialog = _open_settings(page)
    reset = dialog.locator('[data-action="reset-settings"]')
    reset.click()
    reset.click()
    eventually(lambda: page.evaluate("getComputedStyle(document.body).fontSize"), "13px")
    expect(dialog.get_by_label("Thousands", exact=True).last).to_have_value("comma")


@pytest.mark.slow
def test_names_and_colours_of_a_token_file_reach_legends_and_timelines(page, serve, expect, tmp_path):
    page.set_viewport_size({"width": 1280, "height": 3000})  # thin rows show states instead of kinds
    page.goto(f"{serve(made_gemm()).url}#layout=c(0.5:t(compute_unit;0),0.5:t(isa;0))")
    legend = page.locator('[data-view="compute_unit"] .kind-legend .kinds')
    expect(legend).to_contain_text("VALU")
    dialog = _open_settings(page)
    field = dialog.get_by_label("Load a token_def.json")
    bad = tmp_path / "bad.json"
    bad.write_text('{"tokens": [["VALU", "green"]]}')
    field.set_input_files(bad)
    expect(dialog.get_by_role("alert")).to_contain_text("Token 1")
    expect(legend).to_contain_text("VALU")
    order = ("NONE", "SMEM", "SALU", "VMEM", "FLAT", "LDS")
    tokens = [[name, "#808080"] for name in order] + [["<b>vector</b>", "#ff00fe"]]
    good = tmp_path / "token_def.json"
    good.write_text(json.dumps({"tokens": tokens, "asmkeys": {"s_load": "LDS"}, "keep_original": True}))
    field.set_input_files(good)
    expect(dialog.locator("[data-tokens]")).to_have_attribute("data-tokens", "7")
    expect(dialog.get_by_role("alert")).to_have_count(0)
    expect(legend).to_contain_text("<b>vector</b>")
    expect(legend).not_to_contain_text("VALU")
    vector = legend.locator(":scope > *").filter(has_text="vector").locator("i")
    expect(vector).to_have_css("background-color", "rgb(255, 0, 254)")
    load = page.locator('[data-view="isa"] .asm-mnemonic').filter(has_text="s_load").first
    expect(load).to_have_css("color", "rgb(128, 128, 128)")  # by the prefix of its text
    dialog.get_by_label("Colour of <b>vector</b>").fill("#010203")  # what the user chooses comes before the file
    expect(vector).to_have_css("background-color", "rgb(1, 2, 3)")
    page.keyboard.press("Escape")
    page.reload()
    expect(legend).to_contain_text("<b>vector</b>")
    painted = """() => { const canvas = document.querySelector('[data-view="compute_unit"] .timeline canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        for (let i = 0; i < data.length; i += 4)
            if (data[i] === 1 && data[i + 1] === 2 && data[i + 2] === 3) return true;
        return false; }"""
    page.wait_for_function(painted)


@pytest.mark.slow
def test_a_view_of_the_users_choice_is_in_front(page, serve, expect):
    url = serve(made_gemm()).url
    page.goto(url)
    page.locator('[data-view="diagnosis"]').wait_for()
    dialog = _open_settings(page)
    dialog.get_by_label("First view of thread traces", exact=True).last.select_option("stalls")
    page.keyboard.press("Escape")
    expect(page.locator("html")).to_have_attribute("data-keeping", "0")
    load(page, url)
    expect(page.locator('[data-view="stalls"]')).to_be_visible()
    expect(page.locator('[data-view="source"]')).not_to_be_visible()
