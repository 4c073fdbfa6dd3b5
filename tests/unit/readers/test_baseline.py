"""Baseline files: what is written is read, and nothing else is; budgets."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.noisy_calls import NoisyProgram, captures
from tests.kit.gate_cases import HOSTILE, measured
from wavewright.analysis.common.gate import gate
from wavewright.errors import NotATraceError, UnsupportedError, UsageError, WavewrightError
from wavewright.export.gate.baseline import baseline_bytes, write_baseline
from wavewright.model.baseline import Baseline, MeasuredCapture, Quantity
from wavewright.model.report import InputFile
from wavewright.readers.baseline import is_baseline, read_baseline
from wavewright.readers.budget import read_budget
from wavewright.readers.files.hashes import hashed_inputs

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE_BASELINE = Baseline(
    "trace",
    (
        MeasuredCapture(
            label=HOSTILE + "\udcff",
            quantities=(
                Quantity("line", HOSTILE, "cycles", 3, 0.1, file='a],["b', line=7),
                Quantity("cycles", "", "cycles", 64, 1234.5, 1.5, 15, 1200.0, 3.0, None, None),
            ),
            inputs=(InputFile("a.att", 12, "0" * 64, is_whole=False),),
            target="gfx942",
            product="MI300X",
            software={"raw capture": ""},
            kernel="k",
            code="abc",
            damages=("2 rows lost",),
        ),
    ),
    filters={"kernel": "x"},
    version="0.2.0",
)


def test_what_is_written_is_read_and_the_bytes_are_the_same_each_time(tmp_path: Path) -> None:
    path = tmp_path / "main.wwbase"
    write_baseline(HOSTILE_BASELINE, path)
    assert is_baseline(path)
    read = read_baseline(path)
    assert replace(read.captures[0], label="") == replace(HOSTILE_BASELINE.captures[0], label="")
    assert read.captures[0].label.endswith("\\xff")
    assert (read.filters, read.kind, read.version) == ({"kernel": "x"}, "trace", "0.2.0")
    assert baseline_bytes(read) == path.read_bytes()
    with pytest.raises(UsageError, match="exists"):
        write_baseline(HOSTILE_BASELINE, path)
    write_baseline(HOSTILE_BASELINE, path, force=True)


def test_names_are_stored_once_and_a_file_is_small(tmp_path: Path) -> None:
    runs = measured(captures(NoisyProgram(kernel_count=100), 1, 5))
    path = tmp_path / "main.wwbase"
    write_baseline(runs, path)
    assert path.stat().st_size < 50_000
    assert path.read_bytes().count(b'"k77"') == 1
    assert gate(runs, read_baseline(path)).verdict == "pass"  # fewer digits are the same capture still


def _changed(**values: Any) -> bytes:
    return json.dumps(json.loads(baseline_bytes(HOSTILE_BASELINE)) | values).encode()


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"", NotATraceError, "damaged"),
        (b"[]", NotATraceError, "damaged"),
        (b"{}", NotATraceError, "not a baseline"),
        (b"[" * 100_000, NotATraceError, "damaged"),
        (baseline_bytes(HOSTILE_BASELINE)[:-50], NotATraceError, "damaged"),
        (_changed(schema_version=2), UnsupportedError, "version 2; this wavewright reads 1"),
        (_changed(kind="film"), NotATraceError, "unknown kind"),
        (_changed(captures=[]), NotATraceError, "damaged"),
        (_changed(names=[]), NotATraceError, "a name is missing"),
        (_changed(captures=[{"label": "a", "quantities": [["cycles", 0, "x", -1, 2.0]]}]), NotATraceError, "damaged"),
        (_changed(captures=[{"label": "a", "quantities": [["cycles", 0, "x", 1, "many"]]}]), NotATraceError, "damaged"),
    ],
)
def test_what_is_no_baseline_is_an_error(data: bytes, error: type[WavewrightError], words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.wwbase"
    path.write_bytes(data)
    with pytest.raises(error, match=words):
        read_baseline(path)


@given(st.integers(0, 2000), st.binary(max_size=4))
def test_damaged_files_are_read_or_refused(at: int, change: bytes) -> None:
    import tempfile
    from pathlib import Path

    data = baseline_bytes(HOSTILE_BASELINE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.wwbase"
        path.write_bytes(data[:at] + change + data[at + len(change) :])
        try:
            baseline = read_baseline(path)
        except WavewrightError:
            return
        gate(baseline, baseline)


def test_inputs_are_hashed_without_the_folders_above(tmp_path: Path) -> None:
    folder = tmp_path / "capture"
    folder.mkdir()
    (folder / "a.att").write_bytes(b"abc")
    (file,) = hashed_inputs([folder])
    assert file.path == "capture/a.att"
    assert file.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (file.byte_count, file.is_whole) == (3, True)


def test_a_budget_is_read(tmp_path: Path) -> None:
    path = tmp_path / "budget.toml"
    path.write_text(
        'kernels = ["attention<=210 us", "/Cijk_.* <= x/ <= 1.5 ms"]\nmarkers = ["forward <= 12 ms"]\n'
        'limits = ["busy >= 90 %", "cycles <= 120_000 cycles"]\nstrongest_finding = "5 %"\n'
    )
    budget = read_budget(path)
    assert [(each.subject, each.name, each.is_at_most, each.value) for each in budget.limits] == [
        ("kernel", "attention", True, 210_000.0),
        ("kernel", "/Cijk_.* <= x/", True, 1.5e6),
        ("marker", "forward", True, 12e6),
        ("busy", "", False, 0.9),
        ("cycles", "", True, 120_000.0),
    ]
    assert budget.strongest_finding == 0.05


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no limit"),
        ("kernels = 5", "not a list"),
        ('kernels = ["attention"]', "not a limit"),
        ('kernels = ["attention <= 5 apples"]', "not a unit"),
        ('kernels = ["attention <= 5 %"]', "not a unit"),
        ('limits = ["speed <= 5 ms"]', "has no limits"),
        ('strongest_finding = "much"', "not a percentage"),
        ("colour = 1", "unknown entry"),
        ("kernels = [", "not TOML"),
        ("a." * 200 + "b = 1", "a key of more than 64 parts"),
    ],
)
def test_mistakes_in_a_budget_are_named(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "budget.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_budget(path)
    with pytest.raises(UsageError):
        read_budget(tmp_path / "nowhere.toml")
