"""Real databases merged, converted and converted back: every row and every value is still there."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.run_equality import differences
from tests.kit.sampling import every_third
from wavewright.export.run.rocpd import write_rocpd
from wavewright.export.run.rocpd.merge import merge_runs
from wavewright.export.run.rocpd.sql_schema import VIEWS
from wavewright.export.run.tables import write_arrow, write_run_parquet
from wavewright.readers.run.inputs import find_runs, open_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.export.kit.writer_result import Written

PAIR = ("att-mi300x-bmm/c08/raw/45_results.db", "att-mi300x-bmm/c09/raw/37_results.db")
ROCPD = ("c01/raw/28", "c02/raw/21", "c03/raw/15", "c08/raw/45", "c09/raw/37", "c10/raw/163")
RPD = ("rpd/matmul_result.rpd", "rpd/mytrace.rpd.gz")


@pytest.fixture(scope="module")
def pair(shared: Path) -> list[Path]:
    return [shared / "data" / name for name in PAIR]


@pytest.fixture(scope="module")
def merged(pair: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return merge_runs(find_runs(pair), tmp_path_factory.mktemp("merged") / "merged.db").path


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.slow
def test_merged_is_the_sum_of_both(pair: list[Path], merged: Path) -> None:
    durations = "SELECT name, COUNT(*), SUM(duration) FROM kernels GROUP BY name"
    calls: Counter[object] = Counter()
    times: Counter[object] = Counter()
    for path in pair:
        for name, count, total in rows(path, durations):
            calls[name] += count  # type: ignore[assignment]
            times[name] += total  # type: ignore[assignment]
    assert {name: (count, total) for name, count, total in rows(merged, durations)} == {
        name: (calls[name], times[name]) for name in calls
    }
    assert sum(calls.values()) == 602
    assert sum(times.values()) == 3_797_011 + 4_122_560
    assert rows(merged, "SELECT COUNT(*) FROM regions") == [(1248,)]
    assert rows(merged, "PRAGMA foreign_key_check") == []
    assert differences(open_run(*pair), open_run(merged)) == []


def test_the_views_of_the_origin_work_on_the_merged_file(pair: list[Path], merged: Path) -> None:
    """The statements come from the recorded file, where AMD's tool put them."""
    stored = dict(rows(pair[0], "SELECT name, sql FROM sqlite_master WHERE type = 'view'"))
    with sqlite3.connect(f"{merged.as_uri()}?mode=ro", uri=True) as connection:
        for name in VIEWS.keys() & stored.keys():
            ours = connection.execute(f"SELECT * FROM main.{name}")  # noqa: S608 - our own names
            columns, expected = [column[0].lower() for column in ours.description], ours.fetchall()
            connection.execute(str(stored[name]).replace("CREATE VIEW", "CREATE TEMP VIEW", 1))
            theirs = connection.execute(f"SELECT * FROM temp.{name}")  # noqa: S608
            assert [column[0].lower() for column in theirs.description] == columns
            assert sorted(theirs.fetchall(), key=repr) == sorted(expected, key=repr), name


CONVERTED = (
    "rpd/matmul_result.rpd",
    "rocprofv3-mi350x-flydsl/pa",
    "rocprofv3-doc-samples",
    "rocprofv3-json-mi350x/908_first8000_results.json.gz",
    "kineto-amd/gaunernst_bert-small-uncased__1016001.json.gz",
    "rocprofv1-mi300a-hiptrace/results.db",
)
OF_EVENTS = ("kernels", "memory_copies", "memory_allocations", "regions_and_samples", "top", "top_kernels", "busy")


@pytest.mark.first_case
@pytest.mark.parametrize("name", every_third(CONVERTED))
def test_the_views_of_amd_show_every_event_of_other_formats(
    name: str, pair: list[Path], shared: Path, tmp_path: Path
) -> None:
    """They leave out rows that do not say a thread, an agent or a region: the file says something for each."""
    run = open_run(shared / "data" / name)
    path = write_rocpd(run, tmp_path / "run.db").path
    stored = dict(rows(pair[0], "SELECT name, sql FROM sqlite_master WHERE type = 'view' AND name NOT LIKE 'rocpd_%'"))
    with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as connection:
        for statement in stored.values():
            connection.execute(str(statement).replace("CREATE VIEW", "CREATE TEMP VIEW", 1))
        for view in OF_EVENTS:
            ours, theirs = (connection.execute(f"SELECT * FROM {base}.{view}").fetchall() for base in ("main", "temp"))  # noqa: S608
            assert sorted(theirs, key=repr) == sorted(ours, key=repr), view
        for view, table in (
            ("kernels", "dispatches"),
            ("memory_copies", "copies"),
            ("memory_allocations", "allocations"),
        ):
            (count,) = connection.execute(f"SELECT COUNT(*) FROM temp.{view}").fetchone()  # noqa: S608
            assert count == run.table(table).height


def test_inputs_are_not_changed(pair: list[Path], tmp_path: Path) -> None:
    before = [(path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())) for path in pair]
    merge_runs(find_runs(pair), tmp_path / "merged.db")
    write_rocpd(open_run(*pair), tmp_path / "written.db")
    assert before == [(path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())) for path in pair]


def test_secrets_are_masked_unless_asked_for(pair: list[Path], tmp_path: Path) -> None:
    masked = open_run(merge_runs(find_runs(pair), tmp_path / "a.db").path, show_secrets=True)
    kept = merge_runs(find_runs(pair), tmp_path / "b.db", show_secrets=True).path
    assert set(masked.environment["value"]) == {"***"}
    assert open_run(kept, show_secrets=True).environment.equals(open_run(*pair, show_secrets=True).environment)


@pytest.mark.slow
@pytest.mark.parametrize("write", [write_run_parquet, write_arrow], ids=["parquet", "arrow"])
@pytest.mark.parametrize("name", every_third(ROCPD))
def test_rocpd_through_tables_and_back(shared: Path, tmp_path: Path, name: str, write: Callable[..., Written]) -> None:
    origin = open_run(shared / "data" / "att-mi300x-bmm" / f"{name}_results.db")
    tables = open_run(write(origin, tmp_path / "tables").path)
    assert differences(origin, tables) == []
    back = write_rocpd(tables, tmp_path / "back.db")
    assert differences(origin, open_run(back.path)) == []
    assert back.losses == []
    assert rows(back.path, "PRAGMA foreign_key_check") == []


@pytest.mark.first_case
@pytest.mark.parametrize("name", RPD)
def test_rpd_through_tables(shared: Path, tmp_path: Path, name: str) -> None:
    origin = open_run(shared / "data" / name)
    tables = open_run(write_run_parquet(origin, tmp_path / "tables").path)
    assert differences(origin, tables) == []
    assert all(tables.table(extra).equals(origin.table(extra)) for extra in origin.extra_names)


def test_rpd_as_rocpd(shared: Path, tmp_path: Path) -> None:
    origin = open_run(shared / "data" / RPD[1])
    written = write_rocpd(origin, tmp_path / "run.db")
    assert rows(written.path, "PRAGMA foreign_key_check") == []
    assert rows(written.path, "SELECT COUNT(*), SUM(duration) FROM kernels") == [
        (origin.dispatches.height, origin.dispatches.select((pl.col("end_ns") - pl.col("start_ns")).sum()).item())
    ]
    assert rows(written.path, "SELECT GpuTime, WallTime FROM busy WHERE type = 'GPU' LIMIT 1")[0][1] == 452967953
    assert {loss.detail for loss in written.losses} >= {"monitors", "ext_callstack"}
