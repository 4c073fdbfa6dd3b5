"""Real outputs of rocprof (v1): the figures of its own statistics, from the database and from CSV."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.opened import open_run
from wavewright.errors import NotATraceError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.run import Run

_RUNS = {"laplacian_k1": 1004, "laplacian_k2": 1004, "seismic_a": 1023}


def _totals(frame: pl.DataFrame) -> dict[str, tuple[int, int]]:
    duration = pl.col("end_ns") - pl.col("start_ns")
    rows = frame.group_by(pl.col("name").cast(pl.String)).agg(pl.len(), duration.sum().alias("ns")).iter_rows()
    return {name: (calls, ns) for name, calls, ns in rows}


def _statistics(file: Path) -> dict[str, tuple[int, int]]:
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {row["Name"].removesuffix(".kd"): (int(row["Calls"]), int(row["TotalDurationNs"])) for row in rows}


@pytest.mark.parametrize("run", _RUNS)
@pytest.mark.parametrize("form", ["", "results.db", "results.csv"], ids=["folder", "database", "csv"])
def test_dispatches_of_the_stencils(shared: Path, run: str, form: str) -> None:
    folder = shared / "data/rocprofv1-mi200-stencils" / run
    document = open_run(folder / form)
    assert document.dispatches.height == _RUNS[run]
    assert _totals(document.dispatches) == _statistics(folder / "results.stats.csv")


def _means(run: Run) -> dict[tuple[str, str], float]:
    values = run.counters.join(run.counter_info.select("counter", pl.col("name").alias("of")), on="counter")
    values = values.join(run.dispatches.select("event", pl.col("name").cast(pl.String)), on="event")
    rows = values.group_by("name", "of").agg(pl.col("value").mean()).iter_rows()
    return {(kernel, counter): mean for kernel, counter, mean in rows}


@pytest.mark.parametrize(
    ("run", "kernel", "fetch", "write"),
    [
        ("laplacian_k1", "laplacian_kernel", 1_984_890.8, 1_039_049.9),
        ("laplacian_k2", "laplacian_kernel", 1_820_108.3, 1_038_108.7),
        ("seismic_a", "compute_fd_z_kernel", 3_784_920, None),
        ("seismic_a", "compute_fd_z_window_kernel", 557_046, None),
    ],
)
def test_counters_of_the_stencils(shared: Path, run: str, kernel: str, fetch: float, write: float | None) -> None:
    document = open_run(shared / "data/rocprofv1-mi200-stencils" / run / "data_movement.csv")
    means = _means(document)
    assert document.dispatches.height == _RUNS[run]
    assert means[kernel, "FETCH_SIZE"] == pytest.approx(fetch, rel=1e-6)
    if write:
        assert means[kernel, "WRITE_SIZE"] == pytest.approx(write, rel=1e-6)


def test_a_trace_of_hip(shared: Path) -> None:
    folder = shared / "data/rocprofv1-mi300a-hiptrace"
    run = open_run(folder / "results.db")
    assert _totals(run.dispatches) == _statistics(folder / "results.stats.csv")
    assert _totals(run.regions) == _statistics(folder / "results.hip_stats.csv")
    assert _totals(run.copies) == _statistics(folder / "results.copy_stats.csv")
    assert run.copies["size_bytes"].to_list() == [4_000_000_000] * 3
    launch = run.dispatches.join(run.regions, on="correlation")
    assert launch["name_right"].cast(pl.String).to_list() == ["hipLaunchKernel"]


def test_wavefronts(shared: Path) -> None:
    run = open_run(shared / "data/rocprofv1-mi300a-hiptrace/output_vec_add_gpu.csv")
    assert _means(run)["vector_add(float*, float*, float*, int)", "Wavefronts"] == 15_625_000
    assert run.losses["kind"].to_list() == ["no_times"]


def test_a_trace_that_is_no_json_is_refused_kindly(shared: Path) -> None:
    with pytest.raises(NotATraceError, match="not a recorded run"):
        open_run(shared / "data/rocprofv1-mi200-stencils/laplacian_k1/results.json")
