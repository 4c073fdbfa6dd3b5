"""Captures and executions of vLLM, SGLang and xDiT, joined: figures worked out by scripts of their own."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tests.conftest import SHARED
from wavewright import open_run
from wavewright.analysis.run.contents.regions import combine_regions, partial_regions

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.run import Run

GRAPHS = SHARED / "data" / "kineto-graphs"
VLLM = GRAPHS / "vllm_prefilldecode_piecewise"
SGLANG = GRAPHS / "sglang_decode"
XDIT = GRAPHS / "xdit_flux.1" / "capture_traces" / "capture_trace_rank_0.json.gz"

pytestmark = pytest.mark.skipif(not GRAPHS.exists(), reason="needs ../shared")


def _work(run: Run) -> pl.DataFrame:
    columns = ["start_ns", "end_ns", "correlation", "graph_call", "graph_match"]
    work = pl.concat([run.read(table, columns) for table in ("dispatches", "copies")])
    return work.with_columns(ns=pl.col("end_ns") - pl.col("start_ns"))


def _joined(run: Run) -> tuple[int, int]:
    joined = _work(run).filter(pl.col("graph_call").is_not_null())
    return joined.height, int(joined["ns"].sum())


def _operators(run: Run) -> dict[str, tuple[int, int]]:
    """Pieces of work and time by innermost operator."""
    answer = combine_regions([partial_regions(run)])
    return {name: (count, ns) for name, count, ns in answer.launchers.select("name", "gpu_count", "gpu_ns").rows()}


@pytest.mark.slow
def test_vllm() -> None:
    run = open_run(VLLM)
    work = _work(run)
    assert (work.height, work["ns"].sum()) == (423, 156_085_905)
    assert _joined(run) == (361, 149_919_755)
    assert set(work["graph_match"].drop_nulls()) == {"exact"}
    assert not run.losses.height
    operators = _operators(run)
    assert operators["vllm::moe_forward"] == (72, 124_885_785)
    assert operators["aten::addmm"] == (72, 17_301_821)
    assert operators["vllm::unified_attention_with_output"] == (24, 5_146_906)
    assert operators["aiter::rmsnorm2d_fwd_with_add_ck"] == (48, 3_367_740)
    assert operators["_C::rotary_embedding"] == (24, 1_706_329)
    assert operators["triton_poi_fused_constant_pad_nd_moe_forward_0"] == (24, 1_566_326)
    assert operators["_C_cache_ops::reshape_and_cache_flash"] == (24, 586_371)
    assert operators["SortTokens"] == (72, 431_366)
    assert operators["aten::mm"] == (1, 346_637)
    layers = combine_regions([partial_regions(run, layers=True)]).launchers
    assert dict(layers.select("name", "gpu_ns").rows()) == {
        "nn.Module: GraphModule_0": 155_653_032,
        "nn.Module: LogitsProcessor_0": 346_637,
    }


@pytest.mark.slow
def test_sglang() -> None:
    run = open_run(SGLANG)
    assert _joined(run) == (544, 9_656_404)
    operators = _operators(run)
    assert operators["aten::mm"] == (145, 5_782_257)
    assert operators["aiter::add_rmsnorm"] == (72, 346_844)
    assert operators["sgl_kernel::silu_and_mul"] == (36, 324_367)
    assert operators["sglang::store_cache"] == (36, 173_545)
    assert operators["aten::copy_"] == (78, 378_609)
    tree = combine_regions([partial_regions(run, layers=True)]).tree
    decoders = tree.filter(pl.col("name").str.contains("Qwen3DecoderLayer_"))
    assert (decoders.height, decoders["gpu_total_ns"].sum()) == (36, 9_232_896)
    assert decoders.sort("gpu_total_ns")[-1].select("name", "gpu_total_ns").row(0) == (
        "nn.Module: Qwen3DecoderLayer_7",
        378_511,
    )


@pytest.mark.slow
def test_xdit_lost_its_last_node() -> None:
    run = open_run(XDIT)
    assert _joined(run) == (993, 35_504_808)
    assert run.losses.select("kind", "count").rows() == [("graph_node_missing", 1)]
    assert "node 993 of 994" in run.losses["message"].item()
    operators = _operators(run)
    assert operators["aten::mm"] == (598, 37_512_857)
    assert operators["aiter::fmha_v3_fwd"] == (57, 2_422_140)


def _changed(folder: Path, change: Any) -> Run:
    """vLLM's execution, in which the GPU work of launch 7 was changed."""
    with gzip.open(VLLM / "graph_execution.json.gz") as stream:
        trace = json.load(stream)
    events = trace["traceEvents"]
    launch = [event for event in events if event.get("name") == "hipGraphLaunch"][7]
    number = launch["args"]["correlation"]
    work = [e for e in events if e.get("cat") == "kernel" and e["args"].get("correlation") == number]
    work.sort(key=lambda event: event["ts"])
    trace["traceEvents"] = [event for event in events if event not in change(launch, work)]
    path = folder / "graph_execution.json"
    path.write_text(json.dumps(trace))
    return open_run(path, captures=[VLLM / "capture_traces"])


@pytest.mark.slow
def test_another_kernel_leaves_its_launch_alone(tmp_path: Path) -> None:
    def renamed(_: Any, work: list[Any]) -> list[Any]:
        work[3]["name"] = "another_kernel"
        return []

    run = _changed(tmp_path, renamed)
    assert _joined(run) == (346, 143_619_206)
    assert run.losses.select("kind", "count").rows() == [("graph_unjoined", 15)]
    assert "kernel 3 is another_kernel, captured was " in run.losses["message"].item()


@pytest.mark.slow
def test_another_order_is_joined_and_told(tmp_path: Path) -> None:
    def swapped(_: Any, work: list[Any]) -> list[Any]:
        work[3]["ts"], work[4]["ts"] = work[4]["ts"], work[3]["ts"]
        return []

    run = _changed(tmp_path, swapped)
    assert _joined(run) == (361, 149_919_755)
    assert _work(run).filter(pl.col("graph_match").cast(pl.String) == "by occurrence").height == 15
    assert run.losses["kind"].to_list() == ["graph_order"]


@pytest.mark.slow
def test_a_lost_kernel_and_a_lost_launch(tmp_path: Path) -> None:
    run = _changed(tmp_path, lambda _, work: [work[-1]])
    assert _joined(run) == (360, 149_846_877)
    assert run.losses["kind"].to_list() == ["graph_node_missing"]
    run = _changed(tmp_path, lambda launch, work: [launch, *work])
    assert _joined(run) == (346, 143_619_206)
    assert run.losses.select("kind", "count").rows() == [("graph_place_unknown", 22)]


@pytest.mark.slow
def test_the_capture_of_another_program_joins_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.json.gz"
    path.write_bytes((VLLM / "graph_execution.json.gz").read_bytes())
    run = open_run(path, captures=[SGLANG / "capture_traces"])
    assert _joined(run) == (0, 0)
    assert run.losses["kind"].to_list() == ["graph_unjoined"]
    both = open_run(path, captures=[SGLANG / "capture_traces", VLLM / "capture_traces"])
    assert _joined(both) == (361, 149_919_755)
