"""The run beside a real capture: rank and median of the traced dispatch against separate SQL and CSV."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from statistics import median

import pytest

import wavewright
from tests.cli.in_process import call
from wavewright.analysis.trace.about.overview import launch_sentence
from wavewright.analysis.trace.diagnose import diagnose
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


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("name", ["layernorm", "softmax"])
def test_a_kernel_trace_of_another_process(shared: Path, name: str) -> None:
    """The tables were recorded by a run before the one that was traced: registers and LDS hold, durations do not."""
    data = shared / "data"
    table = data / "rocprofv3-mi350x-flydsl" / name / "discover_kernel_trace.csv"
    trace = wavewright.open(data / "uiout-mi350x-flydsl" / name, resources=[table])
    assert isinstance(trace, ThreadTrace)
    assert trace.kernels["vgprs"].drop_nulls().len()
    assert trace.launch is None
    assert "launch_of_another_run" in trace.losses["kind"].to_list()
    caveats = [caveat for caveat in diagnose(trace).trust.caveats if caveat.name == "loss_launch_of_another_run"]
    assert [caveat.severity for caveat in caveats] == ["note"]


@pytest.mark.slow
@pytest.mark.parametrize("form", [[], ["--brief"]])
def test_a_refused_duration_is_said_once(shared: Path, form: list[str]) -> None:
    data = shared / "data"
    beside = data / "rocprofv3-mi350x-flydsl" / "layernorm"
    arguments = [str(data / "uiout-mi350x-flydsl" / "layernorm"), "--resources", str(beside), *form]
    said = call("diagnose", *arguments).stdout
    assert said.count("was not taken from another run") == 1


def test_a_capture_without_a_run(shared: Path) -> None:
    trace = wavewright.open(shared / "data" / "att-mi300x-bmm" / "c04" / "raw", dispatch=3)
    assert isinstance(trace, ThreadTrace)
    assert trace.launch is None
