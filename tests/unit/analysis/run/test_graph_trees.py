"""Work of replayed graphs in trees of several threads: kernels and times written into the trace are the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.graph_traces import GraphTrace
from wavewright import open_run
from wavewright.analysis.run.compare.call_forest import call_forest
from wavewright.analysis.run.contents.regions import regions
from wavewright.analysis.run.kernels.operators import operators

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.run import Run

KERNELS = ["norm", "gemm", "act"]  # of 10, 11 and 12 us in a replay, 5 us alone


def two_threads(folder: Path, *, replays: int, launches: int, has_operators: bool = True) -> Run:
    """Replays and operators in one thread, operators in another; the graph was captured in another trace."""
    capture, first, second = GraphTrace(), GraphTrace(), GraphTrace(correlation=1000, gpu_now=900_000.0)
    capture.capture(KERNELS)
    for number in range(replays):
        first.replay(KERNELS)
        if has_operators:
            first.eager(f"between{number}")
    for number in range(launches):
        second.eager(f"other{number}")
    for event in second.events:
        event["tid"] = 8
    first.events += second.events
    capture.write(folder / "capture_traces" / "capture.json")
    return open_run(first.write(folder / "run.json"))


@pytest.mark.parametrize(("replays", "launches"), [(0, 3), (1, 0), (1, 3), (4, 9)])
def test_operators_of_all_threads_keep_their_own_work(tmp_path: Path, replays: int, launches: int) -> None:
    answer = operators(two_threads(tmp_path, replays=replays, launches=launches))
    found = dict(answer.operators.group_by("name").agg(pl.col("gpu_ns").sum()).iter_rows())
    alone = [f"op::between{number}" for number in range(replays)] + [f"op::other{number}" for number in range(launches)]
    truth = {f"op::{name}": 1000 * (10 + place) * replays for place, name in enumerate(KERNELS) if replays}
    assert found == truth | dict.fromkeys(alone, 5000)


def test_a_thread_with_nothing_but_a_launch_has_its_captured_calls_below_it(tmp_path: Path) -> None:
    nodes = call_forest(two_threads(tmp_path, replays=1, launches=1, has_operators=False)).nodes
    names = nodes["name"].to_list()
    above = {name: names[parent] if parent >= 0 else None for name, parent in zip(names, nodes["parent"], strict=True)}
    assert {name: above[name] for name in above if name.startswith("op::")} == {
        **{f"op::{name}": "nn.Module: Layer" for name in KERNELS},
        "op::other0": "thread 2",
    }


def test_launches_of_two_names_have_their_own_captured_calls(tmp_path: Path) -> None:
    trace = GraphTrace()
    trace.capture(KERNELS)
    begin = trace.now
    for _ in range(3):
        trace.replay(KERNELS)
    launches = [event for event in trace.events if event["name"] == "hipGraphLaunch"]
    launches[0]["name"] = "hipGraphLaunch_spt"
    trace.marked("step", begin)
    tree = regions(open_run(trace.write(tmp_path / "run.json"))).tree
    found = dict(tree.filter(pl.col("name").str.starts_with("hipGraph")).select("name", "gpu_total_ns").iter_rows())
    assert found == {"hipGraphLaunch_spt": 33_000, "hipGraphLaunch": 66_000}
