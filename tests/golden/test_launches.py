"""The run beside a real capture: rank and median of the traced dispatch against separate SQL and CSV."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path
from statistics import median

import pytest

import wavewright
from wavewright.analysis.trace.about.traced_call import launch_sentence
from wavewright.model.trace import ThreadTrace

ABOVE_MEDIAN = {"c01": (2, 42), "c02": (3, 29), "c03": (3, 16), "c08": (3, 31), "c09": (3, 10), "c10": (3, 42)}
"""Capture -> dispatch of the matrix multiplication, and by how many percent it is above the median of 150 calls."""


@pytest.mark.parametrize("name", ABOVE_MEDIAN)
def test_the_database_beside_a_capture(shared: Path, name: str) -> None:
    folder = shared / "data" / "att-mi300x-bmm" / name
    dispatch, percent = ABOVE_MEDIAN[name]
    (database,) = (folder / "raw").glob("*_results.db")
    with sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True) as connection:
        rows = connection.execute("select name, dispatch_id, duration from kernels order by start").fetchall()
    (kernel,) = {row[0] for row in rows if row[1] == dispatch}
    durations_ns = [row[2] for row in rows if row[0] == kernel]
    trace = wavewright.open(folder / "raw", dispatch=dispatch)
    assert isinstance(trace, ThreadTrace)
    launch = trace.launch
    assert launch is not None
    assert (launch.kernel_name, launch.path) == (kernel, str(database))
    assert (launch.call_number, launch.call_count) == (1, 150)
    assert (launch.duration_ns, launch.duration_ns_median) == (durations_ns[0], median(durations_ns))
    assert launch_sentence(launch).startswith(f"first of 150 calls, {percent} % slower than the median (")


def test_the_decoded_form_finds_the_same(shared: Path) -> None:
    folder = shared / "data" / "att-mi300x-bmm" / "c08"
    (directory,) = folder.glob("ui_output_*_dispatch_3")
    trace = wavewright.open(directory)
    assert isinstance(trace, ThreadTrace)
    assert trace.launch is not None
    assert Path(trace.launch.path).name == "45_results.db"


def test_a_kernel_trace_that_the_user_names(shared: Path) -> None:
    data = shared / "data"
    table = data / "rocprofv3-mi350x-flydsl" / "layernorm" / "discover_kernel_trace.csv"
    trace = wavewright.open(data / "uiout-mi350x-flydsl" / "layernorm", resources=[table])
    assert isinstance(trace, ThreadTrace)
    with table.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    (traced,) = (row for row in rows if row["Dispatch_Id"] == "23")
    alike = [row for row in rows if all(row[key] == traced[key] for key in ("Kernel_Name", "Grid_Size_X"))]
    durations_ns = [int(row["End_Timestamp"]) - int(row["Start_Timestamp"]) for row in alike]
    launch = trace.launch
    assert launch is not None
    assert (launch.call_number, launch.call_count) == (alike.index(traced) + 1, len(alike))
    assert (launch.duration_ns, launch.duration_ns_median) == (
        durations_ns[alike.index(traced)],
        median(durations_ns),
    )


def test_a_capture_without_a_run(shared: Path) -> None:
    trace = wavewright.open(shared / "data" / "att-mi300x-bmm" / "c04" / "raw", dispatch=3)
    assert isinstance(trace, ThreadTrace)
    assert trace.launch is None
