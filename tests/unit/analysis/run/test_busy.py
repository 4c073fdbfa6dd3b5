from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_runs import rows, run, source, spans
from tests.kit.sampling import examples
from wavewright.analysis.run.contents.summary import summary
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.gpu_time.gaps import gaps
from wavewright.analysis.run.select.clocks import node_clocks
from wavewright.model.run import MemorySource, Run
from wavewright.words.run.busy import busy_report


def test_overlapping_work_counts_once() -> None:
    found = busy(
        run(
            dispatches=spans((0, 10), (5, 20), (30, 40)),
            copies=spans((15, 25), (60, 100), src_agent=0, dst_agent=1),
        )
    )
    (gpu,) = found.gpus.to_dicts()
    assert (gpu["node"], gpu["gpu"], gpu["target"], gpu["process_count"]) == ("host", 0, "gfx942", 1)
    assert (gpu["busy_ns"], gpu["kernel_busy_ns"], gpu["copy_busy_ns"]) == (75, 30, 50)
    assert (gpu["duration_sum_ns"], gpu["span_ns"]) == (85, 100)
    assert (gpu["busy_share"], gpu["duration_sum_share"]) == (0.75, 0.85)
    assert gpu["concurrency_mean"] == pytest.approx(85 / 75)
    assert rows(found.streams, "stream_id", "kernel_count", "copy_count", "busy_ns") == [(0, 3, 0, 30), (1, 0, 2, 50)]
    assert rows(found.nodes, "gpu_count", "unused_gpu_count") == [(1, 1)]


def test_a_copy_between_gpus_keeps_both_busy() -> None:
    found = busy(run(copies=spans((0, 4), src_agent=1, dst_agent=2) + spans((6, 8), src_agent=2, dst_agent=2)))
    assert rows(found.gpus, "gpu", "copy_count", "busy_ns", "span_ns") == [(0, 1, 4, 8), (1, 2, 6, 8)]


def test_processes_on_one_gpu_are_one_gpu() -> None:
    parts = [
        source("a.db", pid=1, dispatches=spans((0, 10), (20, 30))),
        source("b.db", pid=2, dispatches=spans((5, 22)), copies=spans((28, 50), src_agent=1, dst_agent=0)),
        source("c.db", pid=3, host="other", dispatches=spans((10**15, 10**15 + 7))),
    ]
    found = busy(Run(parts))
    assert rows(found.gpus, "node", "process_count", "busy_ns", "kernel_busy_ns", "copy_busy_ns", "span_ns") == [
        ("host", 2, 50, 30, 22, 50),
        ("other", 1, 7, 7, 0, 7),
    ]
    sums = found.over_time.group_by("node", maintain_order=True).agg(pl.col("busy_ns", "kernel_busy_ns").sum())
    assert sums.rows() == [("host", 50, 30), ("other", 7, 7)]


def captures(*names: str, overlap: bool = False) -> Run:
    """Files without host name, recorded one after the other or at the same time."""
    parts = [
        source(
            name,
            host="",
            pid=n,
            dispatches=spans((base := 0 if overlap else 100 * n, base + 10), (base + 30, base + 40)),
        )
        for n, name in enumerate(names)
    ]
    for part in parts:
        part.tables["nodes"] = part.tables["nodes"].with_columns(machine_id=pl.lit(""))
        part.tables["processes"] = part.tables["processes"].with_columns(rank=pl.lit(None, pl.Int32))
    return Run(parts)


def test_captures_of_one_program_are_one_node() -> None:
    run = captures("x/decode_kernel_trace.csv", "x/decode_fetch_counter_collection.csv", "x/decode_stall.csv")
    columns = ("busy_ns", "span_ns", "wall_ns", "kernel_count", "process_count")
    assert rows(busy(run).gpus, *columns) == [(60, 120, 120, 6, 3)]  # time between recordings is nobody's
    assert rows(gaps(run).gpus, "gap_count", "gap_ns", "busy_ns", "edge_ns") == [(3, 60, 60, 0)]
    told = summary(run)
    assert (told.node_count, told.gpu_count, told.wall_ns, told.busy_share) == (1, 1, 120, 0.5)


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("run", "nodes"),
    [
        (captures("x/decode_a.csv", "x/decode_b.csv", overlap=True), ["a", "b"]),  # one clock, or two: who knows
        (captures("x/decode_a.csv", "y/decode_a.csv"), ["x", "y"]),
        (captures("x/bert.json", "x/qwen.json.gz"), ["bert", "qwen"]),
    ],
)
def test_other_files_stand_for_nodes(run: Run, nodes: list[str]) -> None:
    assert busy(run).gpus["node"].to_list() == gaps(run).gpus["node"].to_list() == nodes
    assert (summary(run).node_count, summary(run).gpu_count) == (2, 2)
    begins = node_clocks(run).starts("node")
    assert [begins[node] for node in nodes] == busy(run).nodes.sort("node")["start_ns"].to_list()


