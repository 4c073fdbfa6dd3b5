"""Verbs info and demo, and the manners of the program as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_info_on_a_capture(run: Run, capture: Path) -> None:
    done = run("info", capture)
    assert done.returncode == 0
    assert "gfx942" in done.stdout
    assert "next:" in done.stdout
    answer = json.loads(run("info", capture, "--json").stdout)
    assert answer["kind"] == "raw thread-trace capture"
    assert answer["dispatches"][0]["shader_engines"] == 2


def test_info_on_a_code_object(run: Run, capture: Path) -> None:
    code = next(capture.glob("*.out"))
    assert "saxpy" in run("info", code).stdout
    answer = json.loads(run("info", code, "--json").stdout)
    assert answer["target"] == "gfx942"
    assert answer["kernels"][0]["wave_size"] == 64


def test_info_on_something_else(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    done = run("info", tmp_path / "notes.txt")
    assert done.returncode == 3
    assert "not a format that wavewright reads" in done.stderr
    (tmp_path / "empty").mkdir()
    assert "this folder is empty" in run("info", tmp_path / "empty").stderr
    assert run("info", tmp_path / "missing").returncode == 2


@pytest.mark.first_case
@pytest.mark.parametrize("gpu", ["gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_demo(run: Run, gpu: str) -> None:
    done = run("demo", "--target", gpu)
    assert (done.returncode, done.stderr) == (0, "")
    assert "What to change first" in done.stdout
    assert "1. Waves wait for" in done.stdout
    assert "0 without PC" in done.stdout


def test_demo_needs_no_disassembler(run: Run, tmp_path: Path) -> None:
    nothing = {"WAVEWRIGHT_LLVM": str(tmp_path / "missing"), "PATH": str(tmp_path)}
    done = run("demo", "--json", environment=nothing)
    facts = json.loads(done.stdout)["overview"]
    assert facts["unresolved"] == 0
    assert facts["losses"] == []


def test_demo_can_keep_its_capture(run: Run, tmp_path: Path) -> None:
    assert run("demo", "--keep", tmp_path / "kept", "--json").returncode == 0
    assert list((tmp_path / "kept").glob("*.att"))


@pytest.mark.slow
def test_demo_of_counters(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--counters", "--keep", tmp_path / "counters")
    assert done.returncode == 0, done.stderr
    for verb in ("counters", "roofline", "diagnose", "compare"):
        assert f"$ wavewright {verb}" in done.stdout
    assert "gather_rows(float*, float const*, int const*): Limited by" in done.stdout
    assert run("counters", tmp_path / "counters" / "after").returncode == 0
    assert json.loads(run("demo", "--counters", "--json").stdout)["dispatches"] == {"before": 8, "after": 8}


@pytest.mark.slow
def test_demo_of_a_run(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--run", "--keep", tmp_path / "runs")
    assert (done.returncode, done.stderr) == (0, "")
    assert "What changed?" in done.stdout
    assert "1 slower" in done.stdout
    kept = [path.name for path in sorted((tmp_path / "runs" / "after").iterdir())]
    assert kept == [f"rank{rank}_results.db" for rank in range(4)]
    assert json.loads(run("demo", "--run", "--json").stdout)["dispatches"] == {"before": 8000, "after": 8000}


def test_no_colour_without_a_terminal(run: Run, capture: Path) -> None:
    assert "\x1b[" not in run("info", capture).stdout


def test_help_names_every_verb(program: Run, run: Run) -> None:
    text = program("--help").stdout
    for verb in ("decode", "demo", "info"):
        assert verb in text
        assert run(verb, "--help").returncode == 0


def test_usage_errors(program: Run, run: Run) -> None:
    assert run("decode").returncode == 2
    done = program("no-such-verb")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_completion(program: Run) -> None:
    done = program(environment={"_WAVEWRIGHT_COMPLETE": "bash_source"})
    assert "complete" in done.stdout
