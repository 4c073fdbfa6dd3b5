"""A row of the listing that is moved: by keys and by the pointer, with what the server says of each place."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from synth.planted.decoded_traces import write_decoded
from synth.planted.units import Conditions
from tests.unit.analysis.trace.what_if.planted_kernels import Setting, run
from tests.unit.analysis.trace.what_if.test_acceptance import GATHER
from wavewright.analysis.trace.what_if import reach, what_if
from wavewright.analysis.trace.what_if.assembly import CHECKED
from wavewright.readers.opening import open_trace


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    setting = Setting(Conditions(load_latency_cycles=400, jitter_cycles=24), slots=1, trips=6)
    return write_decoded(run(GATHER, setting, 4), tmp_path_factory.mktemp("edited"))


def opened(page, serve, folder, row: int):
    """The view with a row selected."""
    page.goto(f"{serve(folder).url}#layout=t(isa;0)&row={row}")
    view = page.locator('[data-view="isa"]')
    view.locator(f'[data-row="{row}"].selected').wait_for()
    return view


def _row(trace, text: str) -> int:
    return trace.code.filter(trace.code["text"].str.starts_with(text))["row"][0]


@pytest.mark.slow
def test_keys_move_the_selected_row(page, serve, folder) -> None:
    trace = open_trace(folder)
    row = _row(trace, "v_add_f32_e32 v131")
    places = reach(trace, row)
    view = opened(page, serve, folder, row)
    view.locator(f'[data-row="{row}"] [data-column="text"]').click()
    page.keyboard.press("Alt+ArrowDown")
    panel = view.get_by_role("region", name="What if")
    expect(panel.locator("[data-reach]")).to_have_attribute("data-reach", f"{places.upper_row} {places.lower_row}")
    page.keyboard.press("Alt+ArrowDown")
    edit = f"move {row} down 2"
    expect(panel.get_by_role("textbox")).to_have_value(edit)
    answer = what_if(trace, edit=edit)
    expected = answer.edits.row(0, named=True)
    expect(panel.locator("[data-verdict]")).to_have_attribute("data-verdict", expected["verdict"])
    ruler = panel.locator("[data-low]")
    assert float(ruler.get_attribute("data-low")) == pytest.approx(expected["gain_low_share"])
    assert float(ruler.get_attribute("data-high")) == pytest.approx(expected["gain_high_share"])
    expect(ruler).to_contain_text(expected["gain_low_end"])
    recorded, edited = (answer.execution.filter(is_edited=side)["end_cycles"].max() for side in (False, True))
    expect(panel.locator("figcaption")).to_contain_text(f"{recorded:,} cycles recorded, {edited:,} with the edit")
    page.keyboard.press("Escape")
    expect(panel.get_by_role("textbox")).to_have_value("")


@pytest.mark.slow
def test_the_edit_is_saved_as_the_assembly_that_the_command_writes(page, serve, folder, tmp_path) -> None:
    trace = open_trace(folder)
    row = _row(trace, "v_add_f32_e32 v131")
    view = opened(page, serve, folder, row)
    view.get_by_role("button", name="Move rows").click()
    panel = view.get_by_role("region", name="What if")
    panel.get_by_role("textbox").fill(f"waits; move {row} down 2")
    panel.get_by_role("textbox").press("Enter")
    with page.expect_download() as saved:
        panel.get_by_role("button", name="Save as assembly").click()
    assert saved.value.suggested_filename == "edited.s"
    expect(panel.locator("[data-emitted]")).to_have_text(CHECKED)
    command = shlex.split(panel.locator("code").text_content())
    assert command[0] == "wavewright"
    subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, check=True, capture_output=True)
    assert Path(saved.value.path()).read_bytes() == (tmp_path / "edited.s").read_bytes()
    panel.get_by_role("textbox").fill(f"drop {row}")
    panel.get_by_role("textbox").press("Enter")
    expect(panel.locator("[data-verdict]")).to_have_attribute("data-verdict", "refused")
    expect(panel.get_by_role("button", name="Save as assembly")).to_have_count(0)


@pytest.mark.slow
def test_a_row_is_dragged_by_its_number(page, serve, folder) -> None:
    trace = open_trace(folder)
    row = _row(trace, "v_add_f32_e32 v130")
    blocked_by = reach(trace, row).above_row
    view = opened(page, serve, folder, row)
    view.get_by_role("button", name="Move rows").click()
    number = view.locator(f'[data-row="{row}"] [data-column="row"]')
    free = view.locator(".edit-free").first
    expect(free).to_be_visible()
    assert blocked_by is not None
    number.hover()
    page.mouse.down()
    view.locator(f'[data-row="{row + 4}"] [data-column="row"]').hover()
    expect(view.get_by_role("textbox", name="An edit as")).to_have_value(f"move {row} before {row + 4}")
    expect(view.locator(".edit-here")).to_have_attribute("data-row", str(row + 4))
    page.mouse.up()
    expect(view.locator(".edit-here")).to_have_count(0)
    expect(view.locator("[data-verdict]")).to_be_visible()


def test_what_cannot_be_moved_says_why(page, serve, folder) -> None:
    trace = open_trace(folder)
    view = opened(page, serve, folder, _row(trace, "s_waitcnt vmcnt(1)"))
    view.get_by_role("button", name="Move rows").click()
    expect(view.locator("[data-refusal]")).to_contain_text("derived")
