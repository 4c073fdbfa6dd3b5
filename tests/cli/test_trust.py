"""Verbs coverage, barriers and compare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from tests.cli.conftest import Run


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Two runs of a GEMM, the second with more loop trips, and a run of another kernel."""
    folder = tmp_path_factory.mktemp("captures")
    for name, kernel, trips in (("one", "tiled_gemm", 3), ("two", "tiled_gemm", 6), ("other", "saxpy", 3)):
        scenario = Scenario(kernels=(compiled(kernel, "gfx942"),), shader_engines=2, workgroups=4, loop_trips=trips)
        write_capture(synthesize(scenario), folder / name)
    return folder / "one", folder / "two", folder / "other"


def test_coverage(run: Run, captures: tuple[Path, Path, Path]) -> None:
    done = run("coverage", captures[0])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("Trace quality: ")
    assert "\nSource lines: " in done.stdout
    assert "instructions of the functions entered ran" in done.stdout
    answer = json.loads(run("coverage", captures[0], "--json").stdout)
    assert answer["trust"]["cycles"] in ("good", "use with caution")
    assert answer["trust"]["lines"] in ("good", "coarse")
    assert answer["coverage"]["wave_count"] == sum(row["wave_count"] for row in answer["coverage"]["paths"]["rows"])
    assert all(
        {"severity", "sentence", "advice", "numbers"} <= set(caveat) for caveat in answer["trust"]["caveats_of_cycles"]
    )
    assert answer["mapping"]["definition"]


def test_coverage_of_a_choice(run: Run, captures: tuple[Path, Path, Path]) -> None:
    answer = json.loads(run("coverage", captures[0], "--se", "1", "--json").stdout)
    assert [row["se"] for row in answer["coverage"]["engines"]["rows"]] == [1]


def test_barriers(run: Run, captures: tuple[Path, Path, Path]) -> None:
    done = run("barriers", captures[0])
    assert done.returncode == 0, done.stderr
    assert "waiting for the last wave" in done.stdout
    answer = json.loads(run("barriers", captures[0], "--json").stdout)
    assert answer["rows"]["row_count"] >= 1
    assert answer["definition"]
    worst = answer["rows"]["rows"][0]
    assert f"; at {worst['address']:#x} " in " ".join(done.stdout.split()) and "at row" not in done.stdout
    assert "last SIMD 0/1/2/3" in done.stdout


def test_no_barriers(run: Run, captures: tuple[Path, Path, Path]) -> None:
    assert "no barrier was executed" in run("barriers", captures[2]).stdout


def test_compare(run: Run, captures: tuple[Path, Path, Path]) -> None:
    one, two, _ = captures
    done = run("compare", one, two)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].startswith("B runs the same code as A: ")
    assert "not a change of the code." in done.stdout.replace("\n", " ")
    answer = json.loads(run("compare", one, two, "--json", "--by", "instruction").stdout)
    assert answer["same_code"]
    assert answer["by"] == "instruction"
    work = sum(row["work_cycles_per_wave"] for row in answer["units"]["rows"])
    assert work > 0
    assert [row["label"] for row in answer["traces"]["rows"]] == ["A", "B"]
    assert len(answer["verdicts"]) == 1


def test_compare_a_part(run: Run, captures: tuple[Path, Path, Path]) -> None:
    one, two, _ = captures
    answer = json.loads(run("compare", one, two, "--se", "1", "--line", "18:19", "--json").stdout)
    assert answer["is_part"]
    whole = json.loads(run("compare", one, two, "--by", answer["by"], "--json").stdout)
    assert answer["traces"]["rows"][0]["wave_count"] * 2 == whole["traces"]["rows"][0]["wave_count"]
    assert answer["units"]["row_count"] < whole["units"]["row_count"]


@pytest.mark.slow
def test_compare_says_what_it_does_not_show(run: Run, captures: tuple[Path, Path, Path]) -> None:
    one, two, _ = captures
    shown = run("compare", one, two, "--by", "instruction").stdout
    assert "in sum, not a change; --all shows them" in shown
    some = run("compare", one, two, "--by", "instruction", "--all", "--top", "1").stdout
    assert "showing 1 of" in some
    everything = run("compare", one, two, "--by", "instruction", "--all", "--top", "0").stdout
    assert "--all shows them" not in everything


@pytest.mark.slow
def test_compare_with_a_repeated_run(run: Run, captures: tuple[Path, Path, Path]) -> None:
    one, two, other = captures
    answer = json.loads(run("compare", one, two, "--repeat", one, "--repeat", one, "--json").stdout)
    assert (answer["noise_from"], answer["repeat_count"]) == ("repeats", 2)
    once = run("compare", one, two, "--repeat", one)
    assert "one repetition cannot measure noise: give two or more --repeat PATH" in once.stdout.replace("\n", " ")
    refused = run("compare", one, two, "--repeat", other)
    assert refused.returncode == 2
    assert "not a repeated run" in refused.stderr


def test_compare_different_kernels(run: Run, captures: tuple[Path, Path, Path]) -> None:
    refused = run("compare", captures[0], captures[2])
    assert refused.returncode == 2
    assert "different kernels" in refused.stderr
    assert "--force" in refused.stderr
    forced = run("compare", captures[0], captures[2], "--force")
    assert forced.returncode == 0, forced.stderr
    assert "different kernels" in forced.stdout


def test_compare_wants_two(run: Run, captures: tuple[Path, Path, Path]) -> None:
    assert run("compare", captures[0]).returncode == 2
    assert run("compare", captures[0], captures[0].parent / "missing").returncode == 2
    wrong = run("compare", captures[0], captures[1], captures[2], "--dispatch", "1", "--dispatch", "2")
    assert wrong.returncode == 2
    assert "once for each PATH" in wrong.stderr


@pytest.mark.slow
def test_compare_finds_dispatches_of_the_same_code_beside_a_trace(run: Run, tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    for seed in (1, 2, 3):
        scenario = Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), workgroups=4, seed=seed)
        write_capture(synthesize(scenario), tmp_path / f"raw{seed}")
        assert run("decode", tmp_path / f"raw{seed}", "-o", tmp_path / f"out{seed}").returncode == 0
        (decoded,) = (tmp_path / f"out{seed}").glob("ui_output_*")
        parent.mkdir(exist_ok=True)
        decoded.rename(parent / f"ui_output_agent_1_dispatch_{seed}")
    answer = json.loads(run("compare", parent, tmp_path / "raw2", "--json").stdout)
    assert (answer["noise_from"], answer["repeat_count"]) == ("repeats", 2)
    both = json.loads(run("compare", parent, "--dispatch", "1", "--dispatch", "2", "--json").stdout)
    assert (both["repeat_count"], both["unused_repeat_count"]) == (0, 1)
    assert [row["path"][-1] for row in both["traces"]["rows"]] == ["1", "2"]
