"""Reports as notebooks: valid, without outputs, with paths that lead from where they are to the capture."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.unit.export.report.made_reports import ALL_REPORTS, report_named, run_path, topic_report, trace_path
from wavewright.export.report import ipynb, write_report


def _code(content: bytes) -> list[str]:
    cells = json.loads(content)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.first_case
@pytest.mark.parametrize("name", ALL_REPORTS)
def test_notebooks_are_valid(name):
    content = ipynb.render(report_named(name))
    assert content == ipynb.render(report_named(name))
    nbformat.validate(nbformat.reads(content.decode(), as_version=4))
    for cell in json.loads(content)["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.first_case
@pytest.mark.parametrize("name", ALL_REPORTS)
def test_cells_only_call_our_functions(name):
    """Whatever the names are: the code is calls of wavewright with literals."""
    for number, source in enumerate(_code(ipynb.render(report_named(name)))):
        tree = ast.parse(source)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert len(calls) == 1
        assert ast.unparse(calls[0].func).split(".")[0] == "wavewright"
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert names <= {"wavewright", "capture"}
        assert len(tree.body) == (1 if number else 3)


@pytest.mark.slow
def test_one_cell_per_section():
    report = topic_report(run_path())
    cells = _code(ipynb.render(report))
    asked = [ast.literal_eval(source.removeprefix("wavewright.ask(capture, ")[:-1]) for source in cells[1:-1]]
    assert asked == [section.name for section in report.sections if not section.skipped]
    assert cells[-1] == "wavewright.show(capture)"


@pytest.mark.slow
def test_captures_that_are_compared():
    report = replace(topic_report(run_path()), kind="comparison")
    made_of = replace(report.provenance, command="wavewright report a.db b.db --compare -o x.ipynb")
    cells = _code(ipynb.render(replace(report, provenance=made_of)))
    assert cells[0].splitlines()[2] == 'captures = [wavewright.open("a.db"), wavewright.open("b.db")]'
    assert cells[1:] == [*(f'wavewright.ask(captures[{n}], "diagnose")' for n in (0, 1)), "wavewright.show(captures)"]


@pytest.mark.slow
@pytest.mark.parametrize("path", [run_path, trace_path])
def test_notebooks_run(path, tmp_path: Path):
    """Every cell runs and shows something, where the notebook is."""
    write_report(topic_report(path()), tmp_path / "report.ipynb")
    book = nbformat.read(tmp_path / "report.ipynb", as_version=4)
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for cell in book.cells:
        if cell.cell_type == "code":
            kinds = {kind for output in cell.outputs for kind in output.get("data", ())}
            assert {"text/html", "text/markdown"} <= kinds or "anywidget" in str(kinds), cell.source


@pytest.mark.slow
def test_paths_are_relative_to_the_notebook(tmp_path: Path):
    report = topic_report(run_path())
    folder = tmp_path / "notes"
    folder.mkdir()
    write_report(report, folder / "report.ipynb")
    first = _code((folder / "report.ipynb").read_bytes())[0]
    path = ast.literal_eval(first.split("open_run(")[1].split(")")[0])
    assert not Path(path).is_absolute()
    assert (folder / path).resolve() == run_path().resolve()