def test_files_that_name_no_node_stay_apart() -> None:
    parts = [source(name, host="", dispatches=spans((0, 10))) for name in ("a.json", "b.json")]
    for part in parts:
        part.tables["nodes"] = part.tables["nodes"].with_columns(machine_id=pl.lit(""))
    assert rows(busy(Run(parts)).gpus, "node", "busy_ns") == [("a", 10), ("b", 10)]


def test_times_that_are_not_there() -> None:
    found = busy(run(dispatches=[{"start_ns": 5, "end_ns": None}, {"start_ns": 7, "end_ns": 3}, *spans((8, 9))]))
    assert rows(found.gpus, "kernel_count", "busy_ns", "duration_sum_ns", "span_ns") == [(2, 1, 1, 2)]
    nowhere = busy(run(dispatches=spans((0, 4), agent=None), copies=spans((2, 6))))
    assert rows(nowhere.gpus, "gpu", "busy_ns") == [(None, 6)]
    assert busy(Run([])).gpus.height == busy(run()).gpus.height == 0


PIECE = st.tuples(st.integers(0, 60), st.integers(0, 12), st.integers(1, 2), st.booleans(), st.integers(0, 2))


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(50))
@given(st.lists(PIECE, max_size=25), st.integers(1, 9))
def test_equals_counting_nanosecond_by_nanosecond(pieces: list[tuple[int, int, int, bool, int]], bins: int) -> None:
    parts = [
        source(
            f"{at}.db",
            pid=at,
            dispatches=[
                {"start_ns": b, "end_ns": b + n, "agent": gpu}
                for b, n, gpu, copy, file in pieces
                if file == at and not copy
            ],
            copies=[
                {"start_ns": b, "end_ns": b + n, "dst_agent": gpu}
                for b, n, gpu, copy, file in pieces
                if file == at and copy
            ],
        )
        for at in range(3)
    ]
    found = busy(Run(parts), bins=bins)
    expected = []
    for gpu in (1, 2):
        mine = [piece for piece in pieces if piece[2] == gpu]
        moments = {
            copy: {t for b, n, _, is_copy, _ in mine if is_copy == copy for t in range(b, b + n)} for copy in (0, 1)
        }
        if mine:
            both = len(moments[0] | moments[1])
            expected.append((gpu - 1, both, len(moments[0]), len(moments[1]), sum(n for _, n, *_ in mine)))
    columns = ("gpu", "busy_ns", "kernel_busy_ns", "copy_busy_ns", "duration_sum_ns")
    assert rows(found.gpus, *columns) == expected
    in_bins = found.over_time.group_by("gpu").agg(pl.col(columns[1:4]).sum())
    assert sorted(in_bins.rows()) == [row[:4] for row in expected if row[1]]
    assert all(count <= bins for count in found.nodes["bin_count"])
    assert found.over_time.filter(pl.col("busy_ns") > pl.col("length_ns")).height == 0


def test_files_of_one_unnamed_node_have_one_name_and_one_curve_each() -> None:
    """Parts that `split` wrote: their machine has an id and no host name, so each file would name it after itself."""
    parts = []
    for number in (0, 1):
        part = source(f"parts/rank{number}.db", pid=number, dispatches=spans((10 * number, 50), agent=number + 1))
        nodes = part.tables["nodes"].with_columns(machine_id=pl.lit("unknown"), hostname=pl.lit(None, pl.String))
        parts.append(MemorySource(part.path, "test", tables={**part.tables, "nodes": nodes}))
    found = busy(Run(parts))
    assert found.gpus["node"].unique().to_list() == found.nodes["node"].to_list()
    assert rows(found.gpus, "gpu", "busy_ns") == [(0, 50), (1, 40)]
    assert "GPU 1" in " ".join(str(block) for block in busy_report(found, width=100, limit=20))
