"""Promises that no public capture shows: made from those that are, or by hand, and looked at by the same verbs."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from synth import Workload, write_rocpd
from tests.cli.in_process import call
from tests.kit.opened import open_run
from wavewright.readers.trace.sources import read_sources


@pytest.fixture(scope="module")
def large(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tutorial's second run: the first one, with its copies to the GPU and its product as long as stated there."""
    path = tmp_path_factory.mktemp("rpd") / "large.rpd"
    shutil.copyfile(shared / "data/rpd/matmul_result.rpd", path)
    with closing(sqlite3.connect(path)) as database, database:
        names = dict(database.execute("SELECT string, id FROM rocpd_string"))
        product = next(number for name, number in names.items() if name.startswith("Cijk_"))
        later = 0
        rows = database.execute(
            "SELECT id, start, end, opType_id, description_id FROM rocpd_op ORDER BY start"
        ).fetchall()
        for number, start, end, kind, what in rows:
            length = end - start
            if kind == names["CopyHostToDevice"]:
                length = length * 1_577_218 // 157_178
            elif what == product:
                length = 532_802_000
            database.execute(
                "UPDATE rocpd_op SET start = ?, end = ? WHERE id = ?", (start + later, start + later + length, number)
            )
            later += length - (end - start)
    return path


def test_copies_of_the_large_run_are_named(large: Path) -> None:
    [(name, share)] = open_run(large).sql("SELECT Name, Percentage FROM top LIMIT 1").rows()
    assert (name, round(share, 1)) == ("CopyHostToDevice", 74.7)
    done = call("diagnose", large)
    assert done.status == 0
    assert "copies are 74.7 % of the work of the GPU" in " ".join(done.stdout.split())


def test_shares_of_the_small_and_the_large_run_are_compared(shared: Path, large: Path) -> None:
    done = call("compare", shared / "data/rpd/matmul_result.rpd", large)
    assert "of the GPU time kernels 14.4 % -> 25.3 %, copies 85.6 % -> 74.7 %" in " ".join(done.stdout.split())


def test_names_of_threads_queues_and_streams(tmp_path: Path) -> None:
    """As roctxNameOsThread, roctxNameHsaAgent and their like leave them in ROCpd."""
    path = tmp_path / "named.db"
    write_rocpd(path, Workload(dispatches=20))
    with closing(sqlite3.connect(path)) as database, database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for kind in ("thread", "queue", "stream"):
            table = next(name for name in tables if name.startswith(f"rocpd_info_{kind}_"))
            database.execute(f'UPDATE "{table}" SET name = ?', (f"my {kind}",))  # noqa: S608
    for kind in ("thread", "queue", "stream"):
        done = call("query", path, f"SELECT DISTINCT name FROM run.{kind}s", "--json")  # noqa: S608
        assert json.loads(done.stdout)["rows"] == [{"name": f"my {kind}"}], done.stderr


def test_a_snapshots_file_names_the_sources(tmp_path: Path) -> None:
    code = pl.DataFrame({"inline_chain": ["/build/a.py:4 -> /build/b.py:9"]})
    (tmp_path / "snapshots.json").write_text(json.dumps({"/": {"build": {"a.py": "source_0_a.py", "b.py": "../../b"}}}))
    (tmp_path / "source_0_a.py").write_text("first\n")
    (tmp_path / "b.py").write_text("by its end\n")
    assert read_sources(code, tmp_path)["text"].to_list() == ["first\n", "by its end\n"]
    (tmp_path / "snapshots.json").write_text("[" * 100_000)
    assert read_sources(code, tmp_path)["text"].to_list() == [None, "by its end\n"]
