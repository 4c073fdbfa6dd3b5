from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.kit.made_runs import run as made
from wavewright.export.run.hatchet import to_hatchet

REGIONS = [
    {"name": "step", "start_ns": 0, "end_ns": 100},
    {"name": "mm", "start_ns": 10, "end_ns": 60},
    {"name": "launch", "start_ns": 20, "end_ns": 30, "correlation": 7},
    {"name": "launch", "start_ns": 40, "end_ns": 45, "correlation": 8},
    {"name": "mm", "start_ns": 60, "end_ns": 70},
    {"name": "step", "start_ns": 0, "end_ns": 30, "thread": 1},
]
KERNELS = [
    {"name": "gemm", "start_ns": 50, "end_ns": 90, "correlation": 7},
    {"name": "gemm", "start_ns": 100, "end_ns": 150, "correlation": 8},
    {"name": "stray", "start_ns": 5, "end_ns": 6, "correlation": 99},
]
COPIES = [{"name": "H2D", "start_ns": 60, "end_ns": 63, "correlation": 8}]


@pytest.fixture(scope="module", autouse=True)
def _hatchet() -> None:
    """Imported where its tests run, not by every worker: that takes more than a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("hatchet", reason="hatchet is not installed")


def rows(graph: Any) -> dict[tuple[str, ...], dict[str, int]]:
    """Metrics by call path."""
    frame = graph.dataframe
    return {
        tuple(part.frame["name"] for part in node.path()): frame.loc[node].to_dict() for node in graph.graph.traverse()
    }


def test_call_paths_with_inclusive_exclusive_and_gpu_time() -> None:
    told = rows(to_hatchet(made(regions=REGIONS, dispatches=KERNELS, copies=COPIES)))
    step, mm, launch = told["step",], told["step", "mm"], told["step", "mm", "launch"]
    assert (step["count"], step["time (inc)"], step["time"]) == (2, 130, 70)
    assert (mm["count"], mm["time (inc)"], mm["time"]) == (2, 60, 45)
    assert (launch["count"], launch["time (inc)"], launch["gpu_time"], launch["gpu_time (inc)"]) == (2, 15, 0, 93)
    gemm = told["step", "mm", "launch", "gemm"]
    assert (gemm["type"], gemm["count"], gemm["gpu_time"], gemm["time"]) == ("kernel", 2, 90, 0)
    assert told["step", "mm", "launch", "H2D"]["type"] == "copy"
    assert step["gpu_time (inc)"] == 93
    assert told["(no call recorded)", "stray"]["gpu_time"] == 1


def test_a_row_per_rank_and_thread() -> None:
    graph = to_hatchet(made(regions=REGIONS, dispatches=KERNELS), per_thread=True)
    frame = graph.dataframe
    assert frame.index.names == ["node", "rank", "thread"]
    steps = frame[frame["name"] == "step"]["time (inc)"]
    assert steps.droplevel("node").to_dict() == {(1, 0): 100, (1, 1): 30}
    assert "launch" in graph.tree(metric_column="time (inc)", rank=1, thread=0)


def test_hatchet_works_with_it() -> None:
    graph = to_hatchet(made(regions=REGIONS, dispatches=KERNELS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, about pandas
        hot = graph.filter(lambda row: row["gpu_time (inc)"] > 50, squash=True)
    assert set(hot.dataframe["name"]) == {"step", "mm", "launch", "gemm"}
    assert graph.exc_metrics == ["time", "gpu_time", "count"]


def test_a_call_that_ends_after_the_one_around_it() -> None:
    crossing = [{"name": "a", "start_ns": 0, "end_ns": 10}, {"name": "b", "start_ns": 5, "end_ns": 20}]
    told = rows(to_hatchet(made(regions=crossing)))
    assert (told["a",]["time (inc)"], told["a",]["time"]) == (10, 5)
    assert told["a", "b"]["time (inc)"] == 15
