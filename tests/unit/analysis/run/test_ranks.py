"""Ranks: imbalance, stragglers and waiting, without comparing clocks of nodes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import polars as pl
import pytest

from synth import Workload, write_rocpd_ranks
from tests.kit.small_runs import small_run
from tests.kit.together import together
from wavewright.analysis.run.ranks.collective_times import collectives
from wavewright.analysis.run.ranks.ranks import Ranks, combine_ranks, partial_ranks, ranks
from wavewright.model.answer import to_builtins
from wavewright.model.run import MemorySource, Run
from wavewright.readers.run.inputs import open_run
from wavewright.words.run.collectives import collectives_report
from wavewright.words.run.ranks import ranks_report

Kernel = tuple[str, int, int]


def rank_source(
    rank: int, kernels: list[Kernel], *, pid: int = 1, clock: int = 0, host: str = "", properties: str | None = None
) -> MemorySource:
    """A rank, on a node with a clock of its own unless `host` is given; kernels by name, begin and length."""
    tables = {
        "nodes": pl.DataFrame({"node": [0], "hostname": [host or f"n{rank}"]}),
        "processes": pl.DataFrame(
            {"process": [0], "source": [0], "node": [0], "pid": [pid], "rank": [rank], "guid": [f"g{rank}"]}
        ),
        "agents": pl.DataFrame({"agent": [0], "process": [0], "kind": ["GPU"], "type_index": [0]}),
        "dispatches": pl.DataFrame(
            [
                {"process": 0, "agent": 0, "name": name, "start_ns": clock + begin, "end_ns": clock + begin + length}
                for name, begin, length in kernels
            ]
        ).with_columns(properties=pl.lit(properties, pl.String)),
    }
    return MemorySource(f"rank{rank}.db", "made", tables=tables)


def uneven() -> Run:
    """Rank 1 computes twice as long as the others and arrives last at both collectives."""
    return Run(
        [
            rank_source(0, [("gemm", 0, 100), ("ncclAllReduce", 100, 150), ("ncclAllReduce", 300, 60)]),
            rank_source(1, [("gemm", 0, 200), ("ncclAllReduce", 200, 50), ("ncclAllReduce", 310, 50)], clock=10**15),
            rank_source(2, [("gemm", 0, 100), ("ncclAllReduce", 100, 150), ("ncclAllReduce", 300, 60)], clock=-(10**9)),
        ]
    )


def test_collectives_at_the_same_time_count_once() -> None:
    answer = ranks(Run([rank_source(0, [("gemm", 0, 10), ("ncclAllReduce", 10, 50), ("ncclAllGather", 40, 30)])]))
    assert answer.processes.select("compute_ns", "collective_ns").rows() == [(10, 60)]


def test_who_computes_longer() -> None:
    answer = ranks(uneven())
    assert answer.processes.select("rank", "compute_ns", "collective_ns", "wall_ns").rows() == [
        (0, 100, 210, 360),
        (1, 200, 100, 360),
        (2, 100, 210, 360),
    ]
    assert answer.imbalance == pytest.approx(1.5)
    assert answer.cost_ns == pytest.approx(200 - 400 / 3)
    assert answer.processes["deviation"].to_list() == pytest.approx([-0.25, 0.5, -0.25])
    gemm = answer.kernels.row(by_predicate=pl.col("name") == "gemm", named=True)
    assert (gemm["rank"], gemm["max_ns"], gemm["process_count"]) == (1, 200, 3)
    assert gemm["imbalance"] == pytest.approx(1.5)


def test_who_waits_for_whom() -> None:
    answer = ranks(uneven())
    row = answer.collectives.row(0, named=True)
    assert (row["spread_ns"], row["calls"], row["rank"], row["last_count"]) == (110, 2, 1, 2)
    assert row["excess_ns"] == pytest.approx(150 - 350 / 3 + 60 - 170 / 3)
    assert row["is_complete"]
    assert answer.processes.select("waited_ns", "last_count").rows() == [(110, 0), (0, 2), (110, 0)]
    assert answer.waited_ns == 220


BROADCAST = '{"Collective name": "broadcast", "Process Group Ranks": "[0, 1]"}'


def test_the_root_of_a_broadcast_leaves_early_and_is_not_last() -> None:
    """Rank 0 sends in 10 ns and goes on; rank 1 comes 30 ns later and takes 100."""
    on = {"properties": BROADCAST, "host": "n"}
    sources = [rank_source(0, [("nccl", 0, 10)], **on), rank_source(1, [("nccl", 30, 100)], **on)]
    row = ranks(Run(sources)).collectives.row(0, named=True)
    assert (row["collective"], row["group"], row["rule"]) == ("broadcast", "[0, 1]", "start")
    assert (row["rank"], row["last_count"]) == (1, 1)
    assert row["spread_ns"] == 10  # rank 0 cannot wait longer than its call took


def test_who_is_last_at_a_broadcast_of_two_nodes_is_not_known() -> None:
    sources = [rank_source(n, [("nccl", 0, 10 + 90 * n)], properties=BROADCAST) for n in (0, 1)]
    answer = ranks(Run(sources))
    row = answer.collectives.row(0, named=True)
    assert (row["rule"], row["rank"], row["last_count"], row["spread_ns"]) == ("unknown", None, 0, 0)
    assert answer.waited_ns == 0
    assert list(ranks_report(answer))


def test_collectives_of_other_groups_are_others() -> None:
    groups = [BROADCAST.replace("[0, 1]", text) for text in ("[0, 1]", "[2, 3]")]
    sources = [rank_source(n, [("nccl", 100 * n, 10)], properties=groups[n // 2], host="n") for n in range(4)]
    found = ranks(Run(sources)).collectives.select("group", "process_count", "rank").sort("group").rows()
    assert found == [("[0, 1]", 2, 1), ("[2, 3]", 2, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_waiting_is_what_a_simulated_run_says(tmp_path: Path, threads: int) -> None:
    """Also where two threads have collectives at the same time, which ranks start in another order."""
    work = {"dispatches": 2000, "ranks": 4, "nodes": 2, "imbalance": 0.3, "threads": threads, "streams": 4}
    workload = Workload(**work, clock_offset_ns=10**12)
    run = write_rocpd_ranks(tmp_path, workload)
    answer = ranks(open_run(tmp_path))
    waits = collectives(open_run(tmp_path)).arrivals.group_by("rank").agg(pl.col("wait_ns").sum()).sort("rank")
    truth = [rank.collective_wait_ns for rank in run.ranks]
    assert waits["wait_ns"].to_list() == truth
    once = answer.processes["waited_ns"].to_list()  # of two threads that wait at the same time, once
    assert (
        once == truth if threads == 1 else all(most / 2 < wait <= most for wait, most in zip(once, truth, strict=True))
    )
    assert answer.collectives["rank"].item() == 3
    assert answer.collectives.select("collective", "rule").row(0) == ("ncclAllReduce", "aligned")
    assert answer.imbalance == pytest.approx(1.3 / 1.15, rel=0.03)


def test_collectives_that_were_called_differently_often() -> None:
    parts = [rank_source(0, [("rccl", 0, 9), ("rccl", 10, 9)]), rank_source(1, [("rccl", 0, 5)])]
    answer = ranks(Run(parts))
    assert answer.collectives.select("calls", "is_complete", "spread_ns").rows() == [(0, False, 0)]
    assert [caveat.name for caveat in answer.caveats] == ["collectives_counts", "clocks"]
    assert answer.waited_ns == 0


def test_busy_time_is_merged() -> None:
    answer = ranks(Run([rank_source(0, [("a", 0, 10), ("b", 5, 10), ("c", 25, 5)])]))
    assert answer.processes.select("wall_ns", "busy_share").rows() == [(30, 20 / 30)]


def test_equal_pids_stay_apart() -> None:
    assert ranks(uneven()).processes["pid"].to_list() == [1, 1, 1]


def test_order_does_not_matter() -> None:
    parts = [partial_ranks(part) for part in uneven().parts]
    told = {msgspec.json.encode(to_builtins(combine_ranks(order))) for order in (parts, parts[::-1])}
    assert len(told) == 1


@together("run", [Run([]), Run([MemorySource("empty", "made")]), small_run(), uneven()])
def test_declared_columns(run: Run) -> None:
    answer = ranks(run)
    for name, spec in Ranks.tables.items():
        assert dict(getattr(answer, name).schema) == spec.dtypes, name
    assert list(ranks_report(answer))


def test_the_verdict() -> None:
    first, second, *_ = (getattr(part, "text", "") for part in ranks_report(ranks(uneven())))
    assert first == (  # it costs more than what the second line says
        "in collectives a process waits 73 ns on average for those that arrive later; "
        "rank 1 on n1 arrives last in 2 of 2 calls"
    )
    assert second.endswith("longest, 200 ns: 50.0 % more than the mean of 3 processes, which costs 67 ns")
    even = ranks(Run([rank_source(rank, [("gemm", 0, 100)]) for rank in range(3)]))
    assert next(iter(ranks_report(even))).text.startswith("the work is even over 3 processes")
    one = ranks(Run([rank_source(0, [("gemm", 0, 100)])]))
    assert "nothing to compare" in str(next(iter(ranks_report(one))))


def test_ranks_with_other_kernels_are_not_compared() -> None:
    """Two stages of a pipeline: that the second computes longer is its design, that rank 3 does is not."""
    stages = [("embed", 100), ("embed", 100), ("head", 500), ("head", 700)]
    answer = ranks(Run([rank_source(rank, [(name, 0, ns)]) for rank, (name, ns) in enumerate(stages)]))
    assert answer.processes["peers"].to_list() == [0, 0, 2, 2]
    assert answer.processes["deviation"].to_list() == pytest.approx([0, 0, -1 / 6, 1 / 6])
    assert answer.cost_ns == pytest.approx(100)
    assert "2 processes with the same kernels" in str(next(iter(ranks_report(answer))))
    alone = ranks(Run([rank_source(rank, [(f"k{rank}", 0, 9)]) for rank in (0, 1)]))
    assert alone.imbalance is None
    assert "other kernels" in str(next(iter(ranks_report(alone))))


def test_a_file_given_twice_counts_once() -> None:
    parts = [partial_ranks(part) for part in uneven().parts]
    once, twice = combine_ranks(parts), combine_ranks([*parts, parts[1]])
    assert twice.processes.equals(once.processes)
    assert twice.kernels.equals(once.kernels)
    assert "collectives_twice" in [caveat.name for caveat in twice.caveats]


def test_a_table_of_ranks_is_whole_unless_fewer_are_asked_for() -> None:
    answer = ranks(Run([rank_source(rank, [("gemm", 0, 100)]) for rank in range(24)]))
    whole, part = (
        next(block for block in ranks_report(answer, limit=limit) if hasattr(block, "heading")) for limit in (20, 3)
    )
    assert "24 processes" in whole.heading
    assert "showing" not in whole.heading
    assert len(whole.rows) == 24
    assert "24 processes" in part.heading
    assert "showing 3" in part.heading
    assert len(part.rows) == 3


def test_a_wait_is_the_same_in_both_verbs_and_never_more_than_the_communication() -> None:
    """Rank 0 waits in two collectives of two streams at once: 150 ns, not 300, in 160 of communication."""
    early = [("gemm", 0, 100), ("ncclAllReduce", 100, 160), ("ncclAllGather", 100, 160)]
    late = [("gemm", 0, 250), ("ncclAllReduce", 250, 10), ("ncclAllGather", 250, 10)]
    run = Run([rank_source(0, early, host="n"), rank_source(1, late, host="n")])
    of_ranks, of_collectives = ranks(run), collectives(run)
    assert of_ranks.processes["waited_ns"].to_list() == of_collectives.processes["wait_ns"].to_list() == [150, 0]
    first, second = (str(next(iter(blocks))) for blocks in (ranks_report(of_ranks), collectives_report(of_collectives)))
    assert "75 ns" in first
    assert "75 ns" in second


def test_a_rank_that_had_more_of_nothing_has_no_cause() -> None:
    """Rank 1 begins 50 us later and does the same: the record does not tell why, and says so."""
    parts = [
        rank_source(0, [("gemm", 0, 100), ("ncclAllReduce", 100, 50_050)], host="n"),
        rank_source(1, [("gemm", 50_000, 100), ("ncclAllReduce", 50_100, 50)], host="n"),
    ]
    answer = collectives(Run(parts))
    assert answer.stragglers.select("rank", "late_ns", "communication_ns", "cause").rows() == [
        (1, 50_000, 0, "unknown")
    ]
    assert answer.causes.select("cause", "cause_share").rows() == [("unknown", None)]


def test_collectives_of_one_rank_have_their_own_times() -> None:
    answer = collectives(Run([rank_source(0, [("gemm", 0, 10), ("ncclAllReduce", 10, 30), ("ncclAllReduce", 50, 20)])]))
    columns = ("calls", "process_count", "communication_ns", "unmatched_count", "wait_ns")
    assert answer.collectives.select(columns).rows() == [(2, 1, 50, 2, None)]
    assert answer.processes.select("total_ns", "wait_ns").rows() == [(50, None)]
    assert "2 calls of collectives take 50 ns, waiting for other ranks included" in str(
        next(iter(collectives_report(answer)))
    )
