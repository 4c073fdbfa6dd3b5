"""Every verb about runs on every kind of run: an answer or one clear sentence, as text, JSON and CSV.

Verbs are taken from the program; a new one is tested without being named here.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import click
import pytest

from synth import Workload, write_rocpd, write_rocpd_ranks, write_rpd
from synth.xplane import small_xspace
from tests.cli.in_process import Done, call
from tests.kit.sampling import covering, every_third_pair
from wavewright.cli import _group

KERNELS = """"Kind","Kernel_Name","Start_Timestamp","End_Timestamp"
"KERNEL_DISPATCH","gemm",1000,3000
"KERNEL_DISPATCH","gemm",4000,5000
"""
COPIES = """"Kind","Direction","Source_Agent_Id","Destination_Agent_Id","Start_Timestamp","End_Timestamp"
"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE","Agent 0","Agent 1",1000,3000
"MEMORY_COPY","MEMORY_COPY_DEVICE_TO_HOST","Agent 1","Agent 0",5000,6000
"""
CALLS = """"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
"HIP_RUNTIME_API","hipMalloc",7,7,1,1000,2000
"""
CHROME = {
    "traceEvents": [
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1.5, "dur": 2, "args": {"device": 0}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1, "dur": 4},
    ]
}
RUNS = (
    *("ranks", "merged.db", "hostile.db", "old.rpd", "copies.db", "idle.db"),
    *("kernel_trace.csv", "memory_copy_trace.csv", "hip_api_trace.csv", "chrome.json.gz", "a.xplane.pb", "folder"),
)
OTHERS = ("empty.db", "tables.db", "cut.db", "cut.json", "cut.json.gz", "notes.txt", "nothing", "missing")
MORE = {"kernels": ["gemm"], "query": ["SELECT count(*) AS n, sum(duration) AS ns FROM kernels"]}
"""Arguments that a verb needs beside the paths: NAME stands before them, SQL behind."""


def _command(verb: str) -> click.Command:
    command = _group.get_command(click.Context(_group), verb)
    assert command is not None
    return command


def has(verb: str, *options: str) -> bool:
    return any({*options} & {*parameter.opts} for parameter in _command(verb).params)


VERBS = [
    verb
    for verb in _group.list_commands(click.Context(_group))
    if has(verb, "--scheduler", "--engine", "--view", "--show-secrets") or verb == "info"
]
ASKING = [verb for verb in VERBS if not has(verb, "--output")]
WRITING = [verb for verb in VERBS if has(verb, "--output")]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_rocpd_ranks(folder / "ranks", Workload(dispatches=120, ranks=2))
    write_rocpd(folder / "merged.db", Workload(dispatches=120, ranks=2), schema="3.0.3")
    write_rocpd(folder / "hostile.db", Workload(dispatches=60, hostile_names=True))
    write_rpd(folder / "hostile.rpd", Workload(dispatches=60, hostile_names=True))
    write_rpd(folder / "old.rpd", Workload(dispatches=60), schema=2)
    _without(folder / "ranks/rank0_results.db", folder / "copies.db", "rocpd_kernel_dispatch")
    _without(folder / "copies.db", folder / "idle.db", "rocpd_memory_", "rocpd_region", "rocpd_sample", "rocpd_event")
    for name, text in (("kernel", KERNELS), ("memory_copy", COPIES), ("hip_api", CALLS)):
        (folder / f"{name}_trace.csv").write_text(text)
    packed = gzip.compress(json.dumps(CHROME).encode())
    (folder / "chrome.json.gz").write_bytes(packed)
    (folder / "a.xplane.pb").write_bytes(small_xspace())
    _others(folder, packed)
    (folder / "folder").mkdir()
    for name in ("copies.db", "kernel_trace.csv", "chrome.json.gz", "cut.db", "notes.txt"):
        shutil.copy(folder / name, folder / "folder")
    return folder


def _without(origin: Path, path: Path, *starts: str) -> None:
    """A copy of a database in which the tables whose names begin so have no rows."""
    shutil.copy(origin, path)
    with closing(sqlite3.connect(path)) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if name.startswith(starts):
                database.execute(f'DELETE FROM "{name}"')  # noqa: S608
        database.commit()


def _others(folder: Path, packed: bytes) -> None:
    (folder / "empty.db").write_bytes(b"")
    with closing(sqlite3.connect(folder / "tables.db")) as database:
        database.execute("CREATE TABLE t (a)")
    (folder / "cut.db").write_bytes((folder / "hostile.db").read_bytes()[:5000])
    (folder / "cut.json").write_text(json.dumps(CHROME)[:90])
    (folder / "cut.json.gz").write_bytes(packed[:60])
    (folder / "notes.txt").write_text("hello")
    (folder / "nothing").mkdir()


def _arguments(verb: str, path: Path) -> list[object]:
    paths = [path, path] if verb == "compare" else [path]
    more = MORE.get(verb, [])
    return [*more, *paths] if verb == "kernels" else [*paths, *more]


@cache
def asked(verb: str, path: Path, *options: str) -> Done:
    """Ask once, however many tests look at the answer."""
    alone = ["--jobs", 1] if has(verb, "--jobs") else []
    return call(verb, *_arguments(verb, path), *alone, *options)


def check(done: Done) -> None:
    assert done.status in (0, 2, 3), done.stderr
    assert "Traceback" not in done.stderr
    if done.status:
        assert done.stdout == ""
        assert done.stderr.startswith(("error:", "Usage:"))


def parsed(done: Done) -> dict[str, Any]:
    answer = json.loads(done.stdout, parse_constant=lambda constant: pytest.fail(f"{constant} in the JSON"))
    assert answer["schema_version"] == 1
    assert isinstance(answer, dict)
    return answer


def rows_of(done: Done) -> list[dict[str, str]]:
    found = list(csv.reader(io.StringIO(done.stdout)))
    assert len({len(row) for row in found}) == 1, "rows of different length"
    return [dict(zip(found[0], row, strict=True)) for row in found[1:]]


def _forms() -> Iterator[Any]:
    """Every verb on a run that it can answer about and on one other kind, by turns; the rest is slow."""
    for (number, verb), (place, kind) in product(enumerate(ASKING), enumerate(RUNS)):
        is_quick = kind == "ranks" or place == number % len(RUNS)
        yield pytest.param(verb, kind, marks=() if is_quick else pytest.mark.slow, id=f"{verb}-{kind}")


@pytest.mark.first_case
@pytest.mark.parametrize(("verb", "kind"), list(_forms()))
def test_forms(verb: str, kind: str, inputs: Path) -> None:
    text = asked(verb, inputs / kind)
    check(text)
    lines = (text.stdout + text.stderr).splitlines()
    assert all(line.isprintable() for line in lines), "control characters"
    assert not re.search(r"\b(None|nan|inf)\b", text.stdout)
    for form in ("--json", "--csv"):
        if has(verb, form):
            done = asked(verb, inputs / kind, form)
            assert done.status == text.status, done.stderr
    if not text.status:
        assert parsed(asked(verb, inputs / kind, "--json")).get("losses", []) is not None
        if has(verb, "--csv"):
            rows_of(asked(verb, inputs / kind, "--csv"))


@pytest.mark.parametrize(("verb", "kind"), every_third_pair(ASKING, OTHERS))
def test_what_is_no_run(verb: str, kind: str, inputs: Path) -> None:
    before = sorted(inputs.iterdir())
    done = asked(verb, inputs / kind)
    check(done)
    if verb != "info":  # which says what it is instead
        assert done.status
        assert Path(kind).name in done.stderr
    assert sorted(inputs.iterdir()) == before


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("verb", "width"), covering([verb for verb in ASKING if verb not in ("info", "schema", "tables")], [80, 100])
)
def test_numbers_are_never_cut(verb: str, width: int, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names may be; a number without its end is another number."""
    monkeypatch.setenv("COLUMNS", str(width))
    done = call(verb, *_arguments(verb, inputs / "ranks"), *(["--jobs", 1] if has(verb, "--jobs") else []))
    cut = [line for line in done.stdout.splitlines() if re.search(r"(?:^|  )[-+]?[\d.,]+ ?[a-z%]?…", line)]
    assert not cut
    assert all(len(line) <= width for line in done.stdout.splitlines())


