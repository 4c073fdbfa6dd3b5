"""Meetings: which calls of ranks are one collective, and what their ends say about clocks."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from tests.kit.together import together
from wavewright.analysis.run.collectives.collectives import kind_of
from wavewright.analysis.run.collectives.meetings import clock_offsets, collective_rows, matched
from wavewright.model.run import MemorySource, Run

Call = tuple[int, int]
GENERIC = "ncclDevKernel_Generic"


def recorded(name: str = "allreduce", count: int = 10, **more: Any) -> str:
    return json.dumps(
        {"Collective name": name, "In msg nelems": count, "Out msg nelems": count, "Group size": 2, "dtype": "Float"}
        | {"Process Group Name": "0", "Process Group Ranks": "[0, 1]"}
        | more
    )


def rank_run(
    rank: int | None, calls: list[Call], *, host: str = "", texts: list[str] | None = None, name: str = GENERIC
) -> Run:
    """A rank whose collectives begin and end at these times."""
    tables = {
        "nodes": pl.DataFrame({"node": [0], "hostname": [host or f"n{rank}"]}),
        "processes": pl.DataFrame(
            {"process": [0], "source": [0], "node": [0], "pid": [7], "rank": [rank], "guid": [f"g{rank}"]}
        ),
        "dispatches": pl.DataFrame(
            {
                "process": [0] * len(calls),
                "agent": [0] * len(calls),
                "name": [name] * len(calls),
                "start_ns": [start for start, _ in calls],
                "end_ns": [end for _, end in calls],
                "properties": texts or [None] * len(calls),
            },
            schema_overrides={"properties": pl.String, "start_ns": pl.Int64, "end_ns": pl.Int64},
        ),
    }
    return Run([MemorySource(f"rank{rank}.db", "made", tables=tables)])


def met(*runs: Run) -> pl.DataFrame:
    parts = [collective_rows(run).with_columns(part=pl.lit(n, pl.UInt32)) for n, run in enumerate(runs)]
    return matched(pl.concat(parts))


def pairs(rows: pl.DataFrame) -> list[tuple[int, ...]]:
    """Start times of each meeting."""
    meetings = rows.drop_nulls("meeting").sort("meeting", "part").group_by("meeting", maintain_order=True)
    return [tuple(group["start_ns"].to_list()) for _, group in meetings]


def test_the_n_th_calls_of_a_kernel_meet() -> None:
    rows = met(rank_run(0, [(0, 10), (20, 30)]), rank_run(1, [(1005, 1010), (1025, 1030)]))
    assert pairs(rows) == [(0, 1005), (20, 1025)]
    assert rows["mismatch"].null_count() == rows.height


def test_sequence_numbers_tell_which_calls_meet() -> None:
    """The recording of rank 1 began one collective later: without the numbers it would meet the wrong ones."""
    zero = rank_run(0, [(0, 9), (10, 19), (20, 29)], texts=[recorded(Seq=n) for n in (1, 2, 3)])
    one = rank_run(1, [(12, 19), (22, 29), (32, 39)], texts=[recorded(Seq=n) for n in (2, 3, 4)])
    rows = met(zero, one)
    assert pairs(rows) == [(10, 12), (20, 22)]
    assert rows.filter(pl.col("meeting").is_null())["mismatch"].to_list() == ["counts", "counts"]


def test_sizes_and_bytes() -> None:
    texts = [recorded(count=100), recorded(count=3, dtype="Long"), recorded(dtype="NoSuch")]
    rows = collective_rows(rank_run(0, [(0, 1), (2, 3), (4, 5)], texts=texts))
    assert rows["in_bytes"].to_list() == [400, 24, None]
    assert rows.select("collective", "kind", "group", "group_size").row(0) == ("allreduce", "all-reduce", "0 [0, 1]", 2)


def test_a_recorded_group_stays_where_the_name_of_the_collective_comes_from_the_rccl_call() -> None:
    """The kernel at 12 ns was launched in the call from 10 to 20 ns, the one at 50 ns in none."""
    nameless = json.dumps({"Process Group Name": "tp", "Group size": 4})
    run = rank_run(0, [(12, 30), (50, 60)], texts=[nameless, nameless])
    (source,) = run.origins
    assert isinstance(source, MemorySource)
    source.tables["dispatches"] = source.tables["dispatches"].with_columns(thread=pl.lit(0))
    call = {"process": 0, "thread": 0, "domain": "RCCL", "name": "ncclAllReduce", "start_ns": 10, "end_ns": 20}
    source.tables["regions"] = pl.DataFrame([call])
    rows = collective_rows(run)
    assert rows.select("collective", "group", "group_size").rows() == [("ncclAllReduce", "tp", 4), (None, "tp", 4)]


def test_calls_of_another_size_are_others() -> None:
    """Rank 1 runs its two collectives on two streams, the other way round."""
    zero = rank_run(0, [(0, 50), (1, 60)], texts=[recorded(count=1), recorded(count=2)], host="n")
    one = rank_run(1, [(5, 60), (6, 50)], texts=[recorded(count=2), recorded(count=1)], host="n")
    assert sorted(pairs(met(zero, one))) == [(0, 6), (1, 5)]


def test_different_counts_on_one_clock_are_matched_by_time() -> None:
    """Rank 1 was recorded from its second call on."""
    zero, one = rank_run(0, [(0, 9), (10, 19), (20, 29)], host="n"), rank_run(1, [(12, 19), (21, 29)], host="n")
    rows = met(zero, one)
    assert pairs(rows) == [(10, 12), (20, 21)]
    assert rows.filter(pl.col("start_ns") == 0)["mismatch"].to_list() == ["counts"]


def test_different_counts_on_two_clocks_are_not_guessed() -> None:
    rows = met(rank_run(0, [(0, 9), (10, 19), (20, 29)]), rank_run(1, [(12, 19), (21, 29)]))
    assert rows["meeting"].null_count() == 5
    assert set(rows["mismatch"]) == {"counts"}


def test_calls_that_are_apart_on_one_clock_do_not_meet() -> None:
    far = 10_000_000
    rows = met(*(rank_run(n, [(n * far, n * far + 9)], host="n", name="ncclAllReduce") for n in (0, 1)))
    assert rows["mismatch"].to_list() == ["apart", "apart"]


def test_a_rank_counted_twice_counts_once() -> None:
    zero, one = rank_run(0, [(0, 9)], host="n"), rank_run(1, [(1, 9)], host="n")
    rows = met(zero, one, one)
    assert pairs(rows) == [(0, 1)]
    assert rows.filter(pl.col("meeting").is_null()).select("rank", "mismatch").rows() == [(1, "twice")]


def test_more_ranks_than_the_group_has_do_not_meet() -> None:
    rows = met(*(rank_run(n, [(0, 9)], host="n", texts=[recorded()]) for n in range(3)))
    assert rows["mismatch"].to_list() == ["crowd"] * 3


def test_a_rank_alone_and_point_to_point() -> None:
    assert met(rank_run(0, [(0, 9)]))["mismatch"].to_list() == ["alone"]
    texts = [recorded("send")]
    assert set(met(*(rank_run(n, [(0, 9)], texts=texts) for n in (0, 1)))["mismatch"]) == {"point to point"}


def test_clocks_are_fitted_from_ends() -> None:
    """Rank 1 is 10 s ahead and its ends are 3 ns late once; it starts later, which must not matter."""
    ahead = 10**10
    zero = rank_run(0, [(0, 100), (200, 300), (400, 500)])
    one = rank_run(1, [(ahead + 90, ahead + 100), (ahead + 250, ahead + 303), (ahead + 490, ahead + 500)])
    offsets = clock_offsets(met(zero, one))
    assert offsets.table.select("process", "offset_ns", "residual_ns", "meeting_count").rows() == [
        (0, 0, 0, 3),
        (0, -ahead, 0, 3),
    ]
    assert offsets.table["is_steady"].all()
    assert not offsets.is_one_clock


def test_a_clock_that_jumps_is_not_steady() -> None:
    zero = rank_run(0, [(n * 100, n * 100 + 50) for n in range(10)])
    jump = 5_000_000
    one = rank_run(1, [(n * 100 + jump * (n > 4), n * 100 + 50 + jump * (n > 4)) for n in range(10)])
    row = clock_offsets(met(zero, one)).table.row(1, named=True)
    assert not row["is_steady"]
    assert row["drift_ns"] == -jump


def test_clocks_through_a_third_rank() -> None:
    """Ranks 0 and 2 never meet; rank 1 meets both."""
    first, second = recorded(**{"Process Group Name": "a"}), recorded(**{"Process Group Name": "b"})
    zero = rank_run(0, [(0, 10), (20, 30)], texts=[first] * 2)
    one = rank_run(1, [(1000, 1010), (1020, 1030), (1040, 1050)], texts=[first, first, second])
    two = rank_run(2, [(90, 95)], texts=[second])
    offsets = dict(clock_offsets(met(zero, one, two)).table.select("part", "offset_ns").rows())
    assert offsets == {0: 1000, 1: 0, 2: 955}


def test_one_host_is_one_clock_and_a_stranger_has_no_offset() -> None:
    runs = [rank_run(n, [(n, 10 + n)], host="n") for n in (0, 1)]
    stranger = rank_run(2, [(0, 5)], name="allgather_other")
    table = clock_offsets(met(*runs, stranger)).table
    assert table["offset_ns"].to_list() == [0, 0, None]


def test_impossible_times_are_left_out() -> None:
    run = rank_run(0, [(5, 1), (-(1 << 63), (1 << 63) - 1), (1 << 62, (1 << 62) + 5), (0, 3)])
    assert collective_rows(run)["start_ns"].to_list() == [0]
    assert met(Run([]))["meeting"].to_list() == []


@together(
    "collective, kernel, kind",
    [
        ("_reduce_scatter_base", GENERIC, "reduce-scatter"),
        ("ncclAllReduce", GENERIC, "all-reduce"),
        ("reduce", GENERIC, "reduce"),
        (None, "ncclDevKernel_AllGather_RING_LL", "all-gather"),
        (None, "ncclDevKernel_SendRecv", None),
        (None, "vllm::cross_device_reduce_1stage", "all-reduce"),
        (None, GENERIC, None),
    ],
)
def test_kinds(collective: str | None, kernel: str, kind: str | None) -> None:
    assert pl.select(kind_of(pl.lit(collective, pl.String), pl.lit(kernel))).item() == kind
