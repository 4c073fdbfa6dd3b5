"""Opening from the page: dropped and chosen files, archives, recent inputs, and what cannot be opened."""

from __future__ import annotations

import base64
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.inputs import exported_gemm, made_gemm
from tests.kit.made_decoded import NAME, decoded_files, write_files
from wavewright.model.document import Library
from wavewright.page.assets import page_folder
from wavewright.page.inputs import Reading
from wavewright.readers.opening import open_trace
from wavewright.server.recent import remember
from wavewright.server.running_server import RunningServer, listen
from wavewright.server.uploads import Budget


@pytest.fixture
def page(fresh_page):
    """Uploads that are never answered stay with their page."""
    return fresh_page


@pytest.fixture
def started(tmp_path, monkeypatch) -> Iterator[RunningServer]:
    """A server without documents, as `wavewright open` without PATH starts it."""
    monkeypatch.setenv("WAVEWRIGHT_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("WAVEWRIGHT_CACHE", str(tmp_path / "cache"))
    serving = RunningServer(Library(), page_folder(), listen(), uploads=Budget(bytes=1 << 20))
    yield serving
    serving.stop()


def start(page: object, serving: RunningServer) -> None:
    page.goto(f"{serving.url}#start")
    expect(page.get_by_role("heading", name="Open something to look at")).to_be_visible()


def drop(page: object, files: dict[str, bytes]) -> None:
    """Drop files on the page as a drag from the desktop would."""
    given = {name: base64.b64encode(content).decode() for name, content in files.items()}
    page.evaluate(
        """(given) => {
          const data = new DataTransfer();
          for (const [name, content] of Object.entries(given)) {
            data.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name));
          }
          for (const kind of ["dragover", "drop"]) {
            document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
          }
        }""",
        given,
    )


def packed() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in decoded_files().items():
            member = tarfile.TarInfo(f"{NAME}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def waves_on_screen(page: object) -> int:
    words = page.locator(".shell .facts").inner_text()
    return int(next(part for part in words.split(" · ") if part.endswith(" waves")).split()[0].replace(",", ""))


@pytest.mark.slow
def test_a_chosen_folder_is_shown_with_its_waves(started, page):
    start(page, started)
    page.locator("input[data-open=folder]").set_input_files(made_gemm())
    expect(page.locator(".lm-DockPanel .panel").first).to_be_visible()
    assert waves_on_screen(page) == open_trace(made_gemm()).waves.height
    expect(page.locator(".start-page")).to_have_count(0)
    expect(page.locator("[data-view=isa] [role=row]").first).to_be_visible()


@pytest.mark.slow
def test_a_dropped_archive_is_shown_and_a_second_one_beside_it(started, page, tmp_path):
    start(page, started)
    drop(page, {"first.tar.gz": packed()})
    expect(page.locator(".lm-DockPanel .panel").first).to_be_visible()
    waves = open_trace(write_files(tmp_path / NAME, decoded_files())).waves.height
    assert waves_on_screen(page) == waves
    drop(page, {"second.tar.gz": packed()})
    chooser = page.get_by_label("Document", exact=True)
    expect(chooser).to_have_value("1")
    assert chooser.locator("option").all_inner_texts() == ["first.tar.gz", "second.tar.gz"]
    page.go_back()
    expect(chooser).to_have_value("0")


@pytest.mark.slow
def test_what_cannot_be_opened_is_told_and_leaves_nothing(started, page, tmp_path):
    page.may_fail_to_load = True
    start(page, started)
    drop(page, {"<b>notes.txt": b"hello"})
    problem = page.locator(".start-page [role=alert]")
    expect(problem).to_contain_text("not a format that wavewright reads")
    expect(problem).to_contain_text("<b>notes.txt")
    drop(page, {"big.db": bytes(2 << 20)})
    expect(problem).to_contain_text("at most 1,048,576 bytes and 200,000 files at once")
    expect(page.locator(".start-page")).to_be_visible()
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


def test_an_upload_can_be_cancelled(started, page, tmp_path):
    start(page, started)
    page.route("**/bytes?*", lambda route: None)  # never answered
    drop(page, {"first.tar.gz": packed()})
    expect(page.locator("[data-phase=sending]")).to_contain_text("of")
    page.locator("[data-action=cancel]").click()
    expect(page.locator("[data-phase]")).to_have_count(0)
    expect(page.locator(".start-page [role=alert]")).to_have_count(0)
    expect(page.get_by_role("button", name="Choose a folder…")).to_be_visible()
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


@pytest.mark.slow
def test_a_recent_input_opens_by_a_click(started, page, tmp_path):
    remember([made_gemm()], Reading())
    gone = write_files(tmp_path / "gone" / NAME, decoded_files())
    remember([gone], Reading())
    for file in gone.iterdir():
        file.unlink()
    gone.rmdir()
    start(page, started)
    lines = page.locator("[data-recent]")
    expect(lines).to_have_count(2)
    expect(lines.first).to_contain_text("no longer there")
    expect(lines.first.get_by_role("button").first).to_be_disabled()
    expect(lines.last).to_contain_text("raw thread-trace capture")
    lines.first.get_by_role("button", name="Take").click()
    expect(lines).to_have_count(1)
    lines.first.get_by_role("button").first.click()
    expect(page.locator(".lm-DockPanel .panel").first).to_be_visible()
    assert waves_on_screen(page) == open_trace(made_gemm()).waves.height
    assert len(json.loads(Path(tmp_path / "config" / "recent.json").read_text())["entries"]) == 1


@pytest.mark.slow
def test_the_dialog_keeps_the_focus_and_gives_it_back(page, serve):
    serving = serve(made_gemm())
    page.goto(serving.url)
    button = page.locator("[data-action=open]")
    button.click()
    dialog = page.get_by_role("dialog", name="Open")
    expect(dialog).to_be_visible()
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()


@pytest.mark.slow
def test_an_exported_page_says_that_it_needs_the_program(page):
    page.goto(exported_gemm().as_uri())
    expect(page.locator(".lm-DockPanel .panel").first).to_be_visible()
    expect(page.locator("[data-action=open]")).to_have_count(0)
    drop(page, {"first.tar.gz": packed()})
    expect(page.locator("[data-banner=needs-program]")).to_contain_text("run `wavewright open` and drop it there")
