"""Our views against the views that real databases carry, row by row, on both engines."""

from __future__ import annotations

import gzip
import math
import sqlite3
import statistics
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from synth import Workload, write_rocpd
from tests.kit.sampling import every_third, every_third_pair
from wavewright.analysis.run.contents.views import VIEWS
from wavewright.analysis.run.query import query
from wavewright.readers.run.inputs import open_run

REAL = ("c01/raw/28", "c02/raw/21", "c03/raw/15", "c08/raw/45", "c09/raw/37", "c10/raw/163")
SYNTHETIC = {
    "3": Workload(dispatches=250),
    "3.0.2": Workload(dispatches=200, graphs=True, threads=3),
    "3.0.3": Workload(dispatches=300, ranks=3, gpus=4, same_pids=True),
}
WRONG_WITH_EQUAL_PIDS = {"threads", "memory_allocations", "scratch_memory"}
"""AMD's views that join processes or threads without their guid; see docs/explanation/differences.md."""


def theirs(database: Path, view: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        cursor = connection.execute(f"SELECT * FROM {view}")  # noqa: S608 - ours
        return [column[0].lower() for column in cursor.description], ordered(cursor.fetchall())


def carried(database: Path) -> set[str]:
    """The views of a database; RPD's names are no views of ROCpd, and releases before 7.1 have no summaries."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")}


def ordered(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: [(value is not None, type(value) is str, value or 0) for value in row])


def same(ours: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> bool:
    return len(ours) == len(other) and all(
        a == b or (isinstance(a, float) and math.isclose(a, b, rel_tol=1e-12))
        for one, two in zip(ours, other, strict=True)
        for a, b in zip(one, two, strict=True)
    )


def check(database: Path, engine: str, leave_out: frozenset[str] = frozenset()) -> None:
    run = open_run(database)
    for view in VIEWS.keys() & carried(database) - leave_out:
        names, rows = theirs(database, view)
        found = query(run, f"SELECT * FROM {view}", engine=engine)  # noqa: S608 - ours
        assert [name.lower() for name in found.columns][: len(names)] == names, view
        assert same(ordered(found.select(found.columns[: len(names)]).rows()), rows), view


@pytest.mark.slow
@pytest.mark.first_case
@pytest.mark.parametrize("name", every_third(REAL))
def test_real_databases_with_sqlite(name: str, shared: Path) -> None:
    check(shared / f"data/att-mi300x-bmm/{name}_results.db", "sqlite")


@pytest.mark.slow
@pytest.mark.parametrize("name", every_third(REAL[:2]))
def test_real_databases_with_duckdb(name: str, shared: Path) -> None:
    pytest.importorskip("duckdb")
    check(shared / f"data/att-mi300x-bmm/{name}_results.db", "duckdb")


@pytest.mark.slow
@pytest.mark.first_case
@pytest.mark.parametrize(("schema", "engine"), every_third_pair(SYNTHETIC, ("duckdb", "sqlite")))
def test_synthetic_databases_with_the_views_of_a_real_one(
    schema: str, engine: str, shared: Path, tmp_path: Path
) -> None:
    pytest.importorskip(engine.replace("sqlite", "sqlite3"))
    path = tmp_path / "run.db"
    write_rocpd(path, SYNTHETIC[schema], schema=schema)
    add_views(path, shared)
    check(path, engine, frozenset(WRONG_WITH_EQUAL_PIDS if SYNTHETIC[schema].same_pids else ()))


@pytest.mark.slow
@pytest.mark.first_case
@pytest.mark.parametrize("options", [["--schema", "3.0.3"], ["--ranks", "2", "--one-file", "--same-pid"]])
def test_databases_of_the_independent_generator(options: list[str], shared: Path, tmp_path: Path) -> None:
    script = shared / "tools/gen_rocpd.py"
    subprocess.run(
        [sys.executable, script, "-o", tmp_path, "--dispatches", "400", "--args", "0.2", *options],
        check=True,
        capture_output=True,
    )
    (path,) = tmp_path.glob("*.db")
    add_views(path, shared)
    check(path, "sqlite", frozenset(WRONG_WITH_EQUAL_PIDS if "--same-pid" in options else ()))


def add_views(path: Path, shared: Path) -> None:
    """Give a database the views of a real one."""
    real = (shared / "data/att-mi300x-bmm/c01/raw/28_results.db").resolve()
    of_data = "SELECT name, sql FROM sqlite_master WHERE type = 'view' AND name NOT LIKE 'rocpd_%'"
    with closing(sqlite3.connect(f"{real.as_uri()}?mode=ro", uri=True)) as connection:
        views = connection.execute(of_data).fetchall()
    with closing(sqlite3.connect(path)) as database:
        for name, statement in views:
            database.execute(f"DROP VIEW IF EXISTS {name}")
            database.execute(statement)
        database.commit()


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_summaries_of_a_real_database(engine: str, shared: Path) -> None:
    """What the summaries of newer releases say, computed from the views that this database carries."""
    pytest.importorskip(engine.replace("sqlite", "sqlite3"))
    database = shared / f"data/att-mi300x-bmm/{REAL[2]}_results.db"
    run = open_run(database)
    for view, base, column in (("kernel_summary", "kernels", "name"), ("kernel_summary_region", "kernels", "region")):
        names, rows = theirs(database, base)
        lengths: dict[str, list[int]] = {}
        for row in rows:
            lengths.setdefault(row[names.index(column)] or "", []).append(row[names.index("duration")])
        total = sum(map(sum, lengths.values()))
        expected = [
            (
                name,
                len(values),
                sum(values),
                float(sum(value * value for value in values)),
                statistics.fmean(values),
                sum(values) * 100 / total,
                min(values),
                max(values),
                statistics.variance(values),
                statistics.stdev(values),
            )
            for name, values in lengths.items()
        ]
        found = query(run, f"SELECT * FROM {view}", engine=engine)  # noqa: S608 - ours
        assert found.columns == VIEWS[view].names
        assert same(ordered(found.rows()), ordered(expected)), view


RPD_COLUMNS = {
    "api": "id pid tid start end apiName args",
    "op": "gpuId queueId sequenceId start end description opType",
    "kernel": "id gpuId queueId start end duration stream workgroupX workgroupY workgroupZ kernelName",
    "copy": "id pid tid start end apiName stream size kind dst src dstDevice srcDevice sync pinned",
    "copyop": "gpuId queueId start end duration stream size kind dst src dstDevice srcDevice sync pinned apiName",
    "ktop": "Name TotalCalls TotalDuration Ave Percentage",
}
"""Columns that equal those of RPD's own views: not ids of copies, nor grids, which are always lanes here."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "engine"), every_third_pair(("matmul_result.rpd", "mytrace.rpd.gz"), ("duckdb", "sqlite"))
)
def test_views_of_rpd(name: str, engine: str, shared: Path, tmp_path: Path) -> None:
    pytest.importorskip(engine.replace("sqlite", "sqlite3"))
    stored = (shared / "data/rpd" / name).read_bytes()
    database = tmp_path / "trace.rpd"
    database.write_bytes(gzip.decompress(stored) if name.endswith(".gz") else stored)
    run = open_run(database)
    for view, columns in RPD_COLUMNS.items():
        listed = ", ".join(f'"{column}"' for column in columns.split())
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute(f"SELECT {listed} FROM {view}").fetchall()  # noqa: S608 - ours
        found = query(run, f"SELECT {listed} FROM stable_{view}", engine=engine)  # noqa: S608 - ours
        assert same(ordered(found.rows()), ordered(rows)), view
    first = query(run, "SELECT * FROM stable_ktop", engine=engine).row(0)
    assert first[1:3] == ((1, 9410) if name.startswith("matmul") else (192, 1034))
    assert first[4] == pytest.approx(14.442580 if name.startswith("matmul") else 15.776405, abs=1e-6)


def test_equal_pids_do_not_multiply_threads_and_allocations(tmp_path: Path) -> None:
    write_rocpd(tmp_path / "run.db", SYNTHETIC["3.0.3"])
    run = open_run(tmp_path / "run.db")
    for view, table in (("threads", "threads"), ("memory_allocations", "allocations")):
        found = query(run, f"SELECT COUNT(*) FROM {view}", engine="sqlite")  # noqa: S608 - ours
        assert found.item() == run.table(table).height


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_views_of_other_formats(engine: str, shared: Path) -> None:
    pytest.importorskip(engine.replace("sqlite", "sqlite3"))
    run = open_run(shared / "data/rpd/matmul_result.rpd")
    busy = query(run, "SELECT GpuTime, WallTime, Busy FROM stable_busy", engine=engine)
    assert busy.row(0) == (183_918_056, 2_964_070_817, 183_918_056 / 2_964_070_817)
    copies = query(run, "SELECT COUNT(*), SUM(duration) FROM memory_copies", engine=engine)
    assert copies.row(0)[0] == 55
