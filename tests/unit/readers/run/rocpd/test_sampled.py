"""What rocprof-sys adds to ROCpd files, on rows made by the rules of its writer: no real file was at hand."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import polars as pl

from synth import Workload, write_rocpd
from synth.rocprof_sys import CPU_UNITS, GPU_UNITS, Poll, Stack, add_samples
from wavewright.analysis.run.memory.run_curves import run_curves
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.run import Run

START = 1_080_000_001_000_000
GPU, CPU = 2, 0
POLLS = [
    Poll(START + 1000, GPU, {"device_power": 300.0, "device_temp": 60.0, "device_memory_usage": 5.0}),
    Poll(START + 1000, GPU + 1, {"device_power": 90.0}),
    Poll(START + 2000, CPU, {"cpu_frequency": 3100.0, "process_page_fault": 7.0, "comm_data_sent": 1e6}),
    Poll(START + 3000, GPU, {"device_power": 700.0, "device_temp": 61.0, "device_memory_usage": 5.0}),
    Poll(START + 3000, GPU + 1, {"device_power": 95.0}),
    Poll(START + 4000, CPU, {"cpu_frequency": 3200.0, "process_page_fault": 9.0, "comm_data_sent": 3e6}),
]
STACKS = [
    Stack(START, START + 500, ["main", "train", "step"]),
    Stack(START + 500, START + 900, ["main", "load"]),
    Stack(START, START + 500, ["worker"], thread=1),
]


def sampled_run(tmp_path: Path) -> tuple[Run, Run]:
    """The run with samples, and the same without."""
    for name in ("plain.db", "sampled.db"):
        write_rocpd(tmp_path / name, Workload(dispatches=40, counters=2))
    add_samples(tmp_path / "sampled.db", POLLS, STACKS)
    return open_run(tmp_path / "sampled.db"), open_run(tmp_path / "plain.db")


def test_polls_are_monitors_by_quantity_and_agent(tmp_path: Path) -> None:
    run, _ = sampled_run(tmp_path)
    rows = run.monitors.with_columns(pl.col("name").cast(pl.String)).sort("name", "agent", "start_ns")
    times = {"a": START + 1000, "b": START + 3000, "c": START + 2000, "d": START + 4000}
    assert rows.select("name", "agent", "start_ns", "end_ns", "value").rows() == [
        ("comm_data_sent", CPU, times["c"], times["d"], 1e6),
        ("comm_data_sent", CPU, times["d"], times["d"], 3e6),
        ("cpu_frequency", CPU, times["c"], times["d"], 3100.0),
        ("cpu_frequency", CPU, times["d"], times["d"], 3200.0),
        ("device_memory_usage", GPU, times["a"], times["b"], 5.0),
        ("device_memory_usage", GPU, times["b"], times["b"], 5.0),
        ("device_power", GPU, times["a"], times["b"], 300.0),
        ("device_power", GPU, times["b"], times["b"], 700.0),
        ("device_power", GPU + 1, times["a"], times["b"], 90.0),
        ("device_power", GPU + 1, times["b"], times["b"], 95.0),
        ("device_temp", GPU, times["a"], times["b"], 60.0),
        ("device_temp", GPU, times["b"], times["b"], 61.0),
        ("process_page_fault", CPU, times["c"], times["d"], 7.0),
        ("process_page_fault", CPU, times["d"], times["d"], 9.0),
    ]
    assert set(rows["process"].to_list()) == {0}


def test_samples_change_nothing_else(tmp_path: Path) -> None:
    run, plain = sampled_run(tmp_path)
    for table in ("regions", "counters", "dispatches"):
        assert run.read(table).drop("properties").equals(plain.read(table).drop("properties"), null_equal=True)
    assert run.samples.filter(pl.col("domain").cast(pl.String) != "SAMPLING").height == plain.samples.height
    assert run.losses.height == plain.losses.height == 0


def test_call_stacks_are_samples_with_frames(tmp_path: Path) -> None:
    run, _ = sampled_run(tmp_path)
    samples = run.samples.filter(pl.col("domain").cast(pl.String) == "SAMPLING")
    assert samples.select("thread", "time_ns").sort("thread", "time_ns").rows() == [
        (0, START),
        (0, START + 500),
        (1, START),
    ]
    named = run.frames.join(samples.select("event", "thread", "time_ns"), on="event").sort("thread", "time_ns", "depth")
    assert named["name"].cast(pl.String).to_list() == ["step", "train", "main", "load", "main", "worker"]
    assert named["depth"].to_list() == [0, 1, 2, 0, 1, 0]


def test_they_are_curves_of_the_page(tmp_path: Path) -> None:
    run, plain = sampled_run(tmp_path)
    series = {curve.label: curve.quantity for curve in run_curves(run, "monitors").series}
    assert len(series) == 7
    units = GPU_UNITS | CPU_UNITS
    names = {name for poll in POLLS for name in poll.values}
    assert set(series.values()) == {f"{name} ({units[name]})" if units[name] else name for name in names}
    assert not run_curves(plain, "monitors").series
    samples, before = (run_curves(each, "samples").series for each in (run, plain))
    assert len(samples) == len(before)


def test_values_without_a_track_of_their_name_have_the_time_of_the_poll(tmp_path: Path) -> None:
    write_rocpd(tmp_path / "a.db", Workload(dispatches=5))
    add_samples(tmp_path / "a.db", POLLS[:1])
    with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
        ((table,),) = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_info_pmc_%'"
        ).fetchall()
        database.execute(f"UPDATE {table} SET name = name || ' [0]' WHERE name LIKE 'device%'")  # noqa: S608
    assert open_run(tmp_path / "a.db").monitors["start_ns"].to_list() == [START + 1000] * 3
