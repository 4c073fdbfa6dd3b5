"""The gallery: figures of every dispatch as `wavewright info` has them, opening, comparing; runs and counters too."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest
from playwright.sync_api import expect

from tests.cli.in_process import call
from tests.e2e.inputs import made_gemm, other_gemm
from tests.e2e.run_inputs import made_ranks
from tests.kit.made_decoded import decoded_files, write_files
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.model.document import Library
from wavewright.page.assets import page_folder
from wavewright.page.inputs import add_inputs
from wavewright.readers.opening import open_trace
from wavewright.server.running_server import RunningServer, listen


@pytest.fixture(scope="module")
def dispatches() -> Path:
    """A folder of decoded dispatches, as rocprofv3 leaves them."""
    folder = Path(mkdtemp(prefix="wavewright-e2e-")) / "many"
    for number in (1, 2, 3):
        write_files(folder / f"ui_output_agent_1_dispatch_{number}", decoded_files())
    return folder


@pytest.fixture
def opened() -> Iterator[object]:
    """`opened(path, ...)`: a server of these inputs, as `wavewright open` starts it."""
    running: list[RunningServer] = []

    def start(*paths: Path) -> RunningServer:
        library = Library()
        add_inputs(library, paths)
        running.append(RunningServer(library, page_folder(), listen()))
        return running[-1]

    yield start
    for serving in running:
        serving.stop()


def number(text: str) -> int:
    return int(re.sub(r"[^0-9]", "", text))


def figures(card: object, *names: str) -> tuple[int, ...]:
    return tuple(number(card.locator(f"[data-figure={name}]").inner_text()) for name in names)


@pytest.mark.slow
def test_every_dispatch_has_the_figures_of_info(opened, page, dispatches):
    serving = opened(dispatches)
    page.goto(f"{serving.url}#layout=t(gallery;0)")
    cards = page.locator("[data-view=gallery] [data-card]")
    expect(cards).to_have_count(3)
    expect(cards.locator("[data-figure=finding]")).to_have_count(3)
    for card in cards.all():
        label = card.get_by_role("link").inner_text()
        chosen = ["--dispatch", label.split()[-1]] if label.startswith("dispatch") else []
        facts = json.loads(call("info", dispatches, *chosen, "--json").stdout)["overview"]
        wanted = (facts["span_cycles"], facts["waves"], facts["instructions"])
        assert figures(card, "cycles", "waves", "instructions") == wanted
    first = diagnose(open_trace(dispatches)).findings
    expect(cards.first.locator("[data-figure=finding]")).to_contain_text(
        first[0].verdict if first else "the diagnosis found nothing"
    )
    assert sum(document.is_open for document in serving.library.documents) == 1  # looking opens nothing
    cards.nth(2).get_by_role("link").click()
    expect(page.get_by_label("Document", exact=True)).to_have_value("2")
    page.go_back()
    expect(page.get_by_label("Document", exact=True)).to_have_value("0")


@pytest.mark.slow
def test_two_marked_cards_are_compared(opened, page):
    serving = opened(made_gemm(), other_gemm())
    page.goto(f"{serving.url}#layout=t(gallery;0)")
    cards = page.locator("[data-view=gallery] [data-card]")
    expect(cards.locator("[data-figure=cycles]")).to_have_count(2)
    compare = page.locator("[data-view=gallery] [data-action=compare]")
    expect(compare).to_be_disabled()
    for card in cards.all():
        card.get_by_role("checkbox").check()
    compare.click()
    expect(page.get_by_label("Document", exact=True)).to_have_value("1")
    expect(page.locator("[data-view=compare] [data-field=verdict]")).to_be_visible()


@pytest.mark.slow
def test_cards_are_sorted_and_filtered(opened, page):
    serving = opened(made_gemm(), other_gemm())
    page.goto(f"{serving.url}#layout=t(gallery;0)")
    view = page.locator("[data-view=gallery]")
    cards = view.locator("[data-card]")
    expect(cards.locator("[data-figure=cycles]")).to_have_count(2)
    view.get_by_label("sort by").select_option("cycles")
    cycles = [figures(card, "cycles")[0] for card in cards.all()]
    assert cycles == sorted(cycles, reverse=True)
    assert len(set(cycles)) == 2
    view.get_by_label("Filter").fill("after")
    expect(cards).to_have_count(1)
    expect(cards.first).to_contain_text(other_gemm().name)


@pytest.mark.slow
def test_what_cannot_be_read_says_so_on_its_card(opened, page, tmp_path):
    page.may_fail_to_load = True
    broken = write_files(tmp_path / "ui_output_agent_1_dispatch_1", decoded_files())
    serving = opened(made_gemm(), broken)
    shutil.rmtree(broken)
    page.goto(f"{serving.url}#layout=t(gallery;0)")
    expect(page.locator("[data-card='1'] .gallery-problem")).to_contain_text("cannot be read")
    expect(page.locator("[data-card='0'] [data-figure=finding]")).to_be_visible()


@pytest.mark.slow
def test_runs_have_cards_of_their_own(opened, page):
    serving = opened(made_ranks(), made_gemm())
    page.goto(f"{serving.url}#layout=t(run_gallery;0)")
    card = page.locator("[data-view=run_gallery] [data-card='0']")
    expect(card.locator("[data-figure=finding]")).to_be_visible()
    run = serving.library.documents[0].run
    assert figures(card, "processes", "dispatches") == (run.count("processes"), run.count("dispatches"))
    expect(page.locator("[data-card='1'] [data-figure=waves]")).to_be_visible()
