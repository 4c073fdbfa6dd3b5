"""PyTorch traces of MI300X and MI210: counts, sums and busy times against TraceLens' own reports."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.opened import open_run
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.memory.memory import memory
from wavewright.analysis.run.ranks.ranks import ranks
from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.chosen import select

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.run import Run

TRACES = {  # kernels, copies, calls, and the nanoseconds of all kernels
    "gaunernst_bert-small-uncased__1016001": (60, 1, 2070, 388_344),
    "Qwen_Qwen1.5-0.5B-Chat__1016005": (1516, 1, 10_593, 43_062_042),
    "facebook_timesformer-base-finetuned-k400__1016002": (447, 2, 46_777, 118_758_892),
    "torch_compile_triton": (12, 0, 101, 12_549_021),
    "gpu_only_trace": (562, 0, 631, 5_343_422),
    "sglang_Qwen3-8B_decode": (555, 3, 913, 9_765_437),
}
#: Work launched before the recording began; work of replayed graphs, whose capture is another file.
LOSSES = {
    "Qwen_Qwen1.5-0.5B-Chat__1016005": [("launched_before", 463)],
    "sglang_Qwen3-8B_decode": [("graph_closed", 544)],
}
ROUNDING_NS = 60
"""TraceLens adds up floats of microseconds, whose last bit is a nanosecond at these times, a thousand times."""


@pytest.mark.first_case
@pytest.mark.parametrize("name", TRACES)
def test_counts_and_sums(shared: Path, name: str) -> None:
    run = open_run(shared / f"data/kineto-amd/{name}.json.gz")
    ns = (run.dispatches["end_ns"] - run.dispatches["start_ns"]).sum()
    assert (run.dispatches.height, run.copies.height, run.regions.height, ns) == TRACES[name]
    assert run.processes.height == 1
    assert run.losses.select("kind", "count").rows() == LOSSES.get(name, [])
    assert run.agents.filter(pl.col("kind") == "GPU")["product"].str.starts_with("AMD Instinct").all()


@pytest.mark.parametrize("name", [name for name in TRACES if not name.startswith(("sglang", "Qwen"))])
def test_busy_times_are_those_of_tracelens(shared: Path, name: str) -> None:
    folder = shared / "data/kineto-amd"
    told = dict(pl.read_csv(folder / f"expected_{name}/gpu_timeline.csv").select("type", "time ms").iter_rows())
    gpu = busy(open_run(folder / f"{name}.json.gz")).gpus.row(0, named=True)
    assert gpu["kernel_busy_ns"] == pytest.approx(told["computation_time"] * 1e6, abs=ROUNDING_NS)
    assert gpu["busy_ns"] == pytest.approx(told["busy_time"] * 1e6, abs=ROUNDING_NS)
    assert gpu["span_ns"] == pytest.approx(told["total_time"] * 1e6, abs=1)


def test_work_launched_before_the_recording_has_no_call(shared: Path) -> None:
    """TraceLens leaves out the 463 dispatches of the step before; their calls are not in the file."""
    folder = shared / "data/kineto-amd"
    run = open_run(folder / "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz")
    told = dict(
        pl.read_csv(folder / "expected_Qwen_Qwen1.5-0.5B-Chat__1016005/gpu_timeline.csv")
        .select("type", "time ms")
        .iter_rows()
    )
    calls = run.regions.filter(pl.col("domain") == "HIP").select("process", "correlation").unique()
    launched = run.dispatches.join(calls, on=["process", "correlation"], how="semi")
    assert run.dispatches.height - launched.height == 463
    ns = (launched["end_ns"] - launched["start_ns"]).sum()
    assert ns == pytest.approx(told["computation_time"] * 1e6, abs=ROUNDING_NS)
    span = launched["end_ns"].max() - launched["start_ns"].min()
    assert span == pytest.approx(told["total_time"] * 1e6, abs=1)


def test_overlapping_streams_are_busy_once(shared: Path) -> None:
    gpu = busy(open_run(shared / "data/kineto-amd/sglang_Qwen3-8B_decode.json.gz")).gpus.row(0, named=True)
    assert gpu["kernel_busy_ns"] == 9_759_749
    assert gpu["kernel_count"] == 555


def test_memory_is_what_the_allocator_counted(shared: Path) -> None:
    run = open_run(shared / "data/kineto-amd/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz")
    place = memory(run).places.filter(pl.col("kind") == "GPU").row(0, named=True)
    counted = run.allocations.filter(pl.col("agent").is_not_null()).sort("start_ns", maintain_order=True)
    totals = counted["properties"].str.json_path_match("$['Total Allocated']").cast(pl.Int64)
    assert (place["peak_bytes"], place["end_bytes"]) == (totals.max(), totals[-1])
    assert (place["before_bytes"], place["allocation_count"], place["unfreed_count"]) == (1_085_405_696, 1294, 0)


@pytest.mark.slow
def test_ranks_of_a_merged_trace(shared: Path) -> None:
    run = open_run(shared / "data/kineto-multirank-2of4/merged_ranks01.json.gz")
    kernels = run.dispatches
    assert (kernels.height, (kernels["end_ns"] - kernels["start_ns"]).sum()) == (6203, 202_802_160)
    assert run.processes.select("pid", "rank").rows() == [(3194582, 0), (3194583, 1)]
    assert _dispatches(run, 0) + _dispatches(run, 1) == 6203
    assert run.copies.height == 1956
    calls = run.regions.filter(pl.col("domain") == "HIP").select("process", "correlation")
    assert kernels.join(calls, on=["process", "correlation"], how="semi").height == 6203
    collectives = (
        kernels["properties"]
        .drop_nulls()
        .str.json_decode(pl.Struct({"Collective name": pl.String, "In msg nelems": pl.Int64, "Group size": pl.Int64}))
    )
    assert collectives.len() == 42
    assert collectives.struct.field("Group size").unique().to_list() == [4]
    assert collectives[0]["In msg nelems"] == 53120
    assert run.copies["size_bytes"].null_count() == 0  # only the calls have sizes
    assert kernels["workgroup_x"].null_count() == 0


def _dispatches(run: Run, rank: int) -> int:
    return select(run, RunSelection(ranks=(rank,))).dispatches.height


def test_other_chrome_traces(shared: Path) -> None:
    hip = open_run(shared / "data/rocprofv1-mi300a-hiptrace/results.json")
    copies = hip.regions.filter(pl.col("name") == "hipMemcpy")
    assert (copies["end_ns"] - copies["start_ns"]).sum() == 1_342_822_760
    assert (hip.dispatches["end_ns"] - hip.dispatches["start_ns"]).to_list() == [3_431_611]
    rpd = open_run(shared / "data/rpd/matmul_result.json")
    assert (rpd.copies.height, rpd.regions.height) == (55, 125)
    assert rpd.dispatches.height == 30
    assert rpd.agents["agent_id"].to_list() == [2, None]


@pytest.mark.slow
def test_who_arrives_last_is_told_by_start_times(shared: Path) -> None:
    path = shared / "data" / "kineto-multirank-2of4" / "merged_ranks01.json.gz"
    with gzip.open(path) as stream:
        events = json.load(stream)
    events = events["traceEvents"] if isinstance(events, dict) else events
    calls: dict[str, dict[int, list[float]]] = {}
    for event in events:
        if event.get("cat") == "kernel" and "nccl" in event["name"]:
            said = event["args"]
            calls.setdefault(said["Collective name"], {}).setdefault(said["rank"], []).append(event["ts"])
    expected = {}
    for name, ranked in calls.items():
        pairs = list(zip(sorted(ranked[0]), sorted(ranked[1]), strict=True))
        expected[name] = (sum(one > zero for zero, one in pairs), len(pairs))
    assert expected == {"allreduce": (11, 15), "broadcast": (5, 6)}
    answer = ranks(open_run(path))
    assert {
        row["collective"]: (row["last_count"], row["calls"]) for row in answer.collectives.iter_rows(named=True)
    } == expected
    assert answer.collectives["rank"].to_list() == [1, 1]
    assert answer.processes["last_count"].to_list() == [5, 16]
