"""`wavewright info` about runs, and verbs that were given the other kind of thing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from synth import Scenario, synthesize, write_capture
from tests.cli.in_process import call
from tests.kit.made_decoded import write_decoded

if TYPE_CHECKING:
    from pathlib import Path

KERNELS = '"Agent_Id","Thread_Id","Dispatch_Id","Kernel_Name","Start_Timestamp","End_Timestamp"\n'
CALLS = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
HOSTILE = "\x1b[31mred\x1b[0m [bold]"


def write_run(folder: Path, pid: int) -> Path:
    folder.mkdir(exist_ok=True)
    kernels = f'"GPU 0",{pid},1,"{HOSTILE}",2000,5000\n"GPU 0",{pid},2,"k",6000,9000\n'
    (folder / f"{pid}_kernel_trace.csv").write_text(KERNELS + kernels)
    (folder / f"{pid}_hip_api_trace.csv").write_text(CALLS + f'"HIP_RUNTIME_API","hipInit",{pid},{pid},1,1000,2000\n')
    return folder


def test_what_a_run_holds(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 41)
    done = call("info", run)
    assert done.status == 0
    assert "folder of runs" in done.stdout
    assert "2 dispatches, 1 region in 8.0 us" in done.stdout
    assert "1 process; 1 GPU had work" in done.stdout
    assert f"next: wavewright summary {run} shows where the time went" in done.stdout
    told = json.loads(call("info", run, "--json").stdout)
    assert told["kind"] == "folder of runs"
    row = told["processes"]["rows"][0]
    assert (row["pid"], row["kernel_count"], row["region_count"], row["start_ns"], row["end_ns"]) == (
        41,
        2,
        1,
        1000,
        9000,
    )
    assert told["gpus"]["rows"][0]["kernel_count"] == 2
    assert told["losses"] == []


def test_several_processes_and_a_loss(tmp_path: Path) -> None:
    run = write_run(write_run(tmp_path / "run", 41), 42)
    (run / "43_results.db").write_bytes(b"")
    done = call("info", run)
    assert "4 dispatches, 2 regions\n" in done.stdout
    assert "2 processes" in done.stdout
    assert "wavewright ranks" in done.stdout
    assert "loss:" in done.stdout
    assert "43_results.db" in done.stdout
    assert len(json.loads(call("info", run, "--json").stdout)["losses"]) == 1


def test_a_recording_without_events(tmp_path: Path) -> None:
    (tmp_path / "1_hip_api_trace.csv").write_text(CALLS)
    done = call("info", tmp_path)
    assert done.status == 0
    assert "no events" in done.stdout
    assert "wavewright tables" in done.stdout


def test_statistics_and_broken_databases(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text('"Name","Calls","TotalDurationNs"\n')
    assert "`wavewright summary` of the *_trace.csv files" in call("info", tmp_path / "s.csv").stdout
    (tmp_path / "1_results.db").write_bytes(b"SQLite format 3\0" + bytes(50))
    assert "cannot be read" in call("info", tmp_path / "1_results.db").stdout


def test_verbs_name_the_right_verb(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 41)
    decoded = write_decoded(tmp_path / "traces")
    for verb in ("hotspots", "stalls", "occupancy"):
        done = call(verb, run)
        assert done.status == 3
        assert "not a thread trace" in done.stderr
        assert f"wavewright summary {run}" in done.stderr
    for verb in ("summary", "busy", "gaps"):
        done = call(verb, decoded)
        assert done.status == 3
        assert "not a run" in done.stderr
        assert f"wavewright hotspots {decoded}" in done.stderr


def test_a_capture_with_the_run_of_its_run(tmp_path: Path) -> None:
    capture = synthesize(Scenario(family="gfx11", workgroups=1, waves_per_workgroup=1))
    write_capture(capture, tmp_path / "capture")
    assert "also here" not in call("info", tmp_path / "capture").stdout
    write_run(tmp_path / "capture", 41)
    done = call("info", tmp_path / "capture")
    assert "also here: the run: wavewright summary" in done.stdout
    told = json.loads(call("info", tmp_path / "capture", "--json").stdout)
    assert [path.rpartition("/")[2] for path in told["profiles"]] == ["41_*.csv"]


def test_several_paths_and_patterns_are_one_answer(tmp_path: Path) -> None:
    first, second = write_run(tmp_path / "first", 41), write_run(tmp_path / "second", 42)
    for paths in ((first, second), (f"{tmp_path}/*",), (first, f"{tmp_path}/sec*")):
        done = call("info", *paths)
        assert done.status == 0
        assert ": 2 runs\n" in done.stdout
        assert "4 dispatches, 2 regions\n" in done.stdout
        assert "2 processes in 2 files; 2 GPUs had work" in done.stdout
        assert [line.split()[:2] for line in done.stdout.splitlines() if line.startswith(("first", "second"))] == [
            ["first/41_*", "41"],
            ["second/42_*", "42"],
        ]
    told = json.loads(call("info", first, second, "--json").stdout)
    assert (told["kind"], told["processes"]["row_count"]) == ("2 runs", 2)


def test_a_pattern_that_matches_nothing_and_inputs_of_two_kinds(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 41)
    done = call("info", f"{tmp_path}/nothing*")
    assert (done.status, "no file matches this pattern" in done.stderr) == (2, True)
    synthetic = synthesize(Scenario())
    write_capture(synthetic, tmp_path / "capture")
    both = call("info", run, tmp_path / "capture")
    assert both.status == 0
    assert "folder of runs" in both.stdout
    assert "raw thread-trace capture" in both.stdout
    assert call("info", run, tmp_path / "capture", "--json").status == 2


def test_the_path_is_written_once_in_what_comes_next(tmp_path: Path) -> None:
    run = write_run(write_run(tmp_path / "run", 41), 42)
    done = call("info", run)
    steps = [line for line in done.stdout.splitlines() if "next:" in line]
    assert len(steps) == 3
    assert "".join(steps).count(str(run)) == 1
    assert all(str(run) in step for step in json.loads(call("info", run, "--json").stdout)["next"])


def test_what_wavewright_does_not_read(tmp_path: Path) -> None:
    file, folder = tmp_path / "fruit.csv", tmp_path / "empty"
    file.write_text("apple,pear\n1,2\n")
    folder.mkdir()
    for verb in ("info", "summary"):
        done = call(verb, file)
        assert (done.status, "not a format that wavewright reads" in done.stderr) == (3, True)
        done = call(verb, folder)
        assert (done.status, "this folder is empty" in done.stderr) == (3, True)