NOTHING = [
    ("--kernel", "no such kernel"),
    ("--kernel", "/(/"),
    ("--rank", "99"),
    ("--pid", "99999999999999999999"),
    ("--time", "5s:1s"),
    ("--time", "99999999999999999999999:"),
    ("--between", "no such", "marker"),
]


@pytest.mark.some_cases(5)
@pytest.mark.parametrize(
    ("verb", "option"), every_third_pair([verb for verb in ASKING if has(verb, "--percent")], NOTHING)
)
def test_a_choice_of_nothing(verb: str, option: tuple[str, ...], inputs: Path) -> None:
    done = asked(verb, inputs / "ranks", *option)
    check(done)
    if done.stderr.startswith("error:"):
        assert "  try: " in done.stderr


@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["ranks", "merged.db", "old.rpd", "hostile.db", "copies.db", "kernel_trace.csv"])
def test_the_verbs_agree(kind: str, inputs: Path) -> None:
    """The time of GPUs is the same whoever is asked, and in whatever form."""
    path = inputs / kind
    summed = [row for row in rows_of(asked("summary", path, "--csv")) if row["domain"] in ("KERNEL", "COPY")]
    total = sum(int(row["total_ns"]) for row in summed)
    assert total == sum(int(row["total_ns"]) for row in rows_of(asked("top", path, "--csv")))
    assert total == sum(int(row["duration_sum_ns"]) for row in rows_of(asked("busy", path, "--csv")))
    kernels = [row for row in summed if row["domain"] == "KERNEL"]
    for engine in ("duckdb", "sqlite"):
        (row,) = rows_of(asked("query", path, "--csv", "--engine", engine))
        assert int(row["n"]) == sum(int(kernel["calls"]) for kernel in kernels)
        assert int(row["ns"] or 0) == sum(int(kernel["total_ns"]) for kernel in kernels)


