"""Outputs of rocprof (v1), made here: odd names, tables that repeat each other, damage."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from wavewright.errors import WavewrightError
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.run.inputs import find_runs, open_run

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMA = """
CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT, "gpu-id" INTEGER, "queue-id" INTEGER, "pid" INTEGER,
  "tid" INTEGER, "grd" INTEGER, "wgr" INTEGER, "lds" INTEGER, "scr" INTEGER, "arch_vgpr" INTEGER,
  "sgpr" INTEGER, "BeginNs" INTEGER, "EndNs" INTEGER);
CREATE TABLE OPS ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, "Name" TEXT, "pid" INTEGER,
  "tid" INTEGER, "roctx-range" TEXT, "stream-id" INTEGER, "Index" INTEGER);
CREATE TABLE COPY ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, "Name" TEXT, "pid" INTEGER,
  "tid" INTEGER, "roctx-range" TEXT, "stream-id" INTEGER, "Index" INTEGER);
CREATE TABLE HIP ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT, "args" TEXT,
  "Index" INTEGER);
CREATE TABLE rocTX ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT, "Index" INTEGER);
INSERT INTO OPS VALUES (100, 200, 4, 0, 'gemm', 7, 8, 'step 1', 2, 1), (300, 250, 4, 1, 'gemm', 7, 8, 'gemm', 2, 2);
INSERT INTO COPY VALUES (400, 500, 4, 0, 'CopyDeviceToHost', 7, 8, 'CopyDeviceToHost', 0, 3);
INSERT INTO HIP VALUES
  (50, 60, 7, 8, 'hipLaunchKernel', '( kernel(gemm(float*, int)) numBlocks({z(1) y(1) x(9}) stream(1))', 1),
  (390, 510, 7, 8, 'hipMemcpy', '( dst(0x1) src(0x2) sizeBytes(64) kind(2))', 3);
INSERT INTO rocTX VALUES (40, 600, 7, 8, 'step 1', 0);
"""
_HEADER = "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,sgpr,sig,obj"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "results.db"
    connection = sqlite3.connect(path)
    connection.executescript(_SCHEMA)
    connection.close()
    return path


def _event(name: str, pid: int, tid: int, begin: int, end: int) -> dict[str, Any]:
    """A range as rocprof writes it: numbers as texts, times of the axis in whole microseconds."""
    exact = {"BeginNs": str(begin), "EndNs": str(end), "pid": "7", "tid": "7", "Name": name}
    axis = {"ts": str(begin // 1000), "dur": str((end - begin) // 1000)}
    return {"ph": "X", "name": name, "pid": str(pid), "tid": str(tid), **axis, "args": exact}


def _flow(number: int, ph: str, time_us: int, pid: int, tid: int) -> dict[str, Any]:
    return {"ts": time_us, "ph": ph, "cat": "DataFlow", "id": number, "pid": pid, "tid": tid, "name": "dep"}


def test_flows_of_json_link_calls_with_their_work(tmp_path: Path) -> None:
    """A flow leaves the middle of its call, or where its work begins earlier, there; times as in a recorded file."""
    labels = {2: "CPU HIP API", 1: "COPY", 6: "GPU0"}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}} for pid, name in labels.items()
    ]
    events += [
        _event("hipMemcpy", 2, 7, 10_300, 20_700),
        _event("hipLaunchKernel", 2, 7, 30_100, 39_900),
        _event("hipDeviceSynchronize", 2, 7, 40_000, 90_000),
        _event("CopyHostToDevice", 1, 0, 12_500, 20_000),
        _event("gemm", 6, 1, 50_900, 60_000),
    ]
    for number, source, target in ((4, 12, (12, 1, 0)), (9, 34, (50, 6, 1))):
        events += [_flow(number, "s", source, 2, 7), _flow(number, "t", *target)]
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"traceEvents": [{}, *events]}))
    run = open_run(file)
    calls = run.regions.select(pl.col("name").cast(pl.String), "correlation").rows()
    assert calls == [("hipMemcpy", 4), ("hipLaunchKernel", 9), ("hipDeviceSynchronize", None)]
    assert run.dispatches["correlation"].to_list() == [9]
    assert run.copies["correlation"].to_list() == [4]


def test_work_calls_and_markers(database: Path) -> None:
    run = open_run(database)
    kernels = run.dispatches.with_columns(pl.col("name", "region_name").cast(pl.String))
    assert kernels.select("name", "region_name", "correlation").rows() == [("gemm", "step 1", 1), ("gemm", None, 2)]
    copy = run.copies.row(0, named=True)
    assert (copy["size_bytes"], copy["src_agent"], copy["dst_agent"]) == (64, 0, None)
    regions = run.regions.select(pl.col("name", "domain").cast(pl.String), "correlation").rows()
    assert regions == [("hipLaunchKernel", "HIP", 1), ("hipMemcpy", "HIP", 3), ("step 1", "MARKER", None)]
    assert dict(run.losses.select("kind", "count").iter_rows()) == {"backward_times": 1}
    events = pl.concat([run.table(name)["event"] for name in ("dispatches", "copies", "regions")])
    assert events.n_unique() == events.len() == 6


_OLDER = """
CREATE TABLE OPS ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, "Name" TEXT, "pid" INTEGER,
  "tid" INTEGER, "Index" INTEGER, "proc-id" INTEGER, "Data" TEXT, "DurationNs" INTEGER);
