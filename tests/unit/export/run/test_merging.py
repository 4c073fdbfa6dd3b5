"""Merging and splitting: the sum of the parts is the whole, whatever the versions and formats."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import polars as pl
import pytest

from synth.rocpd import write_rocpd as synthesize_rocpd
from synth.rocpd import write_rocpd_ranks
from synth.rpd import write_rpd as synthesize_rpd
from synth.workload import Workload
from tests.kit.run_equality import differences
from wavewright import UsageError
from wavewright.analysis.run.select.run_parts import parts_of
from wavewright.export.run.rocpd import write_parts, write_rocpd
from wavewright.export.run.rocpd.merge import merge_runs
from wavewright.export.run.rocpd.sql_schema import VIEWS
from wavewright.export.run.tables import write_run_parquet
from wavewright.readers.run.inputs import find_runs, open_run

SMALL = Workload(dispatches=120, ranks=2, nodes=2, same_pids=True, hostile_names=True, argument_share=0.5)
VERSIONS = ("3", "3.0.1", "3.0.2", "3.0.3")


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute(sql).fetchall()


def merge(*paths: Path, out: Path, **options: bool) -> Path:
    return merge_runs(find_runs(paths), out, **options).path


@pytest.mark.slow
def test_more_files_than_sqlite_can_attach(tmp_path: Path) -> None:
    ranks = tmp_path / "ranks"
    write_rocpd_ranks(ranks, Workload(dispatches=240, ranks=12))
    merged = merge(ranks, out=tmp_path / "merged.db")
    assert differences(open_run(ranks), open_run(merged)) == []
    assert query(merged, "SELECT COUNT(*) FROM processes") == [(12,)]
    assert query(merged, "PRAGMA foreign_key_check") == []


@pytest.mark.slow
def test_versions_side_by_side(tmp_path: Path) -> None:
    paths = []
    for number, version in enumerate(VERSIONS):
        paths.append(tmp_path / f"v{version}.db")
        synthesize_rocpd(paths[-1], Workload(dispatches=60, seed=number, graphs=True), schema=version)
    merged = merge(*paths, out=tmp_path / "merged.db")
    assert differences(open_run(*paths), open_run(merged)) == []
    assert query(merged, "PRAGMA foreign_key_check") == []
    for view in VIEWS:
        query(merged, f"SELECT * FROM {view}")  # noqa: S608 - our own names
    launches = sum(open_run(path).table("rocpd_graph_launch").height for path in paths[2:])
    assert query(merged, "SELECT COUNT(*) FROM rocpd_graph_launch") == [(launches,)]
    assert launches > 0


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_through_tables_and_back(tmp_path: Path, version: str) -> None:
    synthesize_rocpd(tmp_path / "origin.db", SMALL, schema=version)
    origin = open_run(tmp_path / "origin.db")
    tables = open_run(write_run_parquet(origin, tmp_path / "tables").path)
    assert differences(origin, tables) == []
    back = write_rocpd(tables, tmp_path / "back.db")
    assert differences(origin, open_run(back.path)) == []
    assert query(back.path, "PRAGMA foreign_key_check") == []


def test_formats_side_by_side(tmp_path: Path) -> None:
    synthesize_rocpd(tmp_path / "a.db", Workload(dispatches=50))
    synthesize_rpd(tmp_path / "b.rpd", Workload(dispatches=50, seed=1))
    write_run_parquet(open_run(tmp_path / "a.db"), tmp_path / "tables")
    written = merge_runs(find_runs([tmp_path]), tmp_path / "merged.db")
    back = open_run(written.path)
    assert back.dispatches.height == sum(open_run(tmp_path / name).dispatches.height for name in ("a.db", "b.rpd"))
    assert [loss.kind for loss in written.losses].count("duplicate_run") == 1  # the tables are of a.db
    assert query(written.path, "PRAGMA foreign_key_check") == []


def test_the_same_run_in_two_files_counts_once(tmp_path: Path) -> None:
    for name in ("a.db", "b.db"):
        synthesize_rocpd(tmp_path / name, Workload(dispatches=30))
    written = merge_runs(find_runs([tmp_path]), tmp_path / "merged.db")
    assert written.counts["dispatches"] == 30
    assert [loss.kind for loss in written.losses] == ["duplicate_run"]


def test_merging_what_was_merged(tmp_path: Path) -> None:
    write_rocpd_ranks(tmp_path / "ranks", Workload(dispatches=90, ranks=3))
    once = merge(tmp_path / "ranks", out=tmp_path / "once.db")
    twice = merge(once, out=tmp_path / "twice.db")
    assert differences(open_run(once), open_run(twice)) == []


def test_tables_that_are_not_known_are_copied(tmp_path: Path) -> None:
    for number, columns in enumerate(("id, guid, exec", "id, guid, exec", "id, guid, exec, more")):
        path = tmp_path / f"{number}.db"
        synthesize_rocpd(path, Workload(dispatches=10, seed=number))
        guid = open_run(path).processes["guid"][0]
        with sqlite3.connect(path) as connection:
            table = f"rocpd_gpu_pc_sample_{guid.replace('-', '_')}"
            connection.execute(f"CREATE TABLE {table} ({columns})")
            connection.execute(f"INSERT INTO {table} (id, guid, exec) VALUES (1, '{guid}', x'00ff')")  # noqa: S608
    merged = merge(tmp_path, out=tmp_path / "merged.db")
    assert query(merged, "SELECT exec FROM rocpd_gpu_pc_sample") == [(b"\x00\xff",)] * 2
    tables = query(merged, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_gpu_pc_%'")
    assert tables == [(3,)]


def test_rows_that_break_the_rules_are_read_instead_of_copied(tmp_path: Path) -> None:
    path = tmp_path / "broken.db"
    synthesize_rocpd(path, Workload(dispatches=30))
    with sqlite3.connect(path) as connection:
        ((table,),) = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_memory_allocate_%'")
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute(f"UPDATE {table} SET type = 'STOLEN'")  # noqa: S608
    merged = merge(path, out=tmp_path / "merged.db")
    assert open_run(merged).dispatches.equals(
        open_run(path).dispatches.with_columns(pl.col("graph_exec", "graph_node").fill_null(0))
    )
    assert query(merged, "PRAGMA foreign_key_check") == []


def test_a_damaged_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    synthesize_rocpd(path, Workload(dispatches=3000))
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 20 * 4096] = bytes(20 * 4096)
    path.write_bytes(content)
    written = merge_runs(find_runs([path]), tmp_path / "merged.db")
    assert any(loss.kind == "unreadable_rows" for loss in written.losses)
    assert query(written.path, "PRAGMA integrity_check") == [("ok",)]
    assert query(written.path, "PRAGMA foreign_key_check") == []


@pytest.mark.first_case
@pytest.mark.parametrize("by", ["process", "rank"])
def test_parts_make_the_whole(tmp_path: Path, by: str) -> None:
    synthesize_rocpd(tmp_path / "whole.db", SMALL)
    whole = open_run(tmp_path / "whole.db")
    parts = parts_of(whole, by)  # type: ignore[arg-type]
    written = write_parts({tmp_path / "parts" / f"{part.name}.db": part.run for part in parts})
    assert len(written) == 2
    merged = merge(*(each.path for each in written), out=tmp_path / "merged.db")
    assert differences(whole, open_run(merged)) == []


def test_parts_by_gpu(tmp_path: Path) -> None:
    synthesize_rocpd(tmp_path / "whole.db", Workload(dispatches=200, gpus=2))
    whole = open_run(tmp_path / "whole.db")
    parts = parts_of(whole, "gpu")
    assert sum(part.run.dispatches.height for part in parts) == whole.dispatches.height
    assert all(part.run.dispatches["agent"].n_unique() == 1 for part in parts)
    assert all(part.run.regions.height == whole.regions.height for part in parts)


def test_parts_by_marker(tmp_path: Path) -> None:
    synthesize_rocpd(tmp_path / "whole.db", Workload(dispatches=400, ranks=2, nodes=2, clock_offset_ns=10**12))
    whole = open_run(tmp_path / "whole.db")
    ranges = whole.regions.filter(
        pl.col("name").cast(pl.String).str.contains("iteration"), pl.col("domain") == "MARKER"
    )
    parts = parts_of(whole, "marker", "iteration")
    assert len(parts) == ranges.group_by("process").len()["len"].max()
    for number, part in enumerate(parts):
        assert part.run.losses.height == 0
        for process in range(2):
            own = ranges.filter(pl.col("process") == process).sort("start_ns", "end_ns").row(number, named=True)
            kernels = whole.dispatches.filter(
                pl.col("process") == process, pl.col("start_ns") <= own["end_ns"], pl.col("end_ns") >= own["start_ns"]
            )
            found = part.run.dispatches.filter(pl.col("start_ns").is_in(kernels["start_ns"].implode()))
            assert found.height == kernels.height > 0


@pytest.mark.parametrize(
    ("by", "marker", "words"),
    [("marker", None, "--marker"), ("marker", "nowhere", "no marker"), ("rank", None, "--by process")],
)
def test_what_cannot_be_split(tmp_path: Path, by: str, marker: str | None, words: str) -> None:
    synthesize_rpd(tmp_path / "trace.rpd", Workload(dispatches=30))
    with pytest.raises(UsageError) as caught:
        parts_of(open_run(tmp_path / "trace.rpd"), by, marker)  # type: ignore[arg-type]
    assert words in str(caught.value)
