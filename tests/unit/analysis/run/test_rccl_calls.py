"""RCCL calls with arguments, as ROCpd files have them: sizes, communicators, groups of calls."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.run.collectives.meetings import collective_rows
from wavewright.analysis.run.ranks.collective_times import collectives
from wavewright.model.run import MemorySource, Run

Call = tuple[str, int, int, dict[str, str]]


def rank_source(rank: int, calls: list[Call], launches: list[int]) -> MemorySource:
    """RCCL calls (name, begin, end, arguments), and kernels that a HIP call at these times launches."""
    regions: list[dict[str, Any]] = [
        {"domain": "RCCL", "name": name, "start_ns": begin, "end_ns": end, "event": number, "correlation": -1 - number}
        for number, (name, begin, end, _) in enumerate(calls)
    ]
    regions += [
        {
            "domain": "HIP",
            "name": "hipLaunchKernel",
            "start_ns": at,
            "end_ns": at + 1,
            "event": 100 + n,
            "correlation": n,
        }
        for n, at in enumerate(launches)
    ]
    arguments = [
        {"process": 0, "event": number, "name": name, "value": value}
        for number, call in enumerate(calls)
        for name, value in call[3].items()
    ]
    kernels = [
        {"process": 0, "agent": 0, "name": "ncclDevKernel_Generic", "correlation": n, "start_ns": 1000 * (n + 1) + rank}
        for n in range(len(launches))
    ]
    return MemorySource(
        f"rank{rank}.db",
        "made",
        tables={
            "nodes": pl.DataFrame({"node": [0], "hostname": ["n"]}),
            "processes": pl.DataFrame(
                {"process": [0], "source": [0], "node": [0], "pid": [7 + rank], "rank": [rank], "guid": [f"g{rank}"]}
            ),
            "regions": pl.DataFrame(regions).with_columns(process=pl.lit(0), thread=pl.lit(0)),
            "arguments": pl.DataFrame(arguments),
            "dispatches": pl.DataFrame(kernels).with_columns(
                end_ns=(pl.col("start_ns") // 1000) * 1000 + 500, thread=pl.lit(0)
            ),
        },
    )


INIT: Call = ("ncclCommInitRank", 0, 1, {"comm": "0x1", "nranks": "2", "rank": "0"})


def reduce(begin: int, end: int, count: str, datatype: str, *, name: str = "ncclAllReduce", comm: str = "0xa") -> Call:
    return (name, begin, end, {"count": count, "datatype": datatype, "op": "0", "comm": comm})


def test_sizes_from_arguments() -> None:
    gather: Call = ("ncclAllGather", 30, 40, {"sendcount": "10", "datatype": "ncclFloat16", "comm": "0xb"})
    calls = [INIT, reduce(10, 20, "100", "7"), gather, reduce(50, 60, "x", "ncclNoSuch")]
    rows = collective_rows(Run([rank_source(0, calls, [12, 32, 52, 90])]))
    assert rows.select("collective", "kind", "in_bytes", "out_bytes", "group", "group_size").rows() == [
        ("ncclAllReduce", "all-reduce", 400, 400, "communicator 0", 2),
        ("ncclAllGather", "all-gather", 20, 40, "communicator 1", 2),
        ("ncclAllReduce", "all-reduce", None, None, "communicator 0", 2),
        (None, None, None, None, None, None),
    ]


def test_calls_of_a_group_are_launched_at_its_end() -> None:
    group: list[Call] = [("ncclGroupStart", 10, 11, {}), reduce(12, 13, "5", "1"), reduce(14, 15, "7", "1")]
    group.append(("ncclGroupEnd", 16, 20, {}))
    mixed: list[Call] = [("ncclGroupStart", 30, 31, {}), reduce(32, 33, "5", "1")]
    mixed += [reduce(34, 35, "5", "1", name="ncclBroadcast"), ("ncclGroupEnd", 36, 40, {})]
    rows = collective_rows(Run([rank_source(0, [*group, *mixed], [17, 37])]))
    assert rows.select("collective", "in_bytes").rows() == [("ncclAllReduce", 12), (None, None)]
    several = collective_rows(Run([rank_source(0, group, [17, 18])]))
    assert several.select("collective", "in_bytes").rows() == [("ncclAllReduce", None)] * 2  # whose bytes is not known


def test_a_group_whose_start_was_not_recorded() -> None:
    calls: list[Call] = [("ncclGroupEnd", 1, 2, {}), reduce(10, 20, "3", "0")]
    assert collective_rows(Run([rank_source(0, calls, [12])]))["in_bytes"].to_list() == [3]


def test_bandwidth_of_two_ranks() -> None:
    calls = [INIT, reduce(10, 20, "1000", "7")]
    answer = collectives(Run([rank_source(rank, calls, [12]) for rank in (0, 1)]))
    row = answer.calls.row(0, named=True)
    assert (row["communication_ns"], row["size_bytes"], row["rank"]) == (499, 4000, 1)
    assert row["algorithm_bytes_per_second"] == 4000 / 499 * 1e9
    assert row["bus_bytes_per_second"] == row["algorithm_bytes_per_second"]  # 2 (n - 1) / n of two ranks
    assert answer.caveats == ()
