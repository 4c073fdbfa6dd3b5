"""The critical path of known runs: chains that were made by hand, and idle time that is no more than measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from wavewright.analysis.run.diagnose import diagnose_run
from wavewright.analysis.run.diagnose.bounds import bounds_of
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.graph import event_graph
from wavewright.analysis.run.graph.path import path_of
from wavewright.analysis.run.graph.scenarios import what_if
from wavewright.errors import UsageError
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

QWEN = "kineto-amd/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"
MI350X = "rocprofv3-json-mi350x/908_first8000_results.json.gz"


def test_a_wait_that_ends_with_a_kernel_is_not_host_time(shared: Path) -> None:
    """455 kernels run during the first hipDeviceSynchronize; the last ends 7.5 us after it returned."""
    graph = event_graph(open_run(shared / "data" / QWEN))
    path = path_of(graph)
    shares = dict(path.classes.select("class", "path_share").rows())
    assert shares["kernels"] == pytest.approx(0.87, abs=0.005)
    assert shares["host"] == pytest.approx(0.11, abs=0.005)
    assert path.groups["tolerance_ns"].to_list() == [8_066]  # the second one returns so much before its last kernel
    assert path.segments.filter(pl.col("what").cast(pl.String) == "return from waiting")["gpu_busy_ns"].sum() == 0
    (scenario,) = what_if(graph, ("kernel=attn_fwd:-50%",), path)
    (prediction,) = scenario.predictions
    # 35 kernels take 5.695 ms; two of them end before the next launch, and give no more than 0.14 ms of the 2.85 ms.
    assert 2.70e6 <= prediction.gain_ns_min <= prediction.gain_ns_max <= 2.848e6


def test_work_of_other_streams_is_no_idle_time(shared: Path) -> None:
    """567 queues without any launch: the GPU has work 2.377433319 s of 12.841 s, and what it waits for is unknown."""
    run = open_run(shared / "data" / MI350X)
    graph = event_graph(run)
    path = path_of(graph)
    (group,) = path.groups.to_dicts()
    times = dict(path.classes.select("class", "path_ns").rows())
    measured = busy(run).gpus.row(0, named=True)
    assert group["gpu_busy_ns"] == measured["busy_ns"] == 2_377_433_319
    assert times["idle"] == measured["span_ns"] - measured["busy_ns"]
    assert times["communication"] / group["span_ns"] == pytest.approx(0.183, abs=0.001)
    assert path.unexplained_groups == [group["group"]]
    with pytest.raises(UsageError, match="the record explains"):
        what_if(graph, ("copies",), path)


@pytest.mark.slow
def test_a_late_rank_has_the_bound_of_the_diagnosis(shared: Path) -> None:
    run = open_run(shared / "data" / "kineto-multirank-2of4")
    spans_ns = path_of(event_graph(run)).groups["span_ns"]
    bounds = bounds_of(("rank=1", "communication"), lambda function: [function(part) for part in run.parts], spans_ns)
    findings = {finding.rule: finding.bound_alone_ns for finding in diagnose_run(run).findings}
    assert bounds == {"rank=1": findings["X2"], "communication": findings["X1"]}
    scenarios = what_if(event_graph(run), tuple(bounds), bounds=bounds)[:2]
    assert [scenario.gain_ns_max for scenario in scenarios] == list(bounds.values())
    for scenario in scenarios:
        assert all(each.gain_ns_max <= bounds[scenario.text] for each in scenario.predictions)


RUNS = (
    QWEN,
    MI350X,
    "kineto-amd/facebook_timesformer-base-finetuned-k400__1016002.json.gz",
    "kineto-amd/gaunernst_bert-small-uncased__1016001.json.gz",
    "kineto-amd/gpu_only_trace.json.gz",
    "kineto-amd/sglang_Qwen3-8B_decode.json.gz",
    "kineto-amd/torch_compile_triton.json.gz",
    "kineto-h100-twins/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "kineto-multirank-2of4/merged_ranks01.json.gz",
    "rpd/matmul_result.rpd",
    "rpd/mytrace.rpd.gz",
)


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("name", RUNS)
def test_idle_time_on_the_path_is_measured_idle_time(shared: Path, name: str) -> None:
    run = open_run(shared / "data" / name)
    path = path_of(event_graph(run))
    segments = path.segments.with_columns(pl.col("class").cast(pl.String), ns=pl.col("end_ns") - pl.col("start_ns"))
    assert segments["ns"].sum() == path.groups["span_ns"].sum()
    assert segments.filter(pl.col("class").is_in(["idle", "unknown"]))["gpu_busy_ns"].sum() == 0
    most = max(row["wall_ns"] - row["busy_ns"] for row in busy(run).gpus.iter_rows(named=True))
    assert segments.filter(pl.col("class") == "idle")["ns"].sum() <= most
