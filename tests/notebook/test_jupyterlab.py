"""JupyterLab in a real browser: displays, the page in a frame, the widget and its selection, an untrusted copy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.notebook.conftest import PATIENCE_S, Program

pytestmark = pytest.mark.slow
RUN = "import wavewright\nrun = wavewright.open('captures/run/before')\nrun"
FRAME = "trace = wavewright.open('captures/trace')\nwavewright.show(trace, 'isa', time='0%:10%')"
WIDGET = "view = wavewright.show(run, 'kernels', live=True)\nview"
SELECTED = "print(view.selection)\nview.selected.select('name', 'start_ns').head(3)"


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1300, "height": 1500})
    context.set_default_timeout(1000 * PATIENCE_S)
    yield context.new_page()
    context.close()


def open_notebook(page: Any, program: Program, name: str, *cells: str) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, program.folder / name)
    page.goto(f"{program.address}/tree/{name}?reset")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()


def run_all(page: Any) -> None:
    page.get_by_text("| Idle").first.wait_for()  # before it is connected, JupyterLab asks which kernel is meant
    page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
    page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()


def output(page: Any, cell: int) -> Any:
    return page.locator(".jp-Notebook .jp-CodeCell").nth(cell).locator(".jp-OutputArea")


def test_displays_frame_and_widget(page: Any, jupyterlab: Program) -> None:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    open_notebook(page, jupyterlab, "shown.ipynb", RUN, FRAME, WIDGET, SELECTED)
    run_all(page)

    display = output(page, 0).locator(".wavewright")
    display.wait_for()
    assert "computation" in display.locator("table").first.inner_text()
    assert display.locator("svg").count()

    stored = output(page, 1)
    frame = stored.frame_locator("iframe")
    frame.locator("canvas").first.wait_for()
    assert frame.locator("canvas").first.bounding_box()["height"] > 20
    assert "s_waitcnt" in stored.locator(".wavewright table").first.inner_text()

    output(page, 2).locator("iframe").scroll_into_view_if_needed()  # browsers let frames off the screen sleep
    widget = output(page, 2).frame_locator("iframe")
    widget.locator("canvas").first.wait_for()
    widget.locator(".row", has_text="flash_forward").first.click()
    widget.locator(".row.selected", has_text="flash_forward").first.wait_for()

    result = output(page, 3)  # the selection is in the kernel
    result.locator("table").wait_for()
    assert "flash_forward" not in result.inner_text()
    selected = result.get_by_text("flash_forward")
    end = time.monotonic() + PATIENCE_S
    while not selected.count() and time.monotonic() < end:  # the kernel first answers what the page asked before
        page.locator(".jp-Notebook .jp-CodeCell").nth(3).locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(3_000)
    assert "kernel_name" in result.inner_text()
    assert result.locator("table").inner_text().count("flash_forward") == 3
    assert problems == []

    page.keyboard.press("Control+s")
    page.wait_for_function("!document.querySelector('.lm-TabBar-tab.jp-mod-dirty')")
    saved = nbformat.read(jupyterlab.folder / "shown.ipynb", 4)
    sizes = [len(str(cell.outputs)) for cell in saved.cells]
    assert sizes[1] > 1_000_000  # the stored page
    assert sizes[2] < 20_000  # the widget stores the table only


@pytest.mark.filterwarnings("ignore:this output adds")
def test_an_untrusted_notebook_shows_the_table(page: Any, jupyterlab: Program, captures: Path) -> None:
    import wavewright

    view = wavewright.show(wavewright.open(captures / "counters" / "before"))
    cell = nbformat.v4.new_code_cell("# from somebody else")
    cell.outputs = [nbformat.v4.new_output("execute_result", data=dict(view._repr_mimebundle_()), execution_count=1)]
    cell.execution_count = 1
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), jupyterlab.folder / "untrusted.ipynb")
    page.goto(f"{jupyterlab.address}/tree/untrusted.ipynb?reset")
    shown = output(page, 0)
    shown.locator("table").first.wait_for()
    assert "gather_rows" in shown.locator("table").first.inner_text()
    assert shown.locator("iframe[srcdoc]").count() == 0  # JupyterLab removes it
