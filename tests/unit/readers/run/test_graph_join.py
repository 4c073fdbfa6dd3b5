"""Replayed graphs are joined with what was captured, or left alone with the reason."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.graph_traces import CHILD, GraphTrace
from wavewright import open_run
from wavewright.analysis.run.contents.regions import combine_regions, partial_regions
from wavewright.readers.run.chrome.captured_graphs import CapturedGraphs
from wavewright.readers.run.chrome.joined_graphs import joined_graphs

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.run import Run

LAYER = ["norm", "gemm", "copy", "gemm", "act"]


def _opened(folder: Path, capture: GraphTrace, execution: GraphTrace) -> Run:
    capture.write(folder / "capture_traces" / "capture.json")
    return open_run(execution.write(folder / "run.json"))


def _joined(run: Run) -> dict[str, str]:
    """Operator by kernel, of joined dispatches and copies."""
    calls = {
        call: (name, above) for call, above, name in run.graph_calls.select("graph_call", "parent_call", "name").rows()
    }
    found = {}
    for table in (run.dispatches, run.copies):
        for name, call in table.drop_nulls("graph_call").select("name", "graph_call").rows():
            above = calls[call][1]
            assert above is not None
            found[name] = calls[above][0]
    return found


def _losses(run: Run) -> dict[str, int]:
    return dict(run.losses.select("kind", "count").rows())


def test_piecewise_graphs_are_told_apart_by_their_place(tmp_path: Path) -> None:
    capture, execution = GraphTrace(), GraphTrace()
    for layer in range(3):
        capture.capture(LAYER, layer=layer)
    for _ in range(2):  # two steps of three layers, with attention in between
        for _ in range(3):
            execution.replay(LAYER)
            execution.eager("attention")
    run = _opened(tmp_path, capture, execution)
    assert _losses(run) == {}
    assert run.dispatches["graph_call"].count() + run.copies["graph_call"].count() == 30
    assert run.dispatches["graph_match"].drop_nulls().unique().to_list() == ["exact"]
    answer = combine_regions([partial_regions(run)])
    times = dict(answer.launchers.select("name", "gpu_ns").rows())
    assert times["op::gemm"] == 6 * (11_000 + 13_000)
    assert times["op::attention"] == 6 * 5_000
    layers = answer.tree.filter(pl.col("name").str.starts_with("nn.Module"))
    assert dict(layers.select("name", "gpu_total_ns").rows()) == {
        f"nn.Module: Layer_{layer}": 2 * (10 + 11 + 12 + 13 + 14) * 1000 for layer in range(3)
    }
    replayed = answer.tree.filter(pl.col("name") == "op::gemm")
    assert replayed.select("call_count", "replayed_count", "mean_ns").rows() == [(4, 4, None)] * 3
    assert answer.unlinked_gpu_ns == 0
    sizes = run.dispatches.filter(pl.col("name") == "gemm").select("grid_x", "workgroup_x").unique().rows()
    assert sizes == [(8 * 64, 64)]


def test_of_two_buckets_the_one_of_the_step_counts(tmp_path: Path) -> None:
    capture, execution = GraphTrace(), GraphTrace()
    for size in (32, 64):
        begin = capture.now
        capture.capture(LAYER, rows=size)
        capture.marked(f"capture_{size}_FULL", begin)
    begin = execution.now
    execution.replay(LAYER)
    execution.marked("execute_40_context_0(sq0sk0sqsq0sqsk0)_generation_40(sq40sk9sqsq4sqsk9)", begin)
    run = _opened(tmp_path, capture, execution)
    used = run.graph_calls.filter(pl.col("name").cast(pl.String) == "op::norm")["event_properties"]
    assert used.to_list() == ['{"Input Dims": [[64, 16]], "Input type": ["c10::BFloat16"]}']
    without_marker = GraphTrace()
    without_marker.replay(LAYER)
    run = _opened(tmp_path / "unmarked", capture, without_marker)
    assert _losses(run) == {"graph_batch_unknown": 1, "graph_unjoined": 5}
    assert not _joined(run)


def test_graphs_as_nodes_are_put_in_place(tmp_path: Path) -> None:
    capture, execution = GraphTrace(), GraphTrace()
    capture.capture(["inner", "inner2"])
    capture.capture(["first", CHILD, "last"])
    execution.replay(["first", "inner", "inner2", "last"])
    execution.replay(["first", "unknown", "last"])
    run = _opened(tmp_path, capture, execution)
    assert _joined(run) == {name: f"op::{name}" for name in ("first", "inner", "inner2", "last")}
    assert _losses(run) == {"graph_unjoined": 3}


@pytest.mark.parametrize(
    ("replayed", "joined", "loss"),
    [
        (["norm", "gemm", "copy", "other", "act"], 0, "graph_unjoined"),
        (["gemm", "norm", "copy", "gemm", "act"], 5, "graph_order"),
        (["norm", "gemm", "copy", "gemm"], 4, "graph_node_missing"),
        (["norm"], 0, "graph_unjoined"),
        ([*LAYER, "more"], 0, "graph_unjoined"),
    ],
)
def test_what_differs_is_found_or_left_alone(tmp_path: Path, replayed: list[str], joined: int, loss: str) -> None:
    capture, execution = GraphTrace(), GraphTrace()
    capture.capture(LAYER)
    execution.replay(replayed)
    run = _opened(tmp_path, capture, execution)
    assert list(_losses(run)) == [loss]
    assert run.dispatches["graph_call"].count() + run.copies["graph_call"].count() == joined
    assert all(operator == f"op::{name}" for name, operator in _joined(run).items() if name in LAYER)
    if "other" in replayed:
        message = run.losses["message"].item()
        assert "kernel 3 is other, captured was gemm" in message
        assert "100.0 %" in message


def test_recorded_numbers_of_nodes_are_the_order(tmp_path: Path) -> None:
    capture, execution = GraphTrace(), GraphTrace()
    capture.capture(["a", "b", "a", "c"])
    execution.replay(["b", "a", "c", "a"], streams=[1, 2, 3, 4], numbers=[11, 10, 13, 12])
    run = _opened(tmp_path, capture, execution)
    assert _losses(run) == {}
    assert run.dispatches["graph_match"].unique().to_list() == ["graph id"]
    calls = run.dispatches.sort("graph_node")["graph_call"].to_list()
    assert calls == sorted(calls)


def test_a_lost_layer_is_uncertain_and_its_operators_are_not(tmp_path: Path) -> None:
    capture, execution = GraphTrace(), GraphTrace()
    for layer in range(3):
        capture.capture(LAYER, layer=layer)
    execution.replay(LAYER)
    execution.replay(LAYER)
    run = _opened(tmp_path, capture, execution)
    assert _losses(run) == {"graph_place_unknown": 2}
    assert _joined(run)["gemm"] == "op::gemm"


def test_without_a_capture_a_note_says_what_to_name(tmp_path: Path) -> None:
    capture, execution = GraphTrace(), GraphTrace()
    execution.replay(LAYER)
    path = execution.write(tmp_path / "run.json")
    run = open_run(path)
    assert _losses(run) == {"graph_closed": 5}
    assert "--capture" in run.losses["advice"].item()
    capture.capture(LAYER)
    assert _losses(open_run(path, captures=[capture.write(tmp_path / "elsewhere" / "c.json")])) == {}
    bad = tmp_path / "elsewhere" / "c.json"
    bad.write_bytes(bad.read_bytes()[:300])
    assert {"graph_closed", "unreadable_capture"} >= set(_losses(open_run(path, captures=[bad])))


@pytest.mark.slow
def test_a_million_kernels_are_joined_in_seconds() -> None:
    nodes, launches = 500, 2000
    names = [f"kernel_{n % 97}" for n in range(nodes)]
    calls = pl.DataFrame({"call": range(nodes), "graph": 0, "parent": None, "is_outer": False}).with_columns(
        pl.col("parent").cast(pl.Int64),
        graph=pl.lit(0, pl.Int64),
        domain=pl.lit("OPERATOR"),
        name=pl.format("op::{}", "call"),
        category=pl.lit("cpu_op"),
        function=pl.lit(None, pl.String),
        event_properties=pl.lit(None, pl.String),
    )
    sizes = {f"{size}_{axis}": pl.lit(1, pl.Int64) for size in ("grid", "block") for axis in "xyz"}
    graph = pl.DataFrame({"node": range(nodes), "call": range(nodes), "name": names})
    graph = graph.with_columns(graph=pl.lit(0, pl.Int64), **sizes)
    captured = CapturedGraphs(None, None, pl.DataFrame({"graph": [0], "size": [None]}).cast(pl.Int64), graph, calls)  # type: ignore[arg-type]
    at = pl.int_range(nodes * launches, eager=True)
    work = pl.DataFrame({"correlation": at // nodes, "start_ns": at * 10, "end_ns": at * 10 + 5, "at": at % nodes})
    work = work.join(pl.DataFrame({"at": range(nodes), "name": names}), on="at", maintain_order="left")
    missing = ["graph_node", *(f"{size}_{axis}" for size in ("workgroup", "grid") for axis in "xyz")]
    common = {"process": pl.lit(0, pl.UInt32)}
    empty = {name: pl.lit(None, pl.Int64) for name in missing}
    work = work.with_columns(pl.col("name").cast(pl.Categorical), cat=pl.lit("kernel"), **common, **empty)
    launch = {"domain": pl.lit("HIP"), "name": pl.lit("hipGraphLaunch").cast(pl.Categorical)}
    replays = pl.DataFrame({"correlation": range(launches), "start_ns": range(launches)})
    replays = replays.with_columns(end_ns=pl.col("start_ns"), **common, **launch)
    kinds = {"dispatches": work, "copies": work.clear(), "regions": replays}
    begin = time.process_time()
    joined = joined_graphs(kinds, [captured])
    seconds = time.process_time() - begin
    assert joined is not None
    assert joined.losses == []
    assert joined.dispatches["graph_call"].to_list()[-nodes:] == list(range(nodes))
    assert joined.dispatches["graph_call"].null_count() == 0
    assert seconds < 5
