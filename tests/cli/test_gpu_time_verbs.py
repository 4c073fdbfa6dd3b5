"""busy, gaps, overlap, kernels and regions: words, forms, many files, hostile names, and what cannot be used."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from synth import Workload, write_rocpd, write_rocpd_ranks
from tests.cli.in_process import Done, call

VERBS = ("busy", "gaps", "overlap", "kernels", "regions")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_rocpd_ranks(folder / "a", Workload(dispatches=2000, ranks=2, seed=1))
    write_rocpd(folder / "hostile.db", Workload(dispatches=400, hostile_names=True))
    (folder / "empty.db").write_bytes(b"")
    return folder


def ask(verb: str, path: Path, *options: Any) -> Done:
    return call(verb, *([""] if verb == "kernels" else []), path, "--jobs", 1, *options)


def told(verb: str, path: Path, *options: Any) -> dict[str, Any]:
    done = ask(verb, path, "--json", *options)
    assert done.status == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout, parse_constant=lambda constant: pytest.fail(constant))
    return answer


@pytest.mark.first_case
@pytest.mark.parametrize("verb", VERBS)
def test_forms(verb: str, runs: Path) -> None:
    text = ask(verb, runs / "a")
    assert text.status == 0, text.stderr
    assert len(text.stdout.splitlines()) > 3
    answer = told(verb, runs / "a")
    assert answer["definition"]
    assert answer["losses"] == []
    assert len(answer["inputs"]) == 2
    table = ask(verb, runs / "a", "--csv")
    assert list(csv.DictReader(io.StringIO(table.stdout)))
    assert table.stderr == ""


@pytest.mark.first_case
@pytest.mark.parametrize("verb", VERBS)
def test_the_same_with_one_and_two_processes(verb: str, runs: Path) -> None:
    one, two = (ask(verb, runs / "a", "--json", "--jobs", jobs).stdout for jobs in (1, 2))
    assert one == two


@pytest.mark.first_case
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_hostile_names(verb: str, form: tuple[str, ...], runs: Path) -> None:
    done = ask(verb, runs / "hostile.db", *form, "--top", 0)
    assert done.status == 0, done.stderr
    assert "\x1b" not in done.stdout or form == ("--csv",)
    if form == ("--csv",):
        assert not any(cell[:1] in "=+@" and cell[:1] for row in csv.reader(io.StringIO(done.stdout)) for cell in row)


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_run(verb: str, runs: Path) -> None:
    for name in ("empty.db", "missing.db"):
        done = ask(verb, runs / name)
        assert done.status in (2, 3)
        assert done.stdout == ""
        assert done.stderr.startswith("error:")


@pytest.mark.first_case
@pytest.mark.parametrize("verb", VERBS)
def test_a_narrow_terminal_without_unicode(verb: str, runs: Path) -> None:
    done = call(verb, *([""] if verb == "kernels" else []), runs / "a", "--jobs", 1, encoding="ascii")
    assert done.status == 0, done.stderr


@pytest.mark.first_case
@pytest.mark.parametrize("verb", VERBS)
def test_truncation_is_loud(verb: str, runs: Path) -> None:
    assert "showing 1 of" in ask(verb, runs / "a", "--top", 1).stdout


def test_gaps_and_work_make_the_span(runs: Path) -> None:
    busy, gaps = told("busy", runs / "a"), told("gaps", runs / "a")
    for gpu, idle in zip(busy["gpus"]["rows"], gaps["gpus"]["rows"], strict=True):
        assert gpu["busy_ns"] == idle["busy_ns"]
        assert idle["busy_ns"] + idle["gap_ns"] + idle["rounding_ns"] + idle["edge_ns"] == gpu["wall_ns"]
        assert idle["wall_ns"] == gpu["wall_ns"] >= gpu["span_ns"] == idle["span_ns"]
    parts = sum(row["wait_ns"] for row in gaps["causes"]["rows"])
    assert parts == sum(row["gap_ns"] for row in gaps["gpus"]["rows"])
    by_stream = told("gaps", runs / "a", "--by", "stream")["gpus"]["rows"]
    assert all(row["stream_id"] is not None for row in by_stream)


@pytest.mark.slow
def test_kernels_by_name(runs: Path) -> None:
    every = told("kernels", runs / "a")["kernels"]
    chosen = json.loads(call("kernels", "/nccl/", runs / "a", "--json", "--jobs", 1).stdout)["kernels"]
    assert {row["name"] for row in chosen["rows"]} == {row["name"] for row in every["rows"] if "nccl" in row["name"]}
    assert sum(row["share"] for row in every["rows"]) == pytest.approx(1)
    nothing = call("kernels", "no such kernel", runs / "a", "--jobs", 1)
    assert (nothing.status, nothing.stdout.splitlines()[0]) == (0, "no kernel matches 'no such kernel'")
    assert call("kernels", "/(/", runs / "a", "--jobs", 1).status == 2


@pytest.mark.slow
def test_depth_and_share_of_regions(runs: Path) -> None:
    shallow = ask("regions", runs / "a", "--depth", 1, "--top", 0).stdout
    deep = ask("regions", runs / "a", "--min-share", 0, "--top", 0).stdout
    assert len(shallow.splitlines()) < len(deep.splitlines())
    markers = told("regions", runs / "a", "--domain", "MARKER")
    every = told("regions", runs / "a")
    assert 0 < markers["region_count"] < every["region_count"]
    roots = [row for row in markers["tree"]["rows"] if row["parent"] == -1]
    assert sum(row["gpu_total_ns"] for row in roots) > 0


@pytest.mark.slow
def test_choice_of_regions(runs: Path) -> None:
    wrong = call("regions", runs / "a", "--domain", "OPERATR", "--jobs", 1)
    assert wrong.status == 2
    assert wrong.stderr.startswith("error: no region of the domain OPERATR")
    assert "this run has HIP " in wrong.stderr or "this run has MARKER " in wrong.stderr
    assert "no module (nn.Module) was recorded" in call("regions", runs / "a", "--layers", "--jobs", 1).stderr
    named = told("regions", runs / "a", "--name", "/^hipLaunch/")["tree"]["rows"]
    assert {row["name"] for row in named if row["parent"] == -1} <= {row["name"] for row in named}
    assert all(row["name"].startswith("hipLaunch") for row in named if row["parent"] == -1)
    assert call("regions", runs / "a", "--name", "no such region", "--jobs", 1).status == 2
    assert call("regions", runs / "a", "--name", "/(/", "--jobs", 1).status == 2
    for sort in ("gpu", "cpu", "self", "calls"):
        assert "CPU" in ask("regions", runs / "a", "--sort", sort).stdout


@pytest.mark.slow
def test_ranks_that_share_gpus(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    write_rocpd_ranks(folder, Workload(dispatches=400, ranks=4, gpus=2, seed=3))
    gpus = told("busy", folder)["gpus"]["rows"]
    assert [gpu["process_count"] for gpu in gpus] == [2, 2]
    kernels = [_kernel_times(path) for path in sorted(folder.rglob("*.db"))]
    for gpu in gpus:
        moments = sorted(pair for times in kernels for number, *pair in times if number == gpu["gpu"])
        merged, reached = 0, 0
        for begin, end in moments:
            merged += max(0, end - max(begin, reached))
            reached = max(reached, end)
        assert gpu["kernel_busy_ns"] == merged
    idle = told("gaps", folder)
    assert [row["busy_ns"] for row in idle["gpus"]["rows"]] == [gpu["busy_ns"] for gpu in gpus]
    assert sum(row["wait_ns"] for row in idle["causes"]["rows"]) == sum(row["gap_ns"] for row in idle["gpus"]["rows"])
    assert told("overlap", folder)["processes"]["row_count"] == 2


def _kernel_times(path: Path) -> list[tuple[int, int, int]]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        rows = database.execute(
            "SELECT a.type_index, d.start, d.end FROM rocpd_kernel_dispatch d JOIN rocpd_info_agent a"
            " ON a.id = d.agent_id AND a.guid = d.guid"
        ).fetchall()
    database.close()
    return rows


@pytest.mark.slow
def test_the_window_is_what_shares_are_of(runs: Path) -> None:
    window = ("--time", "10%:20%")
    (gpu, *_), (idle, *_) = (told(verb, runs / "a", *window)["gpus"]["rows"] for verb in ("busy", "gaps"))
    assert gpu["span_ns"] == gpu["wall_ns"] == idle["span_ns"] == told("summary", runs / "a", *window)["wall_ns"]
    assert idle["busy_ns"] == gpu["busy_ns"] <= gpu["span_ns"]


@pytest.mark.slow
def test_gaps_as_csv(runs: Path) -> None:
    heads = {
        "gaps": "at_ns,gap_ns,previous,next",
        "gpus": "gap_count",
        "causes": "cause,function",
        "lengths": "from_ns",
    }
    for table, columns in heads.items():
        done = call("gaps", runs / "a", "--csv", "--table", table)
        assert columns in done.stdout.splitlines()[0], table
    assert call("gaps", runs / "a", "--csv").stdout == call("gaps", runs / "a", "--csv", "--table", "gaps").stdout


@pytest.mark.parametrize(
    ("verb", "option", "value", "there"),
    [
        ("top", "--kernel", "nosuch", "no kernel matches nosuch; this run has "),
        ("summary", "--rank", "77", "no rank 77; this run has 0"),
        ("busy", "--gpu", "77", "no GPU 77; this run has 0"),
        ("regions", "--domain", "MARKRE", "no region of the domain MARKRE; this run has "),
        ("gaps", "--pid", "77", "no process 77; this run has "),
    ],
)
def test_what_matches_nothing_says_what_there_is(verb: str, option: str, value: str, there: str, runs: Path) -> None:
    done = call(verb, runs / "a", option, value)
    assert done.status == 2
    assert there in done.stderr
    assert not done.stdout


def test_options_of_the_verb_come_first() -> None:
    about, _, options = call("gaps", "--help").stdout.partition("Options:")
    places = [options.index(f"\n  --{name} ") for name in ("by", "table", "top", "kernel", "jobs")]
    assert places == sorted(places)
    assert "A gap is the time between two pieces of work" in about
