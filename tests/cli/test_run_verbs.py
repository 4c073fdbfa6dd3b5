"""summary, top, ranks and compare about runs: words, forms, and what cannot be used."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from synth import Scenario, Workload, synthesize, write_capture, write_rocpd, write_rocpd_ranks
from tests.cli.in_process import call

VERBS = ("summary", "top", "ranks", "compare")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_rocpd_ranks(folder / "a", Workload(dispatches=2000, ranks=2, seed=1))
    write_rocpd_ranks(folder / "b", Workload(dispatches=2000, ranks=2, seed=2, slow=(("flash", 1.5),)))
    write_rocpd(folder / "hostile.db", Workload(dispatches=400, hostile_names=True))
    (folder / "empty.db").write_bytes(b"")
    write_capture(synthesize(Scenario(workgroups=1)), folder / "trace")
    return folder


def paths(verb: str, runs: Path, name: str = "a") -> list[Path]:
    return [runs / name] * (2 if verb == "compare" else 1)


@pytest.mark.first_case
@pytest.mark.parametrize("verb", VERBS)
def test_forms(verb: str, runs: Path) -> None:
    text = call(verb, *paths(verb, runs), "--jobs", 1)
    assert text.status == 0, text.stderr
    told = json.loads(call(verb, *paths(verb, runs), "--json", "--jobs", 1).stdout)
    assert told["schema_version"] == 1
    assert told["definition"]
    assert told["losses"] == []
    table = call(verb, *paths(verb, runs), "--csv", "--jobs", 1)
    rows = list(csv.DictReader(io.StringIO(table.stdout)))
    assert rows
    assert table.stderr == ""


@pytest.mark.first_case
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_hostile_names(verb: str, form: tuple[str, ...], runs: Path) -> None:
    done = call(verb, *paths(verb, runs, "hostile.db"), *form, "--top", 0, *(["--all"] if verb == "compare" else []))
    assert done.status == 0, done.stderr
    assert "\x1b" not in done.stdout
    if form == ("--csv",):
        assert not any(cell[:1] in "=+@" and cell[:1] for row in csv.reader(io.StringIO(done.stdout)) for cell in row)


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_run(verb: str, runs: Path) -> None:
    for name in ("empty.db", "trace" if verb != "compare" else "empty.db"):
        done = call(verb, *paths(verb, runs, name))
        assert done.status in (2, 3)
        assert "error:" in done.stderr
        assert done.stdout == ""


@pytest.mark.first_case
@pytest.mark.parametrize("verb", ("summary", "top", "ranks"))
def test_a_broken_file_among_good_ones(verb: str, runs: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes((runs / "a" / "rank0_results.db").read_bytes()[:3000])
    done = call(verb, runs / "a" / "rank1_results.db", broken, "--json", "--jobs", 1)
    assert done.status == 0, done.stderr
    told = json.loads(done.stdout)
    assert [Path(path).name for path in told["inputs"]] == ["rank1_results.db"]
    assert [loss["kind"] for loss in told["losses"]] == ["unreadable_source"]
    assert "broken.db" in call(verb, runs / "a" / "rank1_results.db", broken, "--jobs", 1).stdout


def test_summary_says_what_it_does_not_show(runs: Path) -> None:
    done = call("summary", runs / "a", "--top", 2, "--jobs", 1)
    assert "showing 2 of 13 kernels" in done.stdout
    assert call("summary", runs / "a", "--top", 2, "--csv", "--jobs", 1).stderr.startswith("showing 2 of")


@pytest.mark.slow
def test_tables_of_rocpd_summary(runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    assert call("summary", runs / "a", "--rocpd-csv", folder, "--jobs", 1).status == 0
    found = {path.name: list(csv.DictReader(io.StringIO(path.read_text()))) for path in folder.iterdir()}
    assert {"kernels_summary.csv", "memory_copies_summary.csv", "HIP_summary.csv", "markers_summary.csv"} <= set(found)
    assert sum(int(row["Calls"]) for row in found["kernels_summary.csv"]) == 2000
    assert {row["Name"] for row in found["memory_allocations_summary.csv"]} <= {"ALLOC", "FREE"}
    again = call("summary", runs / "a", "--rocpd-csv", folder, "--jobs", 1)
    assert again.status == 2
    assert "new or empty" in again.stderr
    assert call("summary", runs / "a", "--rocpd-csv", tmp_path / "x", "--by", "gpu", "--jobs", 1).status == 2


@pytest.mark.first_case
@pytest.mark.parametrize("by", ["process", "rank", "gpu", "stream", "marker"])
def test_groups(by: str, runs: Path) -> None:
    done = call("summary", runs / "a", "--by", by, "--csv", "--jobs", 1)
    header = done.stdout.splitlines()[0].split(",")
    assert ("pid" if by in ("process", "stream") else by) in header
    assert call("summary", runs / "a", "--by", by, "--jobs", 1).status == 0


@pytest.mark.slow
def test_the_slower_kernel_is_named(runs: Path) -> None:
    done = call("compare", runs / "a", runs / "b" / "*.db", "--step", "iteration", "--jobs", 1)
    assert "1 slower" in done.stdout.splitlines()[0] + done.stdout.splitlines()[1]
    told = json.loads(call("compare", runs / "a", runs / "b", "--json", "--jobs", 1).stdout)
    changed = [row for row in told["things"]["rows"] if row["status"] == "slower" and row["domain"] == "KERNEL"]
    assert [row["name"].split("<")[0] for row in changed] == ["void flash_forward"]
    assert told["verdicts"][0].startswith("B against A: GPU time")


@pytest.mark.slow
def test_repeats(runs: Path) -> None:
    done = call("compare", runs / "a", runs / "b", "--repeat", runs / "a", "--json", "--jobs", 1)
    assert json.loads(done.stdout)["repeat_count"] == 1


@pytest.mark.some_cases(1)
@pytest.mark.parametrize(
    ("options", "status", "line"),
    [
        pytest.param(("--fail-above", 5), 1, "failed: B: GPU time per run +", marks=pytest.mark.slow),
        (("--fail-above", 5, "--fail-on", "total", "--step", "iteration"), 1, "failed: B: GPU time per step +"),
        (("--fail-above", 20, "--fail-on", "kernel"), 1, "failed: B: kernel flash_forward<half, 128, 64> +49"),
        (("--fail-above", 90, "--fail-on", "kernel"), 0, ""),
        pytest.param(("--fail-above", 90), 0, "", marks=pytest.mark.slow),
    ],
)
def test_a_slower_run_fails(options: tuple[object, ...], status: int, line: str, runs: Path) -> None:
    done = call("compare", runs / "a", runs / "b", "--jobs", 1, *options)
    assert done.status == status
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == status, "one line"
    assert call("compare", runs / "b", runs / "a", "--jobs", 1, *options).status == 0
    told = json.loads(call("compare", runs / "a", runs / "b", "--jobs", 1, "--json", *options).stdout)
    assert told["is_failed"] is bool(status)
    assert len(told["failures"]) == status


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--fail-above", 5, "--fail-on", "step"), "--fail-on step needs to know what a step is"),
        (("--fail-on", "kernel"), "--fail-on says what --fail-above looks at"),
    ],
)
def test_what_a_gate_needs(options: tuple[object, ...], line: str, runs: Path) -> None:
    done = call("compare", runs / "a", runs / "b", "--jobs", 1, *options)
    assert done.status == 2
    assert line in done.stderr


@pytest.mark.slow
def test_a_run_with_itself(runs: Path) -> None:
    done = call("compare", runs / "a", runs / "a", "--jobs", 1, "--fail-above", 0)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith("B against A: nothing differs\n")


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
def test_comparisons_of_runs_fit(runs: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = call("compare", runs / "a", runs / "b", "--all", "--jobs", 1).stdout.splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.startswith("GPU time") for line in lines)


def test_traces_and_runs_are_not_compared(runs: Path) -> None:
    done = call("compare", runs / "a", runs / "trace")
    assert done.status == 2
    assert "compare traces with traces" in done.stderr


def test_one_run_is_no_comparison(runs: Path) -> None:
    assert call("compare", runs / "a", "--jobs", 1).status == 2
    assert "no marker range 'nonsense'" in call("compare", runs / "a", runs / "b", "--step", "nonsense").stderr


def test_help_names_the_options_of_both() -> None:
    done = call("compare", "--help")
    assert done.status == 0
    assert "--step" in done.stdout
    assert "--dispatch" in done.stdout


def test_percent_is_a_way_to_say_time(runs: Path) -> None:
    asked = [("--percent", "25:50"), ("--time", "25%:50%"), ("--percent", "25%:50%")]
    answers = [json.loads(call("top", runs / "a", "--jobs", 1, *options, "--json").stdout) for options in asked]
    whole = json.loads(call("top", runs / "a", "--jobs", 1, "--json").stdout)
    assert answers[0] == answers[1] == answers[2] != whole
    both = call("top", runs / "a", "--percent", "1:2", "--time", "1%:2%")
    assert (both.status, "give one of them" in both.stderr) == (2, True)


def test_an_option_without_a_function_of_its_verb_reaches_the_analysis(runs: Path) -> None:
    steps = {}
    for marker in ("iteration", "nonsense"):
        answer = json.loads(call("launches", runs / "a", "--step", marker, "--json").stdout)
        steps[marker] = [row["step_count"] for row in answer["processes"]["rows"]]
    assert steps == {"iteration": [10, 10], "nonsense": [0, 0]}  # a range per 100 of the 1,000 dispatches of a rank
    refused = call("launches", runs / "a", "--step", "/x(/")
    assert refused.status == 2 and "is not a regular expression" in refused.stderr