CREATE TABLE COPY ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, "Name" TEXT, "pid" INTEGER,
  "tid" INTEGER, "Index" INTEGER, "proc-id" INTEGER, "Data" TEXT, "DurationNs" INTEGER);
CREATE TABLE HIP ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT, "args" TEXT,
  "Index" INTEGER, "Data" TEXT, "DurationNs" INTEGER);
CREATE TABLE rocTX ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT, "Index" INTEGER);
INSERT INTO OPS VALUES (100, 200, 0, 0, 'gemm', 6, 1, 1, 4711, '', 100);
INSERT INTO COPY VALUES (400, 500, 0, 0, 'CopyDeviceToHost', 1, 0, 3, 4711, '', 100);
INSERT INTO HIP VALUES (50, 60, 2, 4711, 'hipLaunchKernel', '( stream(1))', 1, '', 10),
  (390, 510, 2, 4712, 'hipMemcpy', '( dst(0x1) src(0x2) sizeBytes(64) kind(2))', 3, '', 120);
INSERT INTO rocTX VALUES (40, 600, 0, 4711, 'step 1', 0);
"""


def test_work_of_older_databases_is_linked_with_its_calls(tmp_path: Path) -> None:
    """Their `pid` is the number of a track (6 GPU 0, 1 copies, 2 calls, 0 markers); work has `proc-id`."""
    connection = sqlite3.connect(tmp_path / "results.db")
    connection.executescript(_OLDER)
    run = open_run(tmp_path / "results.db")
    assert run.processes["pid"].to_list() == [4711]
    tables = [run.dispatches, run.copies, run.regions]
    assert [table["process"].unique().to_list() for table in tables] == [[0]] * 3
    linked = run.regions.join(run.dispatches, on=["process", "correlation"])["name"].cast(pl.String).to_list()
    assert (linked, run.copies["size_bytes"].to_list()) == (["hipLaunchKernel"], [64])
    assert sorted(run.threads["tid"].drop_nulls()) == [4711, 4712]

    connection.execute("INSERT INTO OPS VALUES (600, 700, 1, 0, 'gemm', 7, 1, 9, 5000, '', 100)")
    connection.execute("INSERT INTO HIP VALUES (580, 590, 2, 5000, 'hipLaunchKernel', '( stream(1))', 9, '', 10)")
    connection.commit()
    connection.close()
    two = open_run(tmp_path / "results.db")
    pids = two.regions.join(two.processes, on="process").sort("start_ns")["pid"].to_list()
    assert pids == [4711, 4711, 4711, 5000]  # a thread that is no process's first one is of the first process


def test_arguments_are_taken_apart(database: Path) -> None:
    arguments = open_run(database).arguments.select("position", pl.col("name").cast(pl.String), "value").rows()
    assert arguments[:3] == [
        (0, "kernel", "gemm(float*, int)"),
        (1, "numBlocks", "{z(1) y(1) x(9}"),
        (2, "stream", "1"),
    ]
    assert (2, "sizeBytes", "64") in arguments


def test_dispatches_are_not_counted_twice(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("""INSERT INTO KERN VALUES (0, '"gemm.kd"', 4, 0, 7, 8, 256, 64, 0, 0, 8, 16, 100, 200)""")
    connection.commit()
    connection.close()
    run = open_run(database)
    assert run.dispatches.select(pl.col("name").cast(pl.String), "grid_x", "workgroup_x").rows() == [("gemm", 256, 64)]
    assert run.table("OPS").height == 2


def test_csv_with_times_and_with_counters(tmp_path: Path) -> None:
    times, counters = tmp_path / "times.csv", tmp_path / "counters.csv"
    times.write_text(f'{_HEADER},BeginNs,EndNs\n0,"a ""b"", c",4,0,0,7,8,256,64,0,0,8,16,0x0,0x1,100,250\n')
    counters.write_text(f"{_HEADER},Wavefronts,L2CacheHit\n0,k [clone .kd],4,0,0,7,8,256,64,0,0,8,16,0x0,0x1,4,\n")
    assert (sniff(times), sniff(counters)) == (Kind.ROCPROF_CSV, Kind.ROCPROF_COUNTERS)
    dispatch = open_run(times).dispatches.row(0, named=True)
    assert (dispatch["name"], dispatch["end_ns"] - dispatch["start_ns"]) == ('a "b", c', 150)
    run = open_run(counters)
    assert run.dispatches["name"].cast(pl.String).to_list() == ["k"]
    assert run.counters.select("event", "value").rows() == [(0, 4.0)], "an empty field was not measured"
    assert run.counter_info["name"].to_list() == ["Wavefronts"]
    found = find_runs([tmp_path])
    assert [one.path.name for one in found] == ["times.csv"], "counters repeat the dispatches of the run beside them"


def test_rows_that_are_cut_are_losses(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    file.write_text(f"{_HEADER},BeginNs,EndNs\n0,k,4,0,0,7,8,256,64,0,0,8,16,0x0,0x1,100,250\nx,\n")
    run = open_run(file)
    assert run.dispatches.height == 1
    assert run.losses.select("kind", "count").rows() == [("malformed_events", 1)]


def test_a_database_without_rows_is_an_empty_run(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT)')
    connection.close()
    run = open_run(path)
    assert run.dispatches.height == 0
    assert run.processes.height == 1


def test_statistics_are_no_run(tmp_path: Path) -> None:
    file = tmp_path / "results.stats.csv"
    file.write_text('"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"k",1,5,5,100.0\n')
    with pytest.raises(WavewrightError, match="statistics"):
        open_run(file)
