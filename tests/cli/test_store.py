"""`wavewright store` and `gate --store`, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.runs import Program, planted, simulate, write_rocpd
from tests.cli.conftest import Run


def database(folder: Path, cause: str, *, is_healthy: bool) -> Path:
    folder.mkdir(parents=True)
    program: Program = planted(cause, seed=1, ranks=1)[1 if is_healthy else 0]
    write_rocpd(simulate(program), folder)
    return folder


@pytest.fixture(scope="module")
def baselines(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Ten captures; from the sixth on, one of two kernels takes 20 % longer."""
    from wavewright.export.gate.baseline import write_baseline
    from wavewright.model.baseline import Baseline, MeasuredCapture, Quantity

    folder = tmp_path_factory.mktemp("baselines")
    paths = []
    for number in range(10):
        slower = 1.2 if number >= 5 else 1.0
        wobble = 1 + 0.001 * (number % 3)
        means = {"gemm": 100_000 * wobble, "attention": 200_000 * slower * wobble}
        kernels = [Quantity("kernel", name, "ns", 50, mean, total=50 * mean) for name, mean in means.items()]
        whole = sum(50 * mean for mean in means.values())
        quantities = (*kernels, Quantity("gpu-time", "", "ns", 1, whole, total=whole))
        capture = MeasuredCapture(f"run{number}", quantities, target="gfx942", software={"ROCm": "7.0"})
        paths.append(folder / f"run{number}.wwbase")
        write_baseline(Baseline("run", (capture,)), paths[-1])
    return paths


@pytest.fixture
def store(tmp_path: Path, run: Run, baselines: list[Path]) -> Path:
    for number, path in enumerate(baselines):
        taken = ("--taken", f"2026-11-{number + 1:02}", "--commit", f"c{number}")
        assert run("store", "add", tmp_path / "store", path, *taken).returncode == 0
    return tmp_path / "store"


def test_a_trend_has_the_planted_change(run: Run, store: Path) -> None:
    answer = json.loads(run("store", "trend", store, "attention", "--json").stdout)
    (change,) = answer["changes"]["rows"]
    assert (change["commit_before"], change["commit_id"]) == ("c4", "c5")
    assert change["change_low"] < 0.2 < change["change_high"]
    assert [row["commit_id"] for row in answer["points"]["rows"]] == [f"c{number}" for number in range(10)]
    assert not json.loads(run("store", "trend", store, "gemm", "--json").stdout)["changes"]["rows"]


def test_blame_names_the_kernel(run: Run, store: Path) -> None:
    answer = json.loads(run("store", "blame", store, "gpu-time", "--json").stdout)
    first, *others = answer["parts"]["rows"]
    assert (first["name"], first["is_beyond_noise"]) == ("attention", True)
    assert first["share"] == pytest.approx(1, abs=0.02)
    assert not any(row["is_beyond_noise"] for row in others)
    assert answer["compare"] is None, "the captures were never there"
    text = run("store", "blame", store, "gpu-time", "--at", "c5").stdout
    assert "kernel attention +20.0 %" in text
    assert run("store", "blame", store, "gpu-time", "--at", "c3").returncode == 2


@pytest.mark.parametrize("words", [("list",), ("trend", "attention"), ("blame", "gpu-time")])
def test_briefs_are_short(run: Run, store: Path, words: tuple[str, ...]) -> None:
    verb, *rest = words
    done = run("store", verb, store, *rest, "--brief")
    assert (done.returncode, done.stderr) == (0, "")
    assert 0 < len(done.stdout) < 8_000


def test_a_gate_is_held_against_the_newest_captures(run: Run, store: Path, baselines: list[Path]) -> None:
    assert run("gate", baselines[0], "--store", store, "--last", "5").returncode == 0
    assert run("gate", baselines[9], "--store", store, "--last", "10").returncode in (1, 6)
    both = run("gate", baselines[9], "--store", store, "--baseline", baselines[0])
    assert (both.returncode, "two baselines" in both.stderr) == (2, True)


def test_a_picture_and_a_list(run: Run, store: Path, tmp_path: Path) -> None:
    picture = tmp_path / "trend.svg"
    assert run("store", "trend", store, "attention", "-o", picture).returncode == 0
    assert picture.read_text().count("<circle") == 10
    listed = run("store", "list", store, "--csv", "--top", "0").stdout.splitlines()
    assert len(listed) == 11


def test_captures_are_added_once_and_bad_ones_are_named(run: Run, tmp_path: Path) -> None:
    good = database(tmp_path / "run", "readbacks", is_healthy=True)
    done = run("store", "add", tmp_path / "store", good, good, __file__, "--json")
    answer = json.loads(done.stdout)
    assert [each["is_new"] for each in answer["added"]] == [True, False]
    assert list(answer["failures"]) == [__file__]
    assert done.returncode == 2


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE captures",
        "ATTACH '/tmp/x' AS y",
        "PRAGMA writable_schema = 1",
        "SELECT load_extension('x')",
        "SELECT nothing FROM captures",
        "SELECT 1; SELECT 2",
        "",
    ],
)
def test_sql_may_only_read(run: Run, store: Path, sql: str) -> None:
    done = run("store", "query", store, sql)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_sql(run: Run, store: Path) -> None:
    sql = "SELECT commit_id, mean FROM quantities JOIN captures USING (capture) WHERE name = 'attention' ORDER BY mean"
    rows = json.loads(run("store", "query", store, sql, "--json", "--top", "0").stdout)["rows"]
    assert rows["row_count"] == 10


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("trend", "nothing-here", "x"), "there is no store"),
        (("trend", "STORE", "x" * 50), "no capture has"),
        (("blame", "STORE", "gemm"), "no change"),
        (("add", "STORE", "x", "--taken", "yesterday"), "is not a date"),
        (("add", "STORE", "x", "--label", "nonsense"), "KEY=VALUE"),
    ],
)
def test_errors_say_what_to_do(run: Run, store: Path, words: tuple[str, ...], reason: str) -> None:
    done = run("store", *(str(store) if word == "STORE" else word for word in words))
    assert (done.returncode, reason in done.stderr) == (2, True)
