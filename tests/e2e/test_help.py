"""The help: keys and views of the document at hand first, those of others folded, and the glossary."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.counter_captures import made_capture
from tests.e2e.inputs import made_gemm
from wavewright.page.glossary import words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "own", "other", "section"),
    [
        (made_gemm, "go to Instructions", "In a roofline", "Thread traces"),
        (made_capture, "go to Roofline", "In a timeline", "Counters"),
    ],
    ids=["trace", "counters"],
)
def test_help_is_about_the_document_at_hand_and_defines_words(page, serve, path, own, other, section):
    page.goto(serve(path()).url)
    page.locator(".dock [data-view]").first.wait_for()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Help")
    expect(dialog.get_by_text(own, exact=True)).to_be_visible()
    of_other_kind = dialog.get_by_text(other, exact=True).first  # two kinds of documents may have such views
    expect(of_other_kind).to_be_hidden()
    for details in dialog.locator("details").all():
        details.locator("summary").click()
    expect(of_other_kind).to_be_visible()
    dialog.get_by_role("tab", name="Glossary").click()
    expect(dialog.locator(".help-words h3").first).to_have_text(section)
    dialog.get_by_label("Find a word").fill("gap")
    (meaning,) = [line["meaning"] for part in words() for line in part["words"] if line["word"] == "gap"]
    expect(dialog.get_by_text(meaning, exact=True)).to_be_visible()
