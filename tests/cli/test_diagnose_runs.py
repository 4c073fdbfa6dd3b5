"""The verb diagnose on runs: text, Markdown, JSON and CSV, and which of several kinds a path is taken for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.rocpd import write_rocpd as write_workload
from synth.runs import Host, Launch, Program, Range, Rank, Synchronise, simulate, write_csv, write_rocpd
from synth.workload import Workload
from tests.cli.in_process import call


def program(host_ns: int, kernel: str = "gemm<float>") -> Program:
    """Two ranks of six steps: kernels, and code of the host between them."""
    steps = tuple(
        Range(f"step {number}", (*((Host(host_ns), Launch(kernel, 400_000)) * 5), Synchronise())) for number in range(6)
    )
    return Program((Rank((steps,)), Rank((steps,))))


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ranks that wait for their host."""
    folder = tmp_path_factory.mktemp("slow")
    write_rocpd(simulate(program(700_000)), folder)
    return folder


def test_text_names_the_cause_the_place_and_the_remedy(slow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in ("80", "120"):
        monkeypatch.setenv("COLUMNS", columns)
        done = call("diagnose", slow)
        assert (done.status, done.stderr) == (0, "")
        assert max(map(len, done.stdout.splitlines())) <= int(columns)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ROCpd: 2 GPUs with work")
    assert lines[1].startswith("2 GPUs busy ")
    head = next(line for line in lines if line.startswith("1. "))
    assert head.startswith("1. The host is slower than the GPU")
    assert head.rstrip().endswith("% of the time")
    assert "   do   do less between launches" in done.stdout
    assert "   false alarm if the thread waits" in done.stdout
    assert "   skipped " in done.stdout
    assert f"next: wavewright regions {slow}" in done.stdout.replace("\n", "")


@pytest.mark.slow
def test_the_time_of_the_worst_case_can_be_pasted(slow: Path) -> None:
    path = next(slow.rglob("*.db"))
    found = json.loads(call("diagnose", path, "--json").stdout)["findings"][0]
    window = found["evidence"][0]["window"]
    zoomed = json.loads(call("diagnose", path, "--time", window, "--json").stdout)
    assert zoomed["idle_share"] == 1
    assert zoomed["findings"][0]["rule"] == "G2"
    wider = json.loads(call("diagnose", path, "--time", "20%:60%", "--json").stdout)
    assert wider["findings"][0]["rule"] == "G2"
    assert wider["step_count"] in (1, 2, 3)


def test_json_has_the_ledger(slow: Path) -> None:
    answer = json.loads(call("diagnose", slow, "--json").stdout)
    assert answer["definition"]
    assert len(answer["inputs"]) == 2
    finding = answer["findings"][0]
    assert finding["rule"] == "G2"
    assert finding["bound_ns"] <= finding["bound_alone_ns"]
    assert finding["threshold"]["say"] == 0.05
    assert len(finding["evidence"]) <= 5
    gpus = answer["gpus"]["rows"]
    room = max(row["window_ns"] - row["computation_ns"] for row in gpus)
    assert sum(each["bound_ns"] for each in answer["findings"] if each["kind"] != "kernels") <= room


@pytest.mark.slow
def test_names_with_arrows_stay_whole(tmp_path: Path) -> None:
    kernel = "auto f<int>(int) -> float"
    write_rocpd(simulate(program(700_000, kernel)), tmp_path)
    around = f"after {kernel}, before {kernel}; "
    assert around in " ".join(call("diagnose", tmp_path).stdout.split())
    finding = json.loads(call("diagnose", tmp_path, "--json").stdout)["findings"][0]
    assert {(each["what"], each["next_work"]) for each in finding["evidence"]} == {(kernel, kernel)}
    assert f"after `{kernel}`, before" in call("diagnose", tmp_path, "--brief").stdout


@pytest.mark.slow
def test_csv_has_a_row_per_finding(slow: Path) -> None:
    done = call("diagnose", slow, "--csv")
    head, first, *_ = done.stdout.splitlines()
    assert head.startswith("rule,name,title,cause,share,time_ns,bound_alone_ns,bound_ns")
    assert first.startswith("G2,host-bound,")


@pytest.mark.slow
def test_processes_give_the_same_answer(slow: Path) -> None:
    alone, spread = (json.loads(call("diagnose", slow, "--json", *more).stdout) for more in ((), ("--jobs", 2)))
    assert alone["findings"] == spread["findings"]


def test_a_healthy_run_has_no_findings(tmp_path: Path) -> None:
    write_rocpd(simulate(program(10_000)), tmp_path)
    done = call("diagnose", tmp_path)
    assert done.status == 0
    assert "nothing above its threshold" in done.stdout
    assert "1 of 1 kernel takes 100.0 % of the computation: gemm<float>" in " ".join(done.stdout.split())


def test_kernels_alone_abstain(tmp_path: Path) -> None:
    write_csv(simulate(program(700_000)), tmp_path)
    for path in tmp_path.rglob("*api_trace.csv"):
        path.unlink()
    done = call("diagnose", tmp_path)
    assert done.status == 0
    assert "is not recorded, so nothing is said about its cause" in " ".join(done.stdout.split())
    assert "causes of gaps (launches are not recorded)" in " ".join(done.stdout.split())


def test_options_of_runs_and_of_traces(slow: Path) -> None:
    assert "--rank" in call("diagnose", "--help").stdout
    wrong = call("diagnose", slow, "--se", "1")
    assert wrong.status == 2
    assert "--se does not apply to runs" in wrong.stderr
    one = json.loads(call("diagnose", slow, "--rank", 1, "--json").stdout)
    assert one["gpus"]["row_count"] == 1


def test_a_database_with_counters_and_a_run(tmp_path: Path) -> None:
    path = tmp_path / "both_results.db"
    write_workload(path, Workload(dispatches=60, counters=4, counter_every=2))
    counters = call("diagnose", path)
    assert counters.status == 0
    assert "--run diagnoses the run itself" in counters.stderr
    run = call("diagnose", path, "--run")
    assert run.status == 0
    assert "counters were measured in this run" in " ".join(run.stdout.split())


def test_a_folder_with_counters_and_a_run(tmp_path: Path) -> None:
    """Calls and copies beside counters: the answer about the counters names the other one."""
    write_csv(simulate(program(10_000)), tmp_path)
    rows = ['"Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"']
    rows += [f'{n},"gemm<float>","SQ_WAVES",64,{n * 1000},{n * 1000 + 500}' for n in range(1, 5)]
    (tmp_path / "pass_1_counter_collection.csv").write_text("\n".join(rows) + "\n")
    done = call("diagnose", tmp_path)
    assert (done.status, "--run diagnoses the run itself" in done.stderr) == (0, True)
    assert "GPUs with work" in call("diagnose", tmp_path, "--run").stdout


@pytest.mark.slow
def test_patterns_and_several_paths(slow: Path) -> None:
    paths = sorted(slow.rglob("*.db"))
    by_name = json.loads(call("diagnose", *paths, "--json").stdout)
    by_pattern = json.loads(call("diagnose", f"{slow}/**/*.db", "--json").stdout)
    assert [each["bound_ns"] for each in by_name["findings"]] == [each["bound_ns"] for each in by_pattern["findings"]]