@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["ranks", "hostile.db", "hostile.rpd", "copies.db", "idle.db", "kernel_trace.csv"])
@pytest.mark.parametrize("verb", WRITING)
def test_writing(verb: str, kind: str, inputs: Path, tmp_path: Path) -> None:
    before = sorted(inputs.rglob("*"))
    output = tmp_path / "written"
    form = ["-f", "rocpd"] if verb == "convert" else []
    done = call(verb, inputs / kind, "-o", output, *form, "--json")
    check(done)
    assert output.exists() is not bool(done.status)
    assert sorted(tmp_path.iterdir()) == ([output] if not done.status else []), "something was left"
    if not done.status:
        parsed(done)
        again = call(verb, inputs / kind, "-o", output, *form)
        assert (again.status, "--force" in again.stderr) == (2, True)
    assert sorted(inputs.rglob("*")) == before


@pytest.mark.first_case
@pytest.mark.parametrize("form", ["rocpd", "csv", "parquet"])
def test_the_kinds_of_calls_survive(form: str, inputs: Path, tmp_path: Path) -> None:
    """Formats that store categories only, of which readers take the domain, name them so that it is the same."""
    done = call("convert", inputs / "chrome.json.gz", "-f", form, "-o", tmp_path / "written")
    assert done.status == 0, done.stderr
    before, after = (
        {(row["domain"], row["calls"], row["total_ns"]) for row in rows_of(asked("summary", path, "--csv"))}
        for path in (inputs / "chrome.json.gz", tmp_path / "written")
    )
    assert after == before == {("KERNEL", "1", "2000"), ("OPERATOR", "1", "4000")}


def test_what_a_chrome_trace_cannot_hold_is_a_loss(inputs: Path, tmp_path: Path) -> None:
    done = call("convert", inputs / "merged.db", "-f", "chrome", "-o", tmp_path / "trace.json", "--json")
    (lost,) = parsed(done)["losses"]
    assert (lost["kind"], "allocations" in lost["message"]) == ("not_in_format", True)
