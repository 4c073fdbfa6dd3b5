"""Launch statistics: delays by function, graphs once, queue depth, launches that are not known."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.small_runs import small_run
from tests.kit.together import together
from tests.unit.analysis.run.test_steps import made
from wavewright.analysis.run.contents.launch_statistics import (
    LaunchStatistics,
    combine_launch_statistics,
    launch_statistics,
    partial_launch_statistics,
)
from wavewright.model.run import MemorySource, Run
from wavewright.words.run.launches import launches_report


def few() -> Run:
    """Kernel 0 starts 90 after its call returned, kernel 1 while it runs; kernel 2 has no call."""
    kernels = [("a", 100, 50), ("b", 203, 50), ("c", 300, 100)]
    return made(
        kernels,
        [("step", 0, 180), ("step", 200, 200)],
        [("hipLaunchKernel", 0, 10, 0), ("hipLaunchKernel", 200, 10, 1)],
    )


def test_delays_and_what_is_not_known() -> None:
    answer = launch_statistics(few())
    row = answer.functions.row(0, named=True)
    assert (row["function"], row["launch_count"], row["work_count"], row["graph_count"]) == ("hipLaunchKernel", 2, 2, 0)
    assert (row["early_count"], row["delay_max_ns"], row["delay_mean_ns"], row["call_median_ns"]) == (1, 90, 45, 10)
    process = answer.processes.row(0, named=True)
    assert (process["work_count"], process["unknown_count"], process["unknown_ns"]) == (3, 1, 100)
    assert process["unknown_share"] == pytest.approx(1 / 3)
    assert (process["step_count"], process["launches_per_step"], process["calls_per_step"]) == (2, 1, 1)
    assert any("1 of 3 kernels and copies" in str(part) for part in launches_report(answer))


def test_calls_that_are_not_linked_are_told_from_none() -> None:
    """`diagnose` says the same of the same run: one word for one fact."""
    work = [("a", 100, 50), ("b", 203, 50)]
    said = {}
    for key, calls in (("linked to a call", [("hipLaunchKernel", 0, 10, None)]), ("recorded", [])):
        answer = launch_statistics(made(work, [], calls))
        said[key] = " ".join(str(part) for part in launches_report(answer))
        assert f"(100.0 %) is not {key}" in said[key]
    assert "no launch was recorded" in said["recorded"]
    assert "no launch was recorded" not in said["linked to a call"]


def test_a_graph_is_one_launch() -> None:
    run = made([("a", 100, 10), ("b", 120, 10), ("c", 140, 10)], [], [("hipGraphLaunch", 0, 50, 0)])
    tables = run.origins[0].tables  # type: ignore[attr-defined]
    tables["dispatches"] = tables["dispatches"].with_columns(correlation=pl.lit(0, pl.Int64))
    row = launch_statistics(run).functions.row(0, named=True)
    assert (row["launch_count"], row["graph_count"], row["work_count"], row["delay_max_ns"]) == (1, 1, 3, 50)


def test_queue_depth_over_time() -> None:
    """From 0 to 100: both wait from 20 to 50, one from 50 to 90, none from 0 to 20 and after 90."""
    kernels = [("first", 0, 5), ("a", 50, 10), ("b", 90, 10)]
    answer = launch_statistics(made(kernels, [], [("hipLaunchKernel", 20, 0, 1), ("hipLaunchKernel", 20, 0, 2)]))
    row = answer.processes.row(0, named=True)
    assert (row["depth_mean"], row["depth_max"]) == (pytest.approx(1.0), 2)
    assert row["empty_share"] == pytest.approx(0.3)
    assert answer.depths["depth_max"].to_list()[:10] == [0] * 10


def test_parts_add_up() -> None:
    part = partial_launch_statistics(few())
    answer = combine_launch_statistics([part, part])
    assert answer.functions.select("launch_count", "delay_mean_ns").row(0) == (4, 45)
    assert answer.processes.height == 2


@together(
    "run",
    [
        Run([]),
        Run([MemorySource("empty", "made")]),
        small_run(),
        made([]),
        made(
            [("k", 5, -3), ("k", -(1 << 62), 1 << 61)],
            [],
            [("hipLaunchKernel", 9, -4, 0), ("hipMemcpy", 1 << 62, 9, 1)],
        ),
        few(),
    ],
)
def test_declared_columns(run: Run) -> None:
    answer = launch_statistics(run)
    for name, spec in LaunchStatistics.tables.items():
        assert dict(getattr(answer, name).schema) == spec.dtypes, name
    assert list(launches_report(answer))
