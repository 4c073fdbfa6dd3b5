"""marimo in a real browser: displays, the page in a frame, the widget."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.notebook.conftest import PATIENCE_S, Program, free_port, lacking

pytestmark = pytest.mark.slow
NOTEBOOK = """
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import wavewright

    counters = wavewright.open("captures/counters/before")
    counters
    return counters, mo, wavewright


@app.cell
def _(counters, wavewright):
    wavewright.show(counters, "roofline")
    return


@app.cell
def _(counters, mo, wavewright):
    view = mo.ui.anywidget(wavewright.show(counters, live=True))
    view
    return (view,)


@app.cell
def _(mo, view):
    mo.md(f"chosen {view.value.get('selection')} of {view.widget.selected.height}")
    return


if __name__ == "__main__":
    app.run()
"""


@pytest.fixture(scope="module")
def marimo(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    if reason := lacking("marimo"):
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("marimo")
    shutil.copytree(captures, folder / "captures")
    (folder / "shown.py").write_text(NOTEBOOK)
    port = free_port()
    arguments = ["run", "shown.py", "--headless", "--no-token", "--host", "127.0.0.1", "--port", str(port)]
    program = Program("marimo", arguments, folder, f"http://127.0.0.1:{port}/")
    program.wait()
    yield program
    program.stop()


def test_displays_frame_and_widget(browser: Any, marimo: Program) -> None:
    context = browser.new_context(viewport={"width": 1300, "height": 2600})
    context.set_default_timeout(1000 * PATIENCE_S)
    page = context.new_page()
    page.goto(marimo.address)
    page.get_by_text("gather_rows").first.wait_for()
    frames = page.locator("iframe")
    stored = page.frame_locator("iframe >> nth=0")
    stored.locator("canvas, svg").first.wait_for()
    widget = page.frame_locator("iframe >> nth=1")
    frames.nth(1).scroll_into_view_if_needed()
    widget.locator(".row", has_text="gather_rows").first.click()
    page.get_by_text("chosen {'kernel_rank': 1} of 2").wait_for()
    context.close()
