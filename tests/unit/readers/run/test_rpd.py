"""RPD files of schema 3, made here: two nodes, sessions, marks, graphs, counters, stacks, damage."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import polars as pl
import pytest

from synth import Workload, write_rpd
from tests.kit.made_rpd import SESSION, write_rpd_file
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.chosen import select
from wavewright.analysis.run.select.run_parts import parts_of
from wavewright.errors import NotATraceError
from wavewright.readers.files.sqlite import Database
from wavewright.readers.run.inputs import open_run
from wavewright.readers.run.rpd import read_rpd

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.run import Run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_rpd_file(tmp_path / "made.rpd")


@pytest.fixture
def run(file: Path) -> Run:
    return open_run(file)


def test_nodes_and_processes_come_apart(run: Run) -> None:
    assert run.nodes["node_id"].to_list() == [0, 1]
    assert run.processes.select("pid", "node").rows() == [(5, 0), (7, 1)]
    assert run.agents.select("agent_id", "absolute_index", "process").rows() == [(2, 2, 0), (1002, 2, 1)]
    assert run.threads.select("process", "tid").rows() == [(0, 50), (0, 51), (1, 70)]
    assert run.streams.select("process", "stream_id").rows() == [(0, 5), (0, 0x7F00), (1, 0)]


def test_work_knows_who_launched_it_and_how(run: Run) -> None:
    rows = run.dispatches.with_columns(pl.col("name").cast(pl.String)).sort("dispatch_id").to_dicts()
    assert [row["name"] for row in rows] == ["gemm", "relu", "FillBuffer", "relu", None]
    assert [row["process"] for row in rows] == [0, 0, 0, 1, 1]
    assert [row["thread"] for row in rows] == [0, 1, 1, 2, None]
    assert [row["correlation"] for row in rows] == [1, 4, 4, SESSION + 2, None]
    assert [row["queue"] for row in rows] == [0, 1, 1, 2, 2]
    assert [row["graph_exec"] for row in rows] == [None, 0xABC, 0xABC, None, None]
    assert [row["stream"] for row in rows] == [1, 0, 0, 2, None]
    assert [row["grid_x"] for row in rows] == [256, None, None, 64, None], "workgroups times lanes, or lanes"
    assert (rows[0]["lds_bytes"], rows[0]["scratch_bytes"]) == (1024, 8)
    assert json.loads(rows[1]["properties"])["opType"] == "Task"


def test_a_copy_says_which_way(run: Run) -> None:
    copy = run.copies.to_dicts()
    assert len(copy) == 1
    assert (copy[0]["name"], copy[0]["size_bytes"]) == ("Memcpy", 4096)
    assert (copy[0]["src_agent"], copy[0]["dst_agent"]) == (1, None), "kind 2 is from the device to the host"
    assert (copy[0]["dst_address"], copy[0]["src_address"]) == (16, 32)


def test_calls_and_marks(run: Run) -> None:
    regions = run.regions.with_columns(pl.col("name", "domain", "function").cast(pl.String)).to_dicts()
    assert [row["name"] for row in regions] == [
        "hipLaunchKernel", 'step "1"', "hipGraphLaunch", "hipMemcpyAsync", "hipExtModuleLaunchKernel",
    ]  # fmt: skip
    assert [row["domain"] for row in regions] == ["HIP", "MARKER", "HIP", "HIP", "HIP"]
    assert json.loads(regions[0]["properties"]) == {"args": "size=64 | free"}
    assert regions[1]["properties"] is None
    samples = run.samples.select(pl.col("name").cast(pl.String), "time_ns").rows()
    assert samples == [('step "1"', 150)]


def test_arguments_and_stacks(run: Run) -> None:
    arguments = run.arguments.select("event", "position", pl.col("name").cast(pl.String), "value").rows()
    assert arguments == [
        (1, 0, "size", "64"),
        (1, 1, "", "free"),
        (4, 0, "graphExec", "0xabc"),
        (4, 1, "stream", "0x5"),
    ]
    frames = run.frames.select("event", "depth", pl.col("name").cast(pl.String)).rows()
    assert frames == [(1, 0, "forward"), (1, 1, "main")]


def test_counters_and_monitors(run: Run) -> None:
    values = run.counters.join(run.dispatches, on="event").sort("value")
    assert values.select("value", "dispatch_id", "process").rows() == [(12.0, 1, 0), (13.0, SESSION + 2, 1)]
    assert run.counter_info.select("process", "name").rows() == [(0, "SQ_WAVES"), (1, "SQ_WAVES")]
    monitors = run.monitors.select("agent", pl.col("name").cast(pl.String), "value").rows()
    assert monitors == [(1, "sclk", 1700.0), (None, "temp", None)]


def test_a_counter_is_in_the_process_of_its_dispatch_also_without_a_launch(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM rocpd_api_ops WHERE op_id = ?", [SESSION + 2])
    run = open_run(file)
    dispatch = run.dispatches.filter(pl.col("dispatch_id") == SESSION + 2)
    assert dispatch["correlation"].to_list() == [None]
    assert dispatch["process"].to_list() == [1], "the first that used its GPU"
    assert run.counters.join(run.dispatches, on=["process", "event"]).height == 2


def test_events_of_calls_and_work_differ(run: Run) -> None:
    events = pl.concat([run.table(name)["event"] for name in ("regions", "samples", "dispatches", "copies")])
    assert events.null_count() == 0
    assert events.n_unique() == events.len()


def test_tables_of_extensions_are_kept(run: Run) -> None:
    assert run.extra_names == ["ext_graph", "rocpd_metadata"]
    assert run.table("ext_graph").rows() == [(0, 1, "", 40, 1.5), (0, 2, "0xabc", None, 2.0)]


def test_damage_is_told_once(run: Run) -> None:
    for _ in range(2):
        run.read("dispatches", ["name", "start_ns", "end_ns"])
    kinds = dict(run.losses.select("kind", "count").iter_rows())
    assert kinds == {"backward_times": 1, "dangling_rows": 1}
    assert run.losses.height == 2
    assert (run.dispatches["end_ns"] >= run.dispatches["start_ns"]).all()


def test_compressed_files_give_the_same(file: Path, run: Run) -> None:
    packed = file.with_suffix(".rpd.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert open_run(packed).dispatches.equals(run.dispatches)


def test_two_files_count_on(file: Path) -> None:
    both = open_run(file, file)
    assert both.dispatches.height == 5, "the same path twice is one run"


@pytest.mark.parametrize("missing", ["rocpd_api", "rocpd_api_ops", "rocpd_string", "rocpd_metadata", "rocpd_kernelapi"])
def test_missing_tables_are_losses(file: Path, missing: str) -> None:
    connection = sqlite3.connect(file)
    connection.execute(f"DROP TABLE {missing}")
    connection.commit()
    connection.close()
    run = open_run(file)
    assert run.dispatches.height + run.copies.height == 6
    assert run.regions.height + run.samples.height == (0 if missing == "rocpd_api" else 6)
    if missing in ("rocpd_api", "rocpd_api_ops", "rocpd_string"):
        assert "missing_tables" in run.losses["kind"]


def test_a_file_without_ops_is_none(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE rocpd_api (id integer)")
    connection.close()
    with pytest.raises(NotATraceError, match="no table rocpd_op"):
        read_rpd(Database(path))


@pytest.mark.parametrize("schema", [2, 3])
def test_a_gpu_that_two_processes_use_is_one_of_each(schema: int, tmp_path: Path) -> None:
    write_rpd(tmp_path / "run.rpd", Workload(dispatches=60, ranks=3, gpus=2), schema=schema)
    run = open_run(tmp_path / "run.rpd")
    assert run.agents.select("process", "absolute_index").rows() == [(0, 0), (2, 0), (1, 1)]
    for table, column in (("dispatches", "agent"), ("dispatches", "queue"), ("copies", "queue")):
        work = run.table(table)
        owners = run.table(f"{column}s")["process"]
        assert owners.gather(work[column]).to_list() == work["process"].to_list()
    assert busy(run).gpus["process_count"].to_list() == [2, 1]


def test_gpus_are_chosen_by_the_number_that_is_shown(run: Run) -> None:
    shown = busy(run).gpus.row(0, named=True)
    chosen = select(run, RunSelection(gpus=(shown["gpu"],)))
    assert chosen.dispatches.height + chosen.copies.height > 0
    assert shown["gpu"] in busy(chosen).gpus["gpu"]
    (part, *_) = parts_of(run, "gpu")
    assert part.name == f"gpu{shown['gpu']}"
