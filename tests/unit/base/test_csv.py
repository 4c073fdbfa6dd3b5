"""Whatever a capture calls things: no cell and no header of a CSV is a formula or a command of a terminal."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import polars as pl

import wavewright
from synth import Workload, write_rpd
from tests.cli.in_process import call
from tests.kit.small_runs import small_source
from tests.kit.together import together
from wavewright.base.csv import harmless, harmless_text, write_csv
from wavewright.export.counters.compute_csv import _text
from wavewright.export.run.csv import write_csv as write_folder
from wavewright.model.run import MemorySource, Run

HOSTILE = ("=1+1", "+x", "-x", "@x", "\t=x", "\r=x", "\x1b]0;x\x07", "a\x9b2J", "\x00", "\x7f", "=\x1b[2J")
DANGER = re.compile(r"^[=+\-@\t\r]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def _read(text: str) -> list[str]:
    """All cells of a CSV, headers among them."""
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]


@together("text", HOSTILE)
def test_cells_and_headers_are_made_harmless_alike(text: str) -> None:
    frame = harmless(pl.DataFrame({text: [text]}))
    assert frame.columns == [frame.item()] == [harmless_text(text)]
    assert not DANGER.search(frame.item())
    assert not DANGER.search(_read(_text([[text]]))[0])


@together("text", ["gemm<int, 2>", "a\tb", "two\nlines", "", "\u00e9", "-1.5", "+2", "-3e-7", "-12%"])
def test_other_texts_stay(text: str) -> None:
    assert harmless_text(text) == text


def test_columns_stay_apart() -> None:
    text = write_csv(pl.DataFrame({"\x1b": [1], "\x01": [2], "\ufffd": [3], "a": [4]}))
    header, row, _ = text.split("\n")
    assert len(set(header.split(","))) == 4
    assert row == "1,2,3,4"


def test_agents_of_a_run(tmp_path: Path) -> None:
    source = small_source()
    agents = source.tables["agents"].with_columns(
        pl.lit("\x1b[31mred").alias("product"), pl.lit("=x()").alias("vendor")
    )
    hostile = MemorySource(source.path, source.format, source.version, source.tables | {"agents": agents})
    folder = write_folder(Run([hostile]), tmp_path / "out").path
    cells = [cell for file in folder.iterdir() for cell in _read(file.read_bytes().decode())]
    assert "'=x()" in cells
    assert [cell for cell in cells if DANGER.search(cell) and not cell.lstrip("-").isdigit()] == []


def test_columns_that_a_query_names(tmp_path: Path) -> None:
    run = write_rpd(tmp_path / "run.rpd", Workload(dispatches=3)).paths[0]
    done = call("query", run, 'SELECT 1 AS "=x", 2 AS "\x1b[2J"', "--csv")
    assert done.stdout.split("\n")[0] == "'=x,\ufffd[2J", done.stderr


def test_every_writer_of_csv_uses_it() -> None:
    """Modules that write CSV by their own hand; synth makes inputs, and _json_text writes numbers only."""
    root = Path(wavewright.__file__).parent
    writers = {
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        if re.search(r"\.write_csv\(|csv\.writer\(|DictWriter", text := file.read_text()) and "harmless" not in text
    }
    assert {file for file in writers if not file.startswith("synth/")} == {"export/kit/json_text.py"}
