"""Synthetic runs: reproducible, foreign keys hold, and the truth is what the rows say."""

# ruff: noqa: S608 - the SQL is made of our own texts

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from synth import RankTruth, Sums, Workload, write_rocpd, write_rocpd_ranks, write_rpd
from synth.rocpd_schema import VERSIONS
from synth.rpd import COPY_OPERATIONS
from synth.workload import HOSTILE, TARGETS
from tests.kit.together import together
from wavewright.errors import UsageError

SMALL = Workload(dispatches=600, ranks=3, nodes=2, gpus=4, threads=2, streams=4, graphs=True)


def rows(path: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute(sql).fetchall()


def by_name(path: Path, sql: str) -> dict[str, Sums]:
    return {name: Sums(*sums) for name, *sums in rows(path, sql)}


STATISTICS = 'count(*), sum("end" - start), min("end" - start), max("end" - start)'


@pytest.mark.parametrize("schema", VERSIONS)
def test_rocpd_rows_are_the_truth(tmp_path: Path, schema: str) -> None:
    run = write_rocpd(tmp_path / "run.db", SMALL, schema=schema)
    path, truth = run.paths[0], run.total
    assert rows(path, "PRAGMA foreign_key_check") == []
    on = "d.{0}_id = s.id AND d.guid = s.guid"
    dispatches = f"""SELECT s.display_name, {STATISTICS} FROM rocpd_kernel_dispatch d
        JOIN rocpd_info_kernel_symbol s ON {on.format("kernel")} GROUP BY 1"""
    assert by_name(path, dispatches) == truth.kernels
    copies = f"""SELECT s.string, {STATISTICS} FROM rocpd_memory_copy d
        JOIN rocpd_string s ON {on.format("name")} GROUP BY 1"""
    assert by_name(path, copies) == truth.copies
    assert rows(path, "SELECT sum(size) FROM rocpd_memory_copy") == [(sum(truth.copied_bytes.values()),)]
    marks = f"""SELECT json_extract(e.extdata, '$.message'), {STATISTICS} FROM rocpd_region d
        JOIN rocpd_event e ON e.id = d.event_id AND e.guid = d.guid WHERE e.extdata <> '{{}}' GROUP BY 1"""
    assert by_name(path, marks) == {name: sums for (domain, name), sums in truth.regions.items() if domain == "MARKER"}
    tables = {"kernel_dispatch": "dispatches", "region": "regions", "sample": "samples", "arg": "arguments",
              "pmc_event": "counters", "memory_allocate": "allocations", "info_agent": "agents"}  # fmt: skip
    for table, name in tables.items():
        assert rows(path, f"SELECT count(*) FROM rocpd_{table}") == [(truth.counts[name],)], table
    assert rows(path, "SELECT sum(value) FROM rocpd_pmc_event") == [(sum(truth.counters.values()),)]
    if schema >= "3.0.2":
        graph = rows(path, "SELECT sum(kernel_dispatch_count) FROM rocpd_graph_launch")
        assert graph == rows(path, "SELECT count(*) FROM rocpd_kernel_dispatch WHERE graph_exec_id > 0")
        assert graph[0][0] > 0


def test_every_level_of_the_tree_lies_inside_its_parent(tmp_path: Path) -> None:
    run = write_rocpd(tmp_path / "run.db", SMALL)
    outside = """SELECT count(*) FROM rocpd_region c JOIN rocpd_event ce ON ce.id = c.event_id AND ce.guid = c.guid
        JOIN rocpd_event pe ON pe.stack_id = ce.parent_stack_id AND pe.guid = ce.guid
        JOIN rocpd_region p ON p.event_id = pe.id AND p.guid = pe.guid
        WHERE c.start < p.start OR c."end" > p."end" OR c.tid <> p.tid"""
    assert rows(run.paths[0], outside) == [(0,)]
    tree = run.total.tree
    assert all(path[:-1] in tree for path in tree if len(path) > 1)
    assert sum(sums.calls for sums in tree.values()) == run.total.counts["regions"]


@pytest.mark.parametrize("schema", [2, 3])
def test_rpd_rows_are_the_truth(tmp_path: Path, schema: int) -> None:
    run = write_rpd(tmp_path / "run.rpd", SMALL, schema=schema)
    path, truth = run.paths[0], run.total
    assert rows(path, "PRAGMA foreign_key_check") == []
    ops = f"""SELECT coalesce(nullif(d.string, ''), t.string), {STATISTICS} FROM rocpd_op o
        JOIN rocpd_string d ON d.id = o.description_id JOIN rocpd_string t ON t.id = o.opType_id GROUP BY 1"""
    copies = {COPY_OPERATIONS[name]: sums for name, sums in truth.copies.items()}
    assert by_name(path, ops) == truth.kernels | copies
    instants = rows(path, 'SELECT count(*) FILTER (WHERE start = "end"), count(*) FROM rocpd_api')
    assert instants == [(truth.counts["samples"], truth.counts["samples"] + truth.counts["regions"])]
    assert not any("HSA" in key for key in truth.regions)
    launched = rows(path, "SELECT count(*) FROM rocpd_api_ops a JOIN rocpd_api p ON p.id = a.api_id")
    assert launched == [(truth.counts["dispatches"] + truth.counts["copies"],)]
    if schema == 3:
        assert rows(path, "SELECT count(*) FROM rocpd_stackframe") == [(truth.counts["frames"],)]
        assert rows(path, "SELECT sum(value) FROM rocpd_counter") == [(sum(truth.counters.values()),)]


def test_equal_workloads_give_equal_files(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.db" for number in range(3)]
    for path, seed in zip(files, (1, 1, 2), strict=True):
        write_rocpd(path, Workload(dispatches=100, seed=seed))
    first, second, other = (path.read_bytes() for path in files)
    assert first == second
    assert first != other


def test_one_file_per_rank_holds_the_same_rows_as_one_file(tmp_path: Path) -> None:
    together = write_rocpd(tmp_path / "all.db", SMALL)
    apart = write_rocpd_ranks(tmp_path / "ranks", SMALL)
    assert len(apart.paths) == SMALL.ranks
    assert together.ranks == apart.ranks
    sql = "SELECT guid, start, end, kernel_id FROM rocpd_kernel_dispatch ORDER BY 1, 2, 3"
    assert rows(together.paths[0], sql) == sorted(row for path in apart.paths for row in rows(path, sql))


def test_early_ranks_wait_in_the_collective(tmp_path: Path) -> None:
    run = write_rocpd(tmp_path / "run.db", Workload(dispatches=2000, ranks=4, imbalance=1.0))
    waits = [rank.collective_wait_ns for rank in run.ranks]
    assert min(waits[:3]) > waits[3] >= 0
    work = [sum(s.total_ns for name, s in rank.kernels.items() if not name.startswith("nccl")) for rank in run.ranks]
    assert 1.7 < work[3] / work[0] < 2.3


def test_clocks_of_nodes_differ_by_the_offset(tmp_path: Path) -> None:
    hour = 3_600_000_000_000
    run = write_rocpd(tmp_path / "run.db", Workload(dispatches=300, ranks=2, nodes=2, clock_offset_ns=hour))
    first, second = (rank.start_ns or 0 for rank in run.ranks)
    assert abs(second - first - hour) < 10_000_000
    ends = [
        {end for (end,) in rows(run.paths[0], f"SELECT end FROM rocpd_kernel_dispatch WHERE guid = '{guid}'")}
        for (guid,) in rows(run.paths[0], "SELECT guid FROM rocpd_info_process ORDER BY pid")
    ]
    assert {end + hour for end in ends[0]} & ends[1], "a collective ends at the same moment on both nodes"


def test_slow_kernels_are_slower(tmp_path: Path) -> None:
    plain = write_rocpd(tmp_path / "a.db", Workload(dispatches=2000)).total.kernels
    slow = write_rocpd(tmp_path / "b.db", Workload(dispatches=2000, slow=(("rms_norm", 1.5),))).total.kernels
    ratio = {name: slow[name].total_ns / plain[name].total_ns for name in plain}
    assert {name for name, change in ratio.items() if change > 1.2} == {n for n in plain if "rms_norm" in n}


def test_same_pids_and_hostile_names(tmp_path: Path) -> None:
    run = write_rocpd(tmp_path / "run.db", Workload(dispatches=900, ranks=3, same_pids=True, hostile_names=True))
    assert rows(run.paths[0], "SELECT count(DISTINCT pid), count(*) FROM rocpd_info_process") == [(1, 3)]
    assert set(HOSTILE) <= set(run.total.kernels)
    stored = {name for (name,) in rows(run.paths[0], "SELECT display_name FROM rocpd_info_kernel_symbol")}
    assert set(HOSTILE) <= stored
    write_rpd(tmp_path / "run.rpd", Workload(dispatches=90, hostile_names=True), schema=2)


@pytest.mark.parametrize("target", TARGETS)
def test_agents_and_environment_are_described(tmp_path: Path, target: str) -> None:
    path = write_rocpd(tmp_path / "run.db", Workload(dispatches=30, ranks=2, gpus=3, target=target)).paths[0]
    found = rows(path, "SELECT type, name, extdata FROM rocpd_info_agent WHERE type = 'GPU'")
    assert [name for _, name, _ in found] == [target] * 6
    properties = json.loads(found[0][2])
    assert properties["simd_count"] == properties["cu_count"] * properties["simd_per_cu"]
    environments = [json.loads(text) for (text,) in rows(path, "SELECT environment FROM rocpd_info_process")]
    assert [env["OMPI_COMM_WORLD_RANK"] for env in environments] == ["0", "1"]
    assert environments[0]["API_TOKEN"].startswith("secret")


@together(
    "wrong",
    [{"dispatches": 1, "ranks": 2}, {"nodes": 2}, {"streams": 1, "threads": 2}, {"target": "gfx8"}, {"counters": 9}],
)
def test_workloads_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Workload(**wrong)


def test_unknown_versions_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        write_rocpd(tmp_path / "run.db", SMALL, schema="4")
    with pytest.raises(UsageError):
        write_rpd(tmp_path / "run.rpd", SMALL, schema=1)
    assert list(tmp_path.iterdir()) == []


def test_the_truth_of_nothing() -> None:
    assert Sums(2, 8, 3, 5).join(Sums()) == Sums(2, 8, 3, 5)
    assert RankTruth().without("HSA").counts["regions"] == 0


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("schema", VERSIONS)
def test_an_independent_generator_has_the_same_tables(tmp_path: Path, shared: Path, schema: str) -> None:
    tool = shared / "tools" / "gen_rocpd.py"
    command = [sys.executable, str(tool), "-o", str(tmp_path), "--dispatches", "20", "--schema", schema]
    subprocess.run(command, check=True, capture_output=True)
    ours = write_rocpd(tmp_path / "ours.db", Workload(dispatches=20), schema=schema).paths[0]
    assert shape(ours) == shape(tmp_path / "rank0_results.db")


def shape(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Views, and the columns (name, type, not null) and foreign keys of tables without their suffix."""
    suffix = rows(path, "SELECT value FROM rocpd_metadata WHERE tag = 'uuid'")[0][0]
    found = {}
    for kind, name in rows(path, "SELECT type, name FROM sqlite_master WHERE name LIKE 'rocpd%'"):
        columns = rows(path, f"SELECT name, type, [notnull], pk FROM pragma_table_info('{name}')")
        links = rows(path, f"SELECT [from], [to], [table] FROM pragma_foreign_key_list('{name}') ORDER BY 1")
        links = [(mine, theirs, table.replace(suffix, "")) for mine, theirs, table in links]
        found[f"{kind} {name.replace(suffix, '')}"] = [*columns, *links]
    return found
