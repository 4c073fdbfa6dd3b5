"""What stands around the views: URL, history, search, keys, themes, bookmarks, documents."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import made_gemm, real_trace
from tests.e2e.waiting import eventually

SELECTED_WAVE = "document.querySelector('.row.selected [data-column=wave]')?.innerText"


@pytest.fixture
def made(serve):
    return serve(made_gemm())


@pytest.fixture
def gemm(page, made):
    """The same, with a view of it shown."""
    page.goto(made.url + "#layout=t(waves;0)")
    page.locator("[data-view]").first.wait_for()
    return made


def test_a_url_restores_the_selection(page, made):
    page.goto(made.url + "#layout=t(waves;0)&wave=5")
    chosen = page.locator('[data-view="waves"] .row.selected [data-column="wave"]')
    chosen.wait_for()
    expect(chosen).to_have_text("5", use_inner_text=True)


def test_back_and_forward_follow_the_selection(page, made):
    page.goto(made.url + "#layout=t(waves;0)")
    rows = page.locator('[data-view="waves"] .row:not(.head)')
    chosen = page.locator('[data-view="waves"] .row.selected [data-column="wave"]')
    rows.nth(2).click()
    first = chosen.inner_text()
    rows.nth(4).click()
    expect(chosen).not_to_have_text(first, use_inner_text=True)
    page.go_back()
    page.wait_for_function(f"{SELECTED_WAVE} === '{first}'")
    page.go_forward()
    page.wait_for_function(f"{SELECTED_WAVE} !== '{first}'")


@pytest.mark.slow
def test_search_finds_instructions_and_source(page, gemm):
    trace = gemm.library.document(0).trace
    expected = trace.code["text"].str.contains("v_fma").sum()
    page.keyboard.press("/")
    page.get_by_label("Search for").fill("v_fma")
    page.get_by_text(re.compile(rf"^(showing \d+ of )?{expected} hits$")).wait_for()
    page.keyboard.press("Enter")
    row = trace.code.filter(trace.code["text"].str.contains("v_fma"))["row"][0]
    page.wait_for_function("row => new URLSearchParams(location.hash.slice(1)).get('row') === String(row)", arg=row)
    page.keyboard.press("/")
    page.get_by_label("Search for").fill("/__shared__|for \\(/")
    page.locator('.hits [role="group"][aria-label="Source"]').wait_for()
    page.get_by_label("Search for").fill("/(/")
    page.get_by_text("not a regular expression").wait_for()


@pytest.mark.slow
def test_keys_zoom_and_the_list_of_keys_opens(page, gemm):
    page.keyboard.press("w")
    page.wait_for_function("location.hash.includes('time=')")
    page.keyboard.press("0")
    page.wait_for_function("!location.hash.includes('time=')")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Help").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog", name="Help").wait_for(state="detached")


@pytest.mark.slow
def test_theme_and_palette_are_kept(page, gemm):
    page.locator('[data-action="theme"]').click()
    eventually(lambda: page.evaluate("document.documentElement.dataset.theme"), "light")
    page.locator('[data-action="palette"]').click()
    page.reload()
    page.locator("[data-view]").first.wait_for()
    eventually(lambda: page.evaluate("document.documentElement.dataset.theme"), "light")
    expect(page.locator('[data-action="palette"]')).to_have_attribute("aria-pressed", "true")


def test_nonsense_in_the_url_does_no_harm(page, made):
    page.goto(made.url + "#document=99&row=-3&wave=99999999999999999999&time=b~a&layout=r(((&view=%3Cimg%3E&range=5~1")
    page.locator("[data-view]").first.wait_for()


@pytest.mark.slow
def test_documents_can_be_changed(page, serve):
    served = serve(made_gemm(), real_trace("flash_attn_func", 38430))
    page.goto(served.url)
    page.get_by_label("Document").select_option("1")
    page.get_by_text("315,400 instructions").wait_for()
    page.wait_for_function("location.hash.includes('document=1')")


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_said_and_found_again(page, gemm):
    page.may_fail_to_load = True
    page.route("**/api/**", lambda route: route.abort())
    page.keyboard.press("/")
    page.get_by_label("Search for").fill("fma")
    banner = page.locator(".shell .problem")
    banner.get_by_text("the server does not answer").wait_for()
    page.unroute("**/api/**")
    banner.wait_for(state="detached")
    page.get_by_label("Search for").fill("v_fma")
    page.locator(".hit").first.wait_for()


@pytest.mark.slow
def test_a_bookmark_leads_back(page, made):
    page.goto(made.url + "#layout=t(waves;0)&wave=3")
    page.locator('[data-view="waves"] .row.selected').wait_for()
    page.keyboard.press("b")
    page.locator('[data-view="waves"] .row:not(.head)').nth(6).click()
    page.locator('[data-action="bookmarks"]').click()
    page.get_by_role("button", name="go there").click()
    page.wait_for_function(f"{SELECTED_WAVE} === '3'")


@pytest.mark.slow
def test_notes_are_saved_beside_the_trace_only_when_asked(page, serve):
    capture = made_gemm("gfx950")
    served = serve(capture)
    page.goto(served.url + "#layout=t(waves;0)&wave=2")
    page.locator('[data-view="waves"] .row.selected').wait_for()
    page.keyboard.press("b")
    page.locator('[data-action="bookmarks"]').click()
    page.get_by_label("Note").fill("waits long <b>here</b>")
    beside = list(capture.parent.glob(f"{capture.name}*notes*"))
    assert beside == []
    page.locator('[data-action="save-notes"]').click()
    page.get_by_text("saved in").wait_for()
    (file,) = capture.parent.glob(f"{capture.name}*notes*")
    assert "waits long <b>here</b>" in file.read_text(encoding="utf-8")
    page.evaluate("localStorage.clear()")
    page.reload()
    page.locator('[data-action="bookmarks"]').click()
    expect(page.get_by_label("Note")).to_have_value("waits long <b>here</b>")
    file.unlink()


@pytest.mark.slow
def test_the_help_says_where_to_start_and_its_button_stands_out_until_it_was_read(page, made):
    page.goto(made.url)
    button = page.locator('[data-action="help"]')
    expect(button).to_have_class("quiet is-new")
    button.click()
    page.get_by_role("dialog", name="Help").get_by_role("button", name="Explorer").first.click()
    page.locator('[data-view="explorer"]:visible').wait_for()
    page.reload()
    expect(button).to_have_class("quiet")


@pytest.mark.slow
def test_no_number_on_the_first_page_is_not_a_number(page, made):
    page.goto(made.url + "#view=isa&layout=t(isa;0)")
    page.locator('[data-view="isa"] .row:not(.head)').first.wait_for()
    expect(page.locator("body")).not_to_contain_text("NaN", use_inner_text=True)


@pytest.mark.slow
def test_who_types_at_once_after_opening_the_search_loses_no_letter(page, made):
    page.goto(made.url)
    page.locator(".dock [data-view]").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("ds_read")
    expect(page.locator(".palette input")).to_have_value("ds_read")
