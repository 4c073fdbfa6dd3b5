"""Secrets of a recorded program: in no answer and in no file that is written, unless they are asked for."""

from __future__ import annotations

import gzip
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.cli.in_process import call
from tests.kit.page_answers import answers_in
from wavewright.mcp.dispatcher import Dispatcher

COMMAND = "train --api-key PLANTED_1 --token=PLANTED_2 http://me:PLANTED_3@host/x HF_TOKEN=PLANTED_4"
PLANTED = re.compile(rb"PLANTED_\w+")
HIDDEN = re.compile(rb"PLANTED_\w+|PLACE_\w+")
FORMATS = ("arrow", "chrome", "csv", "html", "json", "pftrace", "rocpd")
VERBS = (
    ("info",), ("tables",), ("summary",), ("diagnose",), ("top",), ("gaps",), ("regions",), ("ranks",),
    *(("query", f"SELECT * FROM run.{table}") for table in ("processes", "arguments", "environment")),  # noqa: S608
)  # fmt: skip


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose command, variables, arguments and names of the machine are planted."""
    folder = tmp_path_factory.mktemp("secrets") / "captures"
    write_rocpd_ranks(folder, Workload(dispatches=30, ranks=1, seed=7))
    (file,) = folder.rglob("*.db")
    with sqlite3.connect(file) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = {name.removeprefix("rocpd_").rpartition("_0000")[0]: name for name in names}
        environment = '{"OMPI_COMM_WORLD_RANK": "0", "ANYTHING": "PLANTED_5"}'
        for name, changes, values in (
            ("info_process", "command = ?, environment = ?", (COMMAND, environment)),
            ("arg", "value = ?", ("url=https://me:PLANTED_6@host",)),
            ("info_node", "hostname = ?, machine_id = ?", ("PLACE_1", "PLACE_2")),
        ):
            connection.execute(f"UPDATE {table[name]} SET {changes}", values)  # noqa: S608
    return folder


def contents(path: Path) -> Iterator[bytes]:
    """Everything that a file or folder holds, unpacked."""
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if not file.is_file():
            continue
        data = file.read_bytes()
        yield data
        if data[:2] == b"PK":
            with zipfile.ZipFile(file) as archive:
                yield from (archive.read(name) for name in archive.namelist())
        elif data[:2] == b"\x1f\x8b":
            yield gzip.decompress(data)
        elif file.suffix == ".html" and b'id="answers"' in data:
            yield from answers_in(file).values()
        elif file.suffix == ".parquet":
            yield str(pl.read_parquet(file).to_dicts()).encode()
        elif file.suffix in (".arrow", ".ipc", ".feather"):
            yield str(pl.read_ipc(file).to_dicts()).encode()


def planted(texts: Iterator[bytes] | list[bytes], what: re.Pattern[bytes] = PLANTED) -> set[bytes]:
    return {found for text in texts for found in what.findall(text)}


@pytest.mark.first_case
@pytest.mark.parametrize("form", ("parquet", *FORMATS))
def test_what_is_converted(capture: Path, tmp_path: Path, form: str) -> None:
    hidden, shown = tmp_path / f"hidden.{form}", tmp_path / f"shown.{form}"
    assert call("convert", capture, "-f", form, "-o", hidden).status == 0
    assert planted(contents(hidden)) == set()
    assert call("convert", capture, "-f", form, "-o", shown, "--show-secrets").status == 0
    if form in ("arrow", "parquet", "rocpd", "json"):  # the others do not keep command lines
        assert b"PLANTED_1" in planted(contents(shown))


def test_what_is_merged_and_split(capture: Path, tmp_path: Path) -> None:
    assert call("merge", capture, "-o", tmp_path / "merged.db").status == 0
    assert call("split", capture, "-o", tmp_path / "split").status == 0
    assert planted(contents(tmp_path / "merged.db")) == planted(contents(tmp_path / "split")) == set()
    assert call("merge", capture, "-o", tmp_path / "all.db", "--show-secrets").status == 0
    assert planted(contents(tmp_path / "all.db")) >= {b"PLANTED_1", b"PLANTED_5", b"PLANTED_6"}


@pytest.mark.first_case
@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_what_is_printed(capture: Path, words: tuple[str, ...]) -> None:
    for form in ((), ("--json",), ("--brief",)):
        done = call(words[0], capture, *words[1:], *form)
        assert done.status in (0, 1), done.stderr
        assert planted([done.stdout.encode(), done.stderr.encode()]) == set()


def test_what_agents_get(capture: Path) -> None:
    dispatcher = Dispatcher.over([capture])
    for tool, more in (("open_capture", {}), ("query", {"sql": "SELECT * FROM processes"})):
        name = "path" if tool == "open_capture" else "capture"
        answer = dispatcher.answered(tool, {name: "rank0_results.db", **more}, lambda _: None)
        assert not answer["isError"]
        assert planted([str(answer).encode()]) == set()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "html", "md", "xlsx", "ipynb"])
def test_what_is_reported(capture: Path, tmp_path: Path, form: str) -> None:
    plain, anonymous = tmp_path / f"plain.{form}", tmp_path / f"anonymous.{form}"
    assert call("report", capture, "-o", plain).status == 0
    assert call("report", capture, "-o", anonymous, "--anonymous").status == 0
    assert planted(contents(plain)) == set()
    assert planted(contents(anonymous), HIDDEN) == set()
