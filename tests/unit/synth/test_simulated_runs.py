"""The simulator of runs against times computed by hand, and its files against its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from synth.runs import (
    CAUSES,
    Allocate,
    Call,
    Collective,
    Copy,
    Free,
    Graph,
    Host,
    Launch,
    Machine,
    Operation,
    Program,
    Range,
    Rank,
    Record,
    SimulatedRun,
    Synchronise,
    Wait,
    planted,
    scaled,
    simulate,
    straggler_of,
    write_csv,
    write_kineto,
    write_rocpd,
    write_rpd,
)
from synth.runs.places import EPOCH_NS
from tests.kit.sampling import every_third
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wavewright.model.run import Run


def one_rank(*ops: Operation, gap: int = 0) -> SimulatedRun:
    return simulate(Program((Rank((ops,)),), Machine(kernel_gap_ns=gap)))


def times(run: SimulatedRun) -> list[tuple[str, int, int]]:
    return [(work.name, work.start_ns, work.end_ns) for work in run.works]


def calls(run: SimulatedRun, rank: int = 0) -> list[tuple[str, int, int]]:
    return [(region.name, region.start_ns, region.end_ns) for region in run.regions if region.rank == rank]


def test_kernels_of_an_empty_stream_start_by_their_launch_and_those_of_a_full_one_one_after_another() -> None:
    run = one_rank(
        Launch("a", 100, call_ns=10, lag_ns=15), Launch("b", 50, call_ns=10, lag_ns=15),
        Host(500), Launch("c", 5, call_ns=10, lag_ns=15), gap=3,
    )  # fmt: skip
    assert times(run) == [("a", 15, 115), ("b", 118, 168), ("c", 535, 540)]
    assert calls(run) == [("hipLaunchKernel", 0, 10), ("hipLaunchKernel", 10, 20), ("hipLaunchKernel", 520, 530)]
    assert run.span_ns == 540


def test_synchronisation_returns_after_the_awaited_work() -> None:
    launches = (Launch("a", 100, stream=1, call_ns=10, lag_ns=15), Launch("b", 900, stream=2, call_ns=10, lag_ns=15))
    stream = one_rank(*launches, Synchronise(stream=1, call_ns=2, return_ns=7))
    assert calls(stream)[-1] == ("hipStreamSynchronize", 20, 122)
    device = one_rank(*launches, Synchronise(call_ns=2, return_ns=7))
    assert calls(device)[-1] == ("hipDeviceSynchronize", 20, 932)
    late = one_rank(*launches, Host(5000), Synchronise(call_ns=2, return_ns=7))
    assert calls(late)[-1] == ("hipDeviceSynchronize", 5020, 5022)


def test_event_links_streams_and_the_host() -> None:
    run = one_rank(
        Launch("a", 100, stream=1, call_ns=10, lag_ns=15),
        Record("e", stream=1, call_ns=1),
        Wait("e", stream=2, call_ns=1),
        Wait("never", stream=2, call_ns=1),
        Launch("c", 300, stream=1, call_ns=10, lag_ns=15),
        Launch("b", 50, stream=2, call_ns=10, lag_ns=15),
        Synchronise(event="e", call_ns=2, return_ns=7),
    )
    assert times(run) == [("a", 15, 115), ("b", 115, 165), ("c", 115, 415)]
    assert calls(run)[-1] == ("hipEventSynchronize", 33, 122)


def test_blocking_copy_graph_and_free() -> None:
    run = one_rank(
        Allocate("x", 4096, call_ns=30),
        Copy("HtoD", 64, 20, is_blocking=True, call_ns=5, lag_ns=8, return_ns=4),
        Graph((("a", 10), ("b", 20)), call_ns=6, lag_ns=9),
        Free("x", call_ns=40),
        gap=2,
    )
    assert calls(run) == [("hipMalloc", 0, 30), ("hipMemcpyWithStream", 30, 62), ("hipGraphLaunch", 62, 68),
                          ("hipFree", 68, 143)]  # fmt: skip
    assert times(run) == [("HtoD", 38, 58), ("a", 71, 81), ("b", 83, 103)]
    assert [(row.is_release, row.size_bytes, row.end_ns) for row in run.memory] == [(False, 4096, 30), (True, 0, 143)]
    assert run.memory[0].address == run.memory[1].address


def meeting_program(shift_ns: int = 0) -> Program:
    def rank(number: int, duration: int) -> Rank:
        body = (
            Launch("work", duration, call_ns=10, lag_ns=15),
            Record("e", call_ns=1),
            Wait("e", stream=1, call_ns=1),
            Collective("allreduce", 2000, call_ns=16, lag_ns=5),
            Synchronise(call_ns=2, return_ns=7),
        )
        return Rank(((Range("ProfilerStep#0", body),),), node=number % 2)

    ranks = (rank(0, 100), rank(1, 400), rank(2, 150))
    return Program(ranks, Machine(bus_bytes_per_ns=10, collective_latency_ns=30), (0, shift_ns))


def test_collectives_end_together_after_the_last_arrival() -> None:
    run = simulate(meeting_program())
    (meeting,) = run.meetings
    service = 30 + 2 * 2000 * 2 // (3 * 10)
    assert meeting.starts_ns == {0: 115, 1: 415, 2: 165}
    assert meeting.end_ns == 415 + service
    assert meeting.last_rank == 1
    assert meeting.waits_ns == {0: 300, 1: 0, 2: 250}
    assert [run.steps_ns(rank) for rank in range(3)] == [[415 + service + 7]] * 3
    assert calls(run)[4][0] == "ncclAllReduce"
    assert simulate(scaled(meeting_program(), "work", 50, frozenset({1}))).span_ns == run.span_ns - 200


def test_ranks_that_wait_for_ever_are_refused() -> None:
    body = (Collective("allreduce", 8), Synchronise())
    missing = Program((Rank((body,)), Rank(((*body, *body),))))
    with pytest.raises(ValueError, match="for ever"):
        simulate(missing)


def test_threads_run_beside_each_other() -> None:
    loads = (Host(100, "load"), Launch("a", 50, call_ns=10, lag_ns=15))
    works = (Call("hipSetDevice", 20), Launch("b", 30, stream=2, call_ns=10, lag_ns=15))
    program = Program((Rank((loads, works)),))
    assert times(simulate(program)) == [("b", 35, 65), ("a", 115, 165)]


WRITERS: dict[str, Callable[[SimulatedRun, Path], list[Path]]] = {"rocpd": write_rocpd, "kineto": write_kineto}


def open_folder(folder: Path) -> Run:
    return open_run(folder)


@pytest.mark.first_case
@pytest.mark.parametrize("form", WRITERS)
def test_files_have_the_events(tmp_path: Path, form: str) -> None:
    run = simulate(meeting_program(shift_ns=1_000_003))
    WRITERS[form](run, tmp_path)
    read = open_folder(tmp_path)
    processes = dict(read.table("processes").select("process", "rank").iter_rows())
    base = EPOCH_NS + (1_751_410_836_000_000_000 if form == "kineto" else 0)
    shifts = {0: base, 1: base + 1_000_003, 2: base}
    dispatches = read.table("dispatches").select("process", pl.col("name").cast(pl.String), "start_ns", "end_ns")
    rows = sorted(
        (processes[p], n, s - shifts[processes[p]], e - shifts[processes[p]]) for p, n, s, e in dispatches.rows()
    )
    assert rows == sorted((work.rank, work.name, work.start_ns, work.end_ns) for work in run.works)
    regions = read.table("regions").with_columns(pl.col("domain", "name").cast(pl.String))
    hip = regions.filter(pl.col("domain") == "HIP")
    assert hip.height == sum(region.domain == "HIP" for region in run.regions)
    launched = read.table("dispatches").join(hip, on=["process", "correlation"])
    assert launched.height == dispatches.height
    assert set(launched["name_right"]) == {"hipLaunchKernel", "hipExtLaunchKernel"}
    steps = regions.filter(pl.col("name") == "ProfilerStep#0")
    assert sorted(steps["end_ns"] - steps["start_ns"]) == sorted(run.steps_ns(rank)[0] for rank in range(3))


def test_rocpd_has_the_arguments_of_waits(tmp_path: Path) -> None:
    write_rocpd(simulate(meeting_program()), tmp_path)
    arguments = open_folder(tmp_path).table("arguments").filter(pl.col("process") == 0)
    names = arguments.select(pl.col("name").cast(pl.String)).to_series()
    events = arguments.filter(names == "event")["value"]
    assert events.len() == 2  # hipEventRecord, hipStreamWaitEvent
    assert events.n_unique() == 1
    assert set(arguments.filter(names == "stream")["value"]) == {"0x0", "0x55d000000100"}
    assert arguments.filter(names == "count")["value"].to_list() == ["500"]


def test_csv_has_kernels_without_calls(tmp_path: Path) -> None:
    run = simulate(meeting_program())
    write_csv(run, tmp_path)
    read = open_run(tmp_path)
    assert read.table("dispatches").height == len(run.works)
    assert read.table("regions").height == 0


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("seed", every_third([1, 4]))
def test_planted_cause_costs_time_and_twins_are_healthy(cause: str, seed: int) -> None:
    program, twin = planted(cause, seed)
    run, healthy = simulate(program), simulate(twin)
    gain = run.span_ns - healthy.span_ns
    assert 0.06 < gain / run.span_ns < 0.3
    assert planted(cause, seed).program == program
    for rank in range(8):
        steps = [region for region in healthy.regions if region.rank == rank and "ProfilerStep" in region.name]
        start = sorted(steps, key=lambda region: region.start_ns)[1].start_ns
        assert healthy.busy_ns(rank, start) >= 0.95 * (healthy.end_ns - start)
        assert len([work for work in run.works if work.rank == rank]) < 2_000
        # Only the first step is free of the cause.
        assert run.steps_ns(rank)[0] < min(run.steps_ns(rank)[2:])
    lasts = [meeting.last_rank for meeting in run.meetings[3:]]
    assert (lasts.count(straggler_of(seed)) == len(lasts)) == (cause == "straggler")


def test_rpd_has_the_events_of_all_ranks(tmp_path: Path) -> None:
    run = simulate(meeting_program())
    write_rpd(run, tmp_path)
    read = open_folder(tmp_path)
    dispatches = read.table("dispatches")
    assert sorted(dispatches["start_ns"] - EPOCH_NS) == sorted(work.start_ns for work in run.works)
    calls = read.table("regions").filter(pl.col("domain").cast(pl.String).is_in(["HIP", "RCCL"]))
    assert calls.height == sum(region.domain in ("HIP", "RCCL") for region in run.regions)
    assert dispatches.join(calls, on=["process", "correlation"]).height == dispatches.height
