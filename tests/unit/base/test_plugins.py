"""Readers, questions and exporters of other packages: found by name, imported when used, named when they fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_CODE = """
from pathlib import Path
import polars as pl
from wavewright.export.kit.writer_result import Written
from wavewright.model.run import MemorySource
from wavewright.questions.run.declared import OVERLAP

Path(__file__).with_name("imported").write_text("")
TWICE = OVERLAP._replace(name="twice", title="Twice", sentence="The overlap again?")


def read(path):
    names = path.read_text().split()
    rows = [{"process": 0, "name": name, "start_ns": at, "end_ns": at + 5} for at, name in enumerate(names)]
    processes = pl.DataFrame({"process": [0], "source": [0], "pid": [1]})
    return MemorySource(str(path), "words", tables={"processes": processes, "dispatches": pl.DataFrame(rows)})


def write(run, path, *, force):
    names = run.dispatches["name"].to_list()
    Path(path).write_text(" ".join(names))
    return Written(Path(path), {"dispatches": len(names)})


def fails(*arguments, **more):
    raise ValueError("out of words")
"""
_POINTS = """
[wavewright.readers]
.words = other_package:read
.bad = other_package:fails
.gone = other_package:no_such_thing
[wavewright.questions]
twice = other_package:TWICE
misnamed = other_package:TWICE
[wavewright.exporters]
words = other_package:write
bad = other_package:fails
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    (folder / "other_package.py").write_text(_CODE)
    facts = folder / "other_package-1.5.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: other-package\nVersion: 1.5\n")
    (facts / "entry_points.txt").write_text(_POINTS)
    for ending in ("words", "bad", "gone", "other"):
        (folder / f"run.{ending}").write_text("gemm norm gemm")
    return folder


def called(packages: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(packages)}
    command = [sys.executable, "-m", "wavewright", *words]
    return subprocess.run(command, cwd=packages, env=environment, capture_output=True, text=True, check=False)


def test_nothing_is_imported_before_it_is_used(packages: Path) -> None:
    assert called(packages, "--help").returncode == 0
    assert called(packages, "info", "run.other").returncode == 3
    assert not (packages / "imported").exists()


def test_a_reader_an_exporter_and_a_question(packages: Path) -> None:
    summary = called(packages, "summary", "run.words")
    assert summary.returncode == 0, summary.stderr
    assert "gemm" in summary.stdout
    assert called(packages, "convert", "run.words", "-f", "words", "-o", "out.words").returncode == 0
    assert (packages / "out.words").read_text() == "gemm norm gemm"
    verb, ours = called(packages, "twice", "run.words"), called(packages, "overlap", "run.words")
    assert verb.returncode == 0, verb.stderr
    assert verb.stdout.splitlines()[1:4] == ours.stdout.splitlines()[1:4]


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ("summary", "run.bad"),
            "the plugin '.bad' of other-package 1.5 (other_package:fails) failed: ValueError: out of",
        ),
        (("summary", "run.gone"), "the plugin '.gone' of other-package 1.5 (other_package:no_such_thing) failed: Attr"),
        (("misnamed", "run.words"), "failed: it gives no question of this name"),
        (("convert", "run.words", "-f", "bad", "-o", "x"), "(other_package:fails) failed: ValueError: out of words"),
    ],
)
def test_a_plugin_that_fails_is_named(words: tuple[str, ...], reason: str, packages: Path) -> None:
    done = called(packages, *words)
    assert done.returncode == 2
    assert reason in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
