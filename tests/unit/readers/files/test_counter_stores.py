"""Counters inside runs, and metrics that ROCm Compute Profiler stored instead of counters."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth.rocpd import write_rocpd
from synth.workload import Workload
from tests.unit.readers.run.test_rocprofv3_json import process
from wavewright.errors import NotATraceError
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.run.inputs import open_run


def test_counters_of_a_rocpd_database(tmp_path: Path) -> None:
    path = tmp_path / "1_results.db"
    write_rocpd(path, Workload(dispatches=60, counters=4, counter_every=2))
    found, run = open_counters(path), open_run(path)
    stored = run.counters.join(run.counter_info.select("counter", "name"), on="counter")
    for spelled, name in (("SQ_WAVES", "SQ_WAVES"), ("TCC_HIT_sum", "TCC_HIT")):
        expected = stored.filter(pl.col("name") == spelled)["value"].sum()
        assert sum(frame[name].sum() for frame in found.measured.values()) == expected
    measured = stored.select("process", "event").unique().height
    assert found.dispatches.height == measured
    assert found.passes["form"].unique().to_list() == ["database"]
    assert (found.system.target, found.system.cu_count, found.system.xcd_count) == ("gfx942", 304, 8)
    names = set(run.dispatches["name"].cast(pl.String))
    assert set(found.dispatches["kernel_name"]) <= names


def test_counters_of_rocprofv3_json_are_summed_over_instances(tmp_path: Path) -> None:
    path = tmp_path / "1_results.json"
    path.write_text(json.dumps({"rocprofiler-sdk-tool": [process()]}))
    assert open_counters(path).measured[0]["SQ_WAVES"].to_list() == [10.5]


def test_a_run_without_counters_says_so(tmp_path: Path) -> None:
    path = tmp_path / "1_results.db"
    write_rocpd(path, Workload(dispatches=10, counters=0))
    for place in (path, tmp_path):
        with pytest.raises(NotATraceError, match="no counters") as caught:
            open_counters(place)
        assert "wavewright summary" in caught.value.advice


@pytest.mark.parametrize(
    ("change", "told"),
    [("value = 1e308", "not valid counts"), ("value = -5", "not valid counts"), ("value = 'many'", "no counters")],
)
def test_a_database_of_impossible_counts_says_what_was_lost(tmp_path: Path, change: str, told: str) -> None:
    path = tmp_path / "1_results.db"
    write_rocpd(path, Workload(dispatches=10, counters=4))
    with closing(sqlite3.connect(path)) as connection:
        table = "select name from sqlite_master where type = 'table' and name like 'rocpd_pmc_event%'"
        connection.execute(f"update '{connection.execute(table).fetchone()[0]}' set {change}")  # noqa: S608
        connection.commit()
    with pytest.raises(NotATraceError, match=told):
        open_counters(path)


def test_damage_of_a_database_and_sizes_that_overflow(tmp_path: Path) -> None:
    path = tmp_path / "1_results.db"
    write_rocpd(path, Workload(dispatches=10, counters=4))
    with closing(sqlite3.connect(path)) as connection:
        like = "select name from sqlite_master where type = 'table' and name like 'rocpd_{}%'"
        events, dispatches = (
            connection.execute(like.format(w)).fetchone()[0] for w in ("pmc_event", "kernel_dispatch")
        )
        connection.execute(f"update '{events}' set value = 'many' where id % 5 = 0")  # noqa: S608
        connection.execute(f"update '{dispatches}' set grid_size_x = 1 << 40, grid_size_y = 1 << 40")  # noqa: S608
        connection.commit()
    found = open_counters(path)
    assert found.losses.height
    assert found.dispatches["grid_size"].null_count() == found.dispatches.height


SCHEMA = """
CREATE TABLE compute_workload (workload_id INTEGER PRIMARY KEY, name, sys_info_extdata, roofline_bench_extdata);
CREATE TABLE compute_kernel (kernel_uuid INTEGER PRIMARY KEY, workload_id, kernel_name);
CREATE TABLE compute_dispatch (
    dispatch_uuid INTEGER PRIMARY KEY, kernel_uuid, dispatch_id, gpu_id, start_timestamp, end_timestamp
);
CREATE TABLE compute_metric_definition (
    metric_uuid INTEGER PRIMARY KEY, workload_id, name, metric_id, table_name, sub_table_name, unit
);
CREATE TABLE compute_kernel_metric_value (
    value_uuid INTEGER PRIMARY KEY, metric_uuid, kernel_uuid, value_name, value FLOAT
);
CREATE TABLE compute_workload_metric_value (
    value_uuid INTEGER PRIMARY KEY, metric_uuid, workload_id, value_name, value FLOAT
);
"""


def analysis_database(path: Path, *, workloads: int = 1) -> Path:
    system = {"gpu_arch": "gfx950", "gpu_model": "MI350", "cu_per_gpu": 256, "max_sclk": 2200, "max_mclk": None}
    with sqlite3.connect(path) as database:
        database.executescript(SCHEMA)
        for number in range(1, workloads + 1):
            row = (number, f"w{number}", json.dumps(system), '{"HBMBw": 4885.5, "L2Bw": "x"}')
            database.execute("INSERT INTO compute_workload VALUES (?, ?, ?, ?)", row)
        database.executemany("INSERT INTO compute_kernel VALUES (?, ?, ?)", [(1, 1, "a.kd"), (2, 1, "b")])
        database.executemany(
            "INSERT INTO compute_dispatch VALUES (?, ?, ?, ?, ?, ?)",
            [(1, 1, 0, 0, 1000, 1500), (2, 2, 1, 3, 2000, 2000)],
        )
        database.execute(
            "INSERT INTO compute_metric_definition VALUES (1, 1, 'IPC', '2.1.14', 'SoL', 'SoL', 'Instr/cycle')"
        )
        database.executemany(
            "INSERT INTO compute_kernel_metric_value VALUES (?, 1, ?, 'Avg', ?)", [(1, 1, 0.5), (2, 2, None)]
        )
        database.execute("INSERT INTO compute_workload_metric_value VALUES (1, 1, 1, 'Avg', 0.25)")
    database.close()
    return path


def test_an_analysis_database(tmp_path: Path) -> None:
    path = analysis_database(tmp_path / "analysis.db", workloads=2)
    assert sniff(path) is Kind.COMPUTE_DATABASE
    found = wavewright.open(path)
    assert isinstance(found, CounterSet)
    assert found.stored_metrics.select("kernel_name", "metric_id", "statistic", "value").rows() == [
        ("a", "2.1.14", "Avg", 0.5),
        ("b", "2.1.14", "Avg", None),
        (None, "2.1.14", "Avg", 0.25),
    ]
    assert found.dispatches.select("kernel_name", "gpu", "start_ns", "end_ns").rows() == [
        ("a", 0, 0.0, 500.0),
        ("b", 1, 1000.0, None),
    ]
    assert found.ceilings.select("name", "value").rows() == [("HBMBw", 4885.5)]
    assert (found.system.cu_count, found.system.clock_mhz_max) == (256, 2200)
    assert found.measured == {}
    assert set(found.losses["kind"]) == {"other_workloads", "counter_times"}


def test_an_analysis_database_without_rows(tmp_path: Path) -> None:
    path = analysis_database(tmp_path / "analysis.db", workloads=0)
    with pytest.raises(NotATraceError, match="without a workload"):
        open_counters(path)
