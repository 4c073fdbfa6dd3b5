"""Verbs hotspots, loops and waves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.in_process import call

BY = ["instruction", "line", "file", "function", "kernel", "block", "loop"]


@pytest.mark.parametrize("by", BY)
def test_hotspots_by_every_unit(run: Run, capture: Path, by: str) -> None:
    done = run("hotspots", capture, "--by", by, "--top", "3", environment={"COLUMNS": "120"})
    assert done.returncode == 0 and "cycles of waves" in done.stdout and "Traceback" not in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_hotspots_as_json(run: Run, capture: Path) -> None:
    answer = json.loads(run("hotspots", capture, "--by", "line", "--frame", "mine", "--sort", "stall", "--json").stdout)
    assert answer["by"] == "line" and answer["attribution"] == "mine" and answer["definition"]
    units = answer["units"]["rows"]
    assert sum(unit["stall_cycles_total"] for unit in units) == answer["stall_cycles_total"] > 0
    top = json.loads(run("hotspots", capture, "--json", "--top", "2").stdout)["units"]
    assert len(top["rows"]) == 2 < top["row_count"]


def test_truncation_is_loud(run: Run, capture: Path) -> None:
    assert "showing 2 of " in run("hotspots", capture, "--top", "2").stdout
    assert "showing" not in run("hotspots", capture, "--top", "0").stdout


def test_hotspots_of_samples(run: Run, shared: Path) -> None:
    done = run("hotspots", shared / "data" / "pcsampling-rcv", "--by", "line")
    assert done.returncode == 0 and "samples" in done.stdout and "stalled" in done.stdout
    answer = json.loads(run("hotspots", shared / "data" / "pcsampling-rcv", "--json").stdout)
    assert answer["sample_count"] == answer["issued_count"] + answer["stalled_count"] > 0


def test_loops(run: Run, tmp_path: Path) -> None:
    assert run("demo", "--keep", tmp_path / "demo", "--json").returncode == 0
    done = run("loops", tmp_path / "demo")
    assert done.returncode == 0 and "1 loop" in done.stdout and "trips" in done.stdout
    answer = json.loads(call("loops", tmp_path / "demo", "--json").stdout)
    (loop,) = answer["loops"]["rows"]
    assert loop["trips_min"] == loop["trips_max"] == 9
    assert [row["iteration"] for row in answer["iterations"]["rows"]] == list(range(9))
    table = call("loops", tmp_path / "demo", "--by", "iteration", "--csv").stdout.splitlines()
    assert table[0].startswith("loop,iteration,wave_count") and len(table) == 1 + 9
    shown = call("loops", tmp_path / "demo", "--by", "iteration").stdout
    assert f"loop 0 at {loop['address']:#x}, 9 iterations" in shown


def test_an_empty_trace_is_said(run: Run, shared: Path) -> None:
    empty = shared / "data" / "att-mi300x-bmm" / "c10"
    directory = next(path for path in empty.iterdir() if path.name.endswith("dispatch_3"))
    for verb in ("hotspots", "loops"):
        done = run(verb, directory)
        assert done.returncode == 2 and "no wave ran on the traced CU" in done.stderr and "occupancy" in done.stderr


def test_output_that_cannot_be_written_is_said(capture: Path) -> None:
    command = [sys.executable, "-m", "wavewright", "hotspots", str(capture), "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode != 0 and "No space left" in done.stderr and "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_not_shouted_at(capture: Path) -> None:
    command = [sys.executable, "-m", "wavewright", "hotspots", str(capture), "--top", "0", "--json"]
    pipe = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert pipe.stdout and pipe.stderr
    pipe.stdout.close()
    assert pipe.stderr.read() == b""
    pipe.stderr.close()
    pipe.wait()


def test_waves(run: Run, capture: Path) -> None:
    done = run("waves", capture)
    assert done.returncode == 0 and "slowest: wave" in done.stdout
    rows = json.loads(call("waves", capture, "--json").stdout)["waves"]["rows"]
    assert [row["cycles"] for row in rows] == sorted((row["cycles"] for row in rows), reverse=True)
    assert call("waves", capture, "--csv", "--top", "3").stdout.count("\n") == 1 + 3
