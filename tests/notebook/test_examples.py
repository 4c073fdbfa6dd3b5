"""The notebooks in examples/ run from the first cell to the last, and store no outputs."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))
#: Media types of the last outputs of each notebook, and words in them.
SHOWN = {
    "counters": ("application/vnd.jupyter.widget-view+json", "tile_gemm"),
    "run": ("text/html", "computation"),
    "trace": ("text/html", "prefetch the next tile"),
}


def test_there_is_an_example_of_every_kind() -> None:
    assert [file.stem for file in EXAMPLES] == sorted(SHOWN)


@pytest.mark.parametrize("file", EXAMPLES, ids=[file.stem for file in EXAMPLES])
def test_examples_store_no_outputs(file: Path) -> None:
    notebook = nbformat.read(file, 4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert file.stat().st_size < 10_000


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")  # of packages of Jupyter
@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=[] if n == 0 else pytest.mark.slow, id=file.stem) for n, file in enumerate(EXAMPLES)],
)
def test_examples_run(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTER_DATA_DIR"):
        (tmp_path / ".home" / name).mkdir(parents=True)
        monkeypatch.setenv(name, str(tmp_path / ".home" / name))
    notebook = nbformat.read(file, 4)
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    with ThreadPoolExecutor(1) as thread:  # where no other event loop is, as that of a browser in the main one
        thread.submit(asyncio.run, client.async_execute()).result()
    outputs: list[Any] = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    data = [output.data for output in outputs if output.output_type == "execute_result"]
    kind, words = SHOWN[file.stem]
    assert any(kind in each for each in data)
    assert any(words in each.get("text/html", "") for each in data)
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.output_type == "display_data"]  # displays are results, once
    assert not [output.text for output in outputs if output.output_type == "stream"]  # no warnings
    nbformat.validate(notebook)
