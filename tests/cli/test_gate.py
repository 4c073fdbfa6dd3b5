"""`wavewright baseline` and `wavewright gate`: runs, traces and counters, files and statuses."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from synth.counter_capture import write_counters
from synth.noisy_calls import NoisyProgram, captures
from synth.runs import Launch, Program, Range, Rank, Synchronise, simulate, write_rocpd

if TYPE_CHECKING:
    from tests.cli.conftest import Run

PROGRAM = NoisyProgram(kernel_count=3, call_count=60, call_noise=0.02, run_noise=0.003)


def write_run(folder: Path, number: int, effect: float = 0.0, program: NoisyProgram = PROGRAM) -> Path:
    """A run of drawn durations, three kernels in each step, as a database of the simulator."""
    (drawn,) = captures(program, 1, 1, effect=effect, first=number)
    steps = tuple(
        Range("train_step", (*(Launch(f"kernel_{k}", round(float(drawn[k][n]))) for k in range(3)), Synchronise()))
        for n in range(program.call_count)
    )
    (path,) = write_rocpd(simulate(Program((Rank((steps,)),))), folder / f"run{number}")
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """run0 to run4 and run9 are equal, run8 has a kernel that is 15 % slower."""
    folder = tmp_path_factory.mktemp("gate")
    for number in (0, 1, 2, 3, 4, 9):
        write_run(folder, number)
    write_run(folder, 8, effect=0.15)
    return folder


@pytest.fixture(scope="module")
def baseline(runs: Path, run: Run) -> Path:
    path = runs / "main.wwbase"
    done = run("baseline", *(runs / f"run{number}" for number in range(5)), "-o", path, "--step", "train_step")
    assert done.returncode == 0, done.stderr
    assert "5 captures" in done.stdout
    assert path.stat().st_size < 10_000
    return path


def test_equal_runs_pass_and_slower_ones_fail(run: Run, runs: Path, baseline: Path) -> None:
    same = run("gate", runs / "run9", "--baseline", baseline)
    assert (same.returncode, same.stdout.split(":")[0]) == (0, "pass"), same.stdout
    assert "smallest change that can be told: " in same.stdout
    slower = run("gate", runs / "run8", "--baseline", baseline, "--json")
    assert slower.returncode == 1
    answer = json.loads(slower.stdout)
    assert answer["verdict"] == "fail"
    failed = [row["name"] for row in answer["checks"]["rows"] if row["status"] == "fail"]
    assert failed[0] == "kernel_0"
    assert {row["subject"] for row in answer["checks"]["rows"]} == {"gpu-time", "step", "kernel"}
    loose = run("gate", runs / "run8", "--baseline", baseline, "--threshold", "25")
    assert loose.returncode == 0


@pytest.mark.slow
def test_captures_are_baselines_too(run: Run, runs: Path) -> None:
    assert run("gate", runs / "run9", "--baseline", runs / "run0").returncode == 0
    several = [word for number in range(5) for word in ("--baseline", runs / f"run{number}")]
    assert run("gate", runs / "run8", *several, "--metric", "kernel").returncode == 1
    assert run("gate", runs / "run9", runs / "run4", *several[:6], "--metric", "gpu-time").returncode == 0


@pytest.mark.slow
def test_what_cannot_be_told_is_status_6(run: Run, runs: Path, tmp_path: Path) -> None:
    noisy = NoisyProgram(kernel_count=3, call_count=4, call_noise=0.2)
    paths = [write_run(tmp_path, number, program=noisy) for number in (0, 1)]
    done = run("gate", paths[0], "--baseline", paths[1])
    assert done.returncode == 6
    assert done.stdout.startswith("cannot tell: ")
    assert run("gate", paths[0], "--baseline", paths[1], "--allow-unsure").returncode == 0
    other = run("gate", runs / "run9", "--baseline", paths[1])
    assert other.returncode == 6
    assert "other steps: 15.00 times as many calls" in other.stdout.replace("\n", " ")
    assert run("gate", runs / "run9", "--baseline", runs / "run0", "--metric", "wall").returncode == 6


@pytest.mark.slow
def test_a_budget_judges_without_a_baseline(run: Run, runs: Path, tmp_path: Path) -> None:
    budget = tmp_path / "budget.toml"
    budget.write_text('kernels = ["kernel_0 <= 110 us"]\nlimits = ["busy >= 50 %"]\nmarkers = ["train_step <= 1 s"]\n')
    assert run("gate", runs / "run9", "--budget", budget).returncode == 0
    failed = run("gate", runs / "run8", "--budget", budget)
    assert failed.returncode == 1
    assert "kernel_0 <= 110 us" in failed.stdout
    budget.write_text('strongest_finding = "0 %"\n')
    assert run("gate", runs / "run9", "--budget", budget).returncode == 1
    budget.write_text('strongest_finding = "100 %"\n')
    assert run("gate", runs / "run9", "--budget", budget).returncode == 0


@pytest.mark.slow
def test_files_have_the_form_of_their_ending(run: Run, runs: Path, baseline: Path, tmp_path: Path) -> None:
    names = ("gate.xml", "gate.md", "gate.json", "gate.txt")
    outputs = [word for name in names for word in ("-o", tmp_path / name)]
    done = run("gate", runs / "run8", "--baseline", baseline, *outputs)
    assert done.returncode == 1
    suite = ET.parse(tmp_path / "gate.xml").getroot()  # noqa: S314 - our own output
    assert int(suite.attrib["failures"]) >= 1
    assert (tmp_path / "gate.md").read_text().startswith("## wavewright gate: fail")
    assert json.loads((tmp_path / "gate.json").read_text())["verdict"] == "fail"
    assert (tmp_path / "gate.txt").read_text().startswith("fail: ")
    before = {name: (tmp_path / name).read_bytes() for name in names}
    again = run("gate", runs / "run8", "--baseline", baseline, *outputs)
    assert again.returncode == 2, "files are not replaced without --force"
    assert run("gate", runs / "run8", "--baseline", baseline, *outputs, "--force").returncode == 1
    assert before == {name: (tmp_path / name).read_bytes() for name in names}


def test_github_gets_a_summary_and_annotations(run: Run, runs: Path, baseline: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    environment = {"GITHUB_STEP_SUMMARY": str(summary)}
    done = run("gate", runs / "run8", "--baseline", baseline, "--format", "github", environment=environment)
    assert done.returncode == 1
    assert all(line.startswith("::") for line in done.stdout.splitlines())
    assert done.stdout.startswith("::error title=wavewright gate%3A kernel kernel_0::kernel kernel_0 +")
    assert summary.read_text().startswith("before\n## wavewright gate: fail\n")
    without = run(
        "gate", runs / "run8", "--baseline", baseline, "--format", "github", environment={"GITHUB_STEP_SUMMARY": ""}
    )
    assert "## wavewright gate: fail" in without.stdout
    nowhere = {"GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "folder")}
    assert (
        run("gate", runs / "run8", "--baseline", baseline, "--format", "github", environment=nowhere).returncode == 74
    )


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("run9",), 2, "something to judge by"),
        (("nowhere", "--baseline", "run0"), 2, "no such file"),
        (("run9", "--baseline", "main.wwbase", "--baseline", "run0"), 2, "stands for all captures"),
        (("run9", "--baseline", "run0", "--metric", "cycles"), 2, "not of this kind"),
        (("run9", "--baseline", "run0", "--step", "no_such"), 2, "no marker range"),
        (("run9", "--baseline", "broken.wwbase"), 3, "damaged"),
        (("run9", "--baseline", "newer.wwbase"), 3, "version 99"),
    ],
)
def test_mistakes_are_named(
    words: tuple[str, ...], status: int, message: str, run: Run, runs: Path, baseline: Path
) -> None:
    (runs / "broken.wwbase").write_text("{")
    (runs / "newer.wwbase").write_text('{"format":"wavewright baseline","schema_version":99}')
    places = ("run", "main", "broken", "newer", "nowhere")
    done = run("gate", *(runs / word if word.startswith(places) else word for word in words))
    assert done.returncode == status, done.stderr
    assert message in done.stderr
    assert baseline.is_file()


def _trace(folder: Path, kernel: str, seed: int) -> Path:
    scenario = Scenario(kernels=(compiled(kernel, "gfx942"),), workgroups=8, seed=seed)
    write_capture(synthesize(scenario), folder)
    return folder


@pytest.mark.slow
def test_traces_need_repeats_and_name_the_lines_that_grew(run: Run, tmp_path: Path) -> None:
    before = [_trace(tmp_path / f"before{seed}", "tiled_gemm_prefetch", seed) for seed in range(5)]
    file, slower = tmp_path / "main.wwbase", _trace(tmp_path / "slower", "tiled_gemm", 5)
    assert run("baseline", *before, "-o", file).returncode == 0
    same = run("gate", _trace(tmp_path / "same", "tiled_gemm_prefetch", 9), "--baseline", file, "--threshold", "15")
    assert same.returncode == 0, same.stdout
    failed = run("gate", slower, "--baseline", file, "--format", "github")
    assert failed.returncode == 1
    assert "::warning file=/wavewright/kernels/tiled_gemm.hip,line=18," in failed.stdout
    single = run("gate", before[0], "--baseline", before[1])
    assert single.returncode == 6
    assert "one capture on each side" in single.stdout
    repeats = [word for path in before[1:] for word in ("--repeat", path)]
    compared = run("compare", before[0], slower, *repeats, "--fail-above", "5")
    assert compared.returncode == 1
    assert compared.stderr.startswith("failed: B: cycles per wave +")
    few = run("compare", before[0], slower, *repeats[:4], "--fail-above", "5", "--json")
    assert (few.returncode, json.loads(few.stdout)["is_failed"]) == (0, False)
    assert few.stderr.startswith("not failed: B: cycles per wave +")


@pytest.mark.slow
def test_traces_have_budgets_and_other_kernels_cannot_be_told(run: Run, tmp_path: Path) -> None:
    trace, budget = _trace(tmp_path / "trace", "tiled_gemm", 1), tmp_path / "budget.toml"
    budget.write_text('limits = ["cycles <= 10 cycles"]\nstrongest_finding = "1 %"\n')
    done = run("gate", trace, "--budget", budget, "--format", "github")
    assert done.returncode == 1
    found = [line for line in done.stdout.splitlines() if line.startswith("::error ") and "finding" in line]
    assert found, done.stdout
    assert any("file=" in line and "line=" in line for line in found), "findings about rows have source lines"
    refused = run("gate", runs_of(tmp_path), "--baseline", trace)
    assert refused.returncode == 2
    assert "these are thread traces and runs" in refused.stderr
    other = run("gate", _trace(tmp_path / "saxpy", "saxpy", 1), "--baseline", trace)
    assert other.returncode == 6
    assert "other kernel" in other.stdout


def runs_of(folder: Path) -> Path:
    """A run, which no baseline of traces can judge."""
    return write_run(folder, 0)


@pytest.mark.slow
def test_compare_fails_for_traces_as_a_gate_does(run: Run, shared: Path) -> None:
    captures_of = shared / "data" / "att-mi300x-bmm"
    first = captures_of / "c02"
    if not first.is_dir():
        pytest.skip("../shared/data has no such capture")
    done = run("compare", first, first, "--fail-above", "5")
    assert done.returncode == 0
    answer = json.loads(run("compare", first, first, "--fail-above", "5", "--json").stdout)
    assert answer["is_failed"] is False


@pytest.mark.slow
def test_real_captures_are_judged(run: Run, shared: Path, tmp_path: Path) -> None:
    data = shared / "data"
    cases = ("uiout-mi350x-flydsl/softmax", "rocprofv3-mi350x-flydsl/softmax", "pmc-mi300x-bmm", "xplane-mi300x")
    for number, case in enumerate(cases):
        if not (data / case).exists():
            pytest.skip(f"../shared/data/{case} is not here")
        file = tmp_path / f"{number}.wwbase"
        assert run("baseline", data / case, "-o", file).returncode == 0
        done = run("gate", data / case, "--baseline", file)
        assert (done.returncode, done.stdout.split(":")[0]) == (0, "pass"), (case, done.stdout)
    two = run("gate", data / cases[1], "--baseline", data / "rocprofv3-mi350x-flydsl" / "rmsnorm", "--json")
    assert two.returncode == 6
    assert json.loads(two.stdout)["verdict"] == "cannot tell"


def test_counters_are_judged_by_kernel_times_and_metrics(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "counters"
    write_counters(folder)
    file = tmp_path / "main.wwbase"
    assert run("baseline", folder, "-o", file, "--metric", "17.1.0").returncode == 0
    done = run("gate", folder, "--baseline", file, "--json")
    assert done.returncode == 0, done.stdout
    subjects = {row["subject"] for row in json.loads(done.stdout)["checks"]["rows"]}
    assert subjects <= {"kernel", "metric"}
    refused = run("baseline", folder, "-o", tmp_path / "x.wwbase", "--step", "a")
    assert refused.returncode == 2


def test_a_file_of_another_machine_is_judged(run: Run, runs: Path, baseline: Path, tmp_path: Path) -> None:
    file, budget = tmp_path / "new.wwbase", tmp_path / "budget.toml"
    assert run("baseline", runs / "run8", "-o", file, "--step", "train_step").returncode == 0
    assert run("gate", file, "--baseline", baseline).returncode == 1
    budget.write_text('strongest_finding = "5 %"\n')
    refused = run("gate", file, "--budget", budget)
    assert refused.returncode == 2
    assert "has no findings" in refused.stderr


@pytest.mark.slow
def test_a_matrix_of_files(run: Run, tmp_path: Path) -> None:
    wrong = []
    for seed, noise in ((seed, noise) for seed in range(8) for noise in (0.01, 0.04)):
        program = NoisyProgram(kernel_count=3, call_count=60, call_noise=noise, run_noise=0.003)
        folder = tmp_path / f"{seed}-{noise}"
        numbers = [100 * seed + place for place in range(5)]
        equal, slower = (write_run(folder / name, 100 * seed + 50, effect, program) for name, effect in EFFECTS)
        base = [word for number in numbers for word in ("--baseline", write_run(folder, number, program=program))]
        statuses = [run("gate", path, *base, "--step", "train_step").returncode for path in (equal, slower)]
        wrong += [(seed, noise, statuses)] if statuses[0] == 1 or statuses[1] == 0 else []
        assert statuses[1] in (1, 6)
    assert wrong == []


EFFECTS = (("equal", 0.0), ("slower", 0.15))
