"""Steps and launches of real runs: vLLM on MI300X, training on two ranks, a decode graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.opened import open_run
from wavewright.analysis.run.contents.launch_statistics import launch_statistics
from wavewright.analysis.run.steps import steps

if TYPE_CHECKING:
    from pathlib import Path


def test_vllm(shared: Path) -> None:
    """Two steps are prefill, twenty are decode, each one graph."""
    run = open_run(shared / "data/rpd/mytrace.rpd.gz")
    answer = steps(run)
    assert answer.source == "marker execute_model, found"
    assert answer.steps["kind"].to_list() == ["other"] * 2 + ["step"] * 20
    assert answer.processes["median_ns"].item() == pytest.approx(5.7e6, rel=0.01)
    launches = launch_statistics(run)
    kernels = launches.functions.filter(pl.col("function").str.contains("Launch"))
    assert int(kernels["launch_count"].sum()) == 1248  # spec_reports 2.4
    graph = launches.functions.row(by_predicate=pl.col("function") == "hipGraphLaunch", named=True)
    assert (graph["launch_count"], graph["graph_count"], graph["work_count"]) == (20, 20, 8360)


@pytest.mark.slow
def test_training_on_two_ranks(shared: Path) -> None:
    run = open_run(shared / "data/kineto-multirank-2of4/merged_ranks01.json.gz")
    answer = steps(run)
    assert answer.source == "marker ProfilerStep, found"
    assert answer.processes.select("rank", "step_count", "outlier_count").rows() == [(0, 3, 0), (1, 3, 0)]
    ranges = run.regions.filter(pl.col("name").cast(pl.String).str.starts_with("ProfilerStep")).sort(
        "process", "start_ns"
    )
    assert answer.steps["length_ns"].to_list() == (ranges["end_ns"] - ranges["start_ns"]).to_list()
    repeated = steps(_without_markers(run))
    assert repeated.source.startswith("repetition of kernels")
    assert set(repeated.processes["step_count"]) <= {2, 3}
    launches = launch_statistics(run).functions.filter(pl.col("function").str.contains("Launch"))
    assert int(launches["launch_count"].sum()) == 6203


def _without_markers(run: object) -> object:
    from wavewright.model.run import MemorySource, Run

    tables = {name: run.table(name) for name in ("processes", "dispatches", "copies")}  # type: ignore[attr-defined]
    return Run([MemorySource("made", "made", tables=tables)])


def test_layers_of_one_decode_graph(shared: Path) -> None:
    """36 layers of Qwen3-8B in one step of serving: the markers of SGLang come before the repetition of kernels."""
    answer = steps(open_run(shared / "data/kineto-amd/sglang_Qwen3-8B_decode.json.gz"))
    assert answer.source == "markers of steps of serving"
    assert answer.steps.height == 1


def test_kernels_of_a_convolution_net_do_not_repeat(shared: Path) -> None:
    assert steps(open_run(shared / "data/kineto-amd/gpu_only_trace.json.gz")).source == "none"
