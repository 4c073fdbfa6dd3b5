"""How GPUs spend their time in real recordings, against the figures of the tools that made them."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from tests.kit.opened import open_run
from wavewright.analysis.run.contents.regions import regions
from wavewright.analysis.run.contents.summary import summary
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.gpu_time.gaps import gaps
from wavewright.analysis.run.gpu_time.overlap import overlap
from wavewright.analysis.run.kernels import kernels
from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.chosen import select
from wavewright.words.run.gaps import gaps_report

RPD = {
    "matmul_result.rpd": (2, 183_918_056, 2_964_070_817, 0.062049),
    "mytrace.rpd.gz": (2, 416_625_081, 452_967_953, 0.919767),
}


@pytest.mark.first_case
@pytest.mark.parametrize("name", RPD)
def test_summed_durations_are_the_busy_figures_of_rpd(name: str, shared: Path) -> None:
    run = open_run(shared / "data" / "rpd" / name)
    (gpu,) = busy(run).gpus.iter_rows(named=True)
    number, spent, wall, share = RPD[name]
    assert (gpu["gpu"], gpu["duration_sum_ns"], gpu["span_ns"]) == (number, spent, wall)
    assert gpu["duration_sum_share"] == pytest.approx(share, abs=1e-6)
    (idle,) = gaps(run).gpus.iter_rows(named=True)
    assert idle["gap_ns"] + idle["rounding_ns"] + gpu["busy_ns"] == idle["span_ns"] == wall
    assert idle["gap_ns"] + idle["rounding_ns"] + idle["busy_ns"] + idle["edge_ns"] == idle["wall_ns"] == gpu["wall_ns"]
    assert summary(run).busy_share == pytest.approx(gpu["busy_wall_share"])


def test_gaps_of_a_server_are_explained(shared: Path) -> None:
    answer = gaps(open_run(shared / "data" / "rpd" / "mytrace.rpd.gz"))
    assert answer.causes["wait_ns"].sum() == answer.gpus["gap_ns"].sum()
    assert "unknown" not in answer.causes["cause"]


def test_a_launched_kernel_that_waits_for_an_event_is_not_late(shared: Path) -> None:
    answer = gaps(open_run(shared / "data" / "kineto-amd" / "sglang_Qwen3-8B_decode.json.gz"))
    gap = answer.largest.row(0, named=True)
    assert (gap["gap_ns"], gap["at_ns"], gap["launch_at_ns"]) == (463_295_405, 84_835, 38_309)
    assert (gap["cause"], gap["function"], gap["function_ns"]) == ("stream wait", "hipMemcpyWithStream", 463_018_539)
    frames = gap["stack"].split(" > ")
    assert len(frames) == 5
    assert frames[-2].endswith("cuda_graph_runner.py(276): populate_from_forward_batch")
    assert frames[-1] == gap["context"] == "aten::copy_"
    assert answer.gap_count == 8  # 548 more are 1 ns, which Kineto's rounding makes
    assert answer.gpus["rounding_ns"].to_list() == [548]
    text = "\n".join(str(part) for part in gaps_report(answer))
    assert "Mostly waits in streams" in text
    assert "use graphs" not in text
    assert "waited in its stream for an event" in text


QWEN = "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"


@pytest.mark.slow
def test_a_window_in_a_gap_is_idle(shared: Path) -> None:
    run = open_run(shared / "data" / "kineto-amd" / QWEN)
    window = select(run, RunSelection(begin="13.4ms", end="13.9ms"))
    (gpu,) = busy(window).gpus.iter_rows(named=True)
    assert (gpu["span_ns"], gpu["wall_ns"], gpu["kernel_count"]) == (500_000, 500_000, 2)
    assert gpu["busy_share"] == pytest.approx(0.06, abs=0.001)
    (idle,) = gaps(window).gpus.iter_rows(named=True)
    assert idle["gap_ns"] + idle["rounding_ns"] + idle["busy_ns"] + idle["edge_ns"] == 500_000
    assert (idle["busy_ns"], idle["edge_ns"]) == (gpu["busy_ns"], 0)
    parts = summary(window)
    assert parts.wall_ns == 500_000
    assert parts.busy_share == pytest.approx(gpu["busy_share"])
    (both,) = overlap(window).gpus.iter_rows(named=True)
    assert (both["span_ns"], both["busy_ns"]) == (500_000, gpu["busy_ns"])
    wide = regions(select(run, RunSelection(begin="13.2ms", end="14ms")))
    assert wide.tree.filter(pl.col("depth") == 0)["total_ns"].sum() == 2 * 800_000  # of two threads


def test_the_place_of_a_gap_is_a_time_window(shared: Path) -> None:
    run = open_run(shared / "data" / "kineto-amd" / QWEN)
    for gap in gaps(run, keep=3).largest.to_dicts():
        window = RunSelection(begin=f"{gap['at_ns']}ns", end=f"{gap['at_ns'] + gap['gap_ns']}ns")
        (idle,) = gaps(select(run, window)).gpus.iter_rows(named=True)
        assert (idle["gap_count"], idle["gap_ns"], idle["gap_share"]) == (1, gap["gap_ns"], 1.0)


def test_a_folder_without_launches_blames_nobody(shared: Path) -> None:
    answer = gaps(open_run(shared / "data" / "gfx1151-rocprofv3-llama"))
    text = "\n".join(str(part) for part in gaps_report(answer))
    assert "The cause of 88.6 % of the gaps is not known" in text
    assert "rocprofv3 --hip-trace" in text
    assert "Mostly" not in text


TRACELENS = (
    "facebook_timesformer-base-finetuned-k400__1016002",
    "gaunernst_bert-small-uncased__1016001",
    "gpu_only_trace",
    "torch_compile_triton",
    "Qwen_Qwen1.5-0.5B-Chat__1016005",
)


@pytest.mark.first_case
@pytest.mark.parametrize("name", TRACELENS)
def test_gpu_timelines_of_tracelens(name: str, shared: Path) -> None:
    folder = shared / "data" / "kineto-amd"
    run = select(open_run(folder / f"{name}.json.gz"), RunSelection(is_launched=True))
    with (folder / f"expected_{name}" / "gpu_timeline.csv").open() as file:
        expected = {row["type"]: float(row["time ms"]) * 1e6 for row in csv.DictReader(file)}
    (gpu,) = overlap(run).gpus.iter_rows(named=True)
    near = 60  # times in the trace are rounded to 2^-10 us
    assert gpu["computation_ns"] == pytest.approx(expected["computation_time"], abs=near)
    assert gpu["exposed_copy_ns"] == pytest.approx(expected["exposed_memcpy_time"], abs=near)
    assert gpu["copy_ns"] == pytest.approx(expected["total_memcpy_time"], abs=near)
    assert gpu["communication_ns"] == expected["total_comm_time"] == 0
    assert gpu["busy_ns"] == pytest.approx(expected["busy_time"], abs=near)
    assert gpu["span_ns"] == pytest.approx(expected["total_time"], abs=near)
    assert busy(run).gpus["busy_ns"].to_list() == [gpu["busy_ns"]]


def test_theoretical_occupancy_of_a_real_kernel(shared: Path) -> None:
    answer = kernels(open_run(shared / "data" / "att-mi300x-bmm" / "c01"), "ck_tile")
    (shape,) = answer.shapes.iter_rows(named=True)
    assert (answer.kernels["calls"].item(), shape["grid_x"], shape["workgroup_x"], shape["target"]) == (
        150,
        512,
        256,
        "gfx942",
    )
    assert (shape["waves_per_simd"], shape["bound_by"]) == (1, "VGPR")


def test_regions_of_a_server_cause_all_gpu_time(shared: Path) -> None:
    answer = regions(open_run(shared / "data" / "rpd" / "mytrace.rpd.gz"))
    assert answer.unlinked_gpu_ns == 0
    assert answer.tree["gpu_ns"].sum() == 416_625_081
    assert answer.region_count == 14_736 - answer.untimed_count


def test_calls_have_the_times_of_the_call_stacks_of_rpd(shared: Path) -> None:
    """`ext_callstack`, depth 0: the time of every call without those inside, and of the work it launched."""
    run = open_run(shared / "data" / "rpd" / "mytrace.rpd.gz")
    calls = run.regions.select(id="event", name=pl.col("name").cast(pl.String), domain=pl.col("domain").cast(pl.String))
    stored = run.table("ext_callstack").filter(pl.col("depth") == 0).join(calls, left_on="parent_id", right_on="id")
    expected = stored.filter(pl.col("domain") == "HIP").group_by("name").agg(pl.col("cpu_time", "gpu_time").sum())
    ours = regions(run).tree.filter(pl.col("domain") == "HIP").group_by("name").agg(pl.col("self_ns", "gpu_ns").sum())
    assert sorted(ours.rows()) == sorted(expected.rows())
    assert ours["gpu_ns"].sum() == 416_625_081


def test_two_tokens_of_llama(shared: Path) -> None:
    run = open_run(shared / "data" / "gfx1151-rocprofv3-llama" / "decode_kernel_trace.csv")
    times = run.dispatches.select("start_ns", "end_ns").sort("start_ns")
    begin, end = times["start_ns"][4], times["end_ns"][51]
    window = select(run, RunSelection(begin=str(begin), end=str(end), is_inside=True))
    (gpu,) = busy(window).gpus.iter_rows(named=True)
    assert (gpu["kernel_count"], gpu["busy_ns"], gpu["span_ns"]) == (48, 672_793, 94_559_170)
