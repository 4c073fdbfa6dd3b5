"""The critical path next to what does not set the time: helper threads, clocks that differ, streams that are quiet.

Truth is the same program without the disturbance: what set its time set that of the disturbed run too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from synth.runs import (
    Call,
    Collective,
    Copy,
    Host,
    Launch,
    Operation,
    Program,
    Range,
    Rank,
    Record,
    Synchronise,
    Wait,
    gpu_clock_shifted,
    rank_missing,
    scaled,
    simulate,
)
from tests.kit.made_runs import run as made_run
from tests.kit.planted_runs import FORMS, opened
from tests.kit.sampling import every_third
from wavewright.analysis.run.graph import event_graph
from wavewright.analysis.run.graph.path import CriticalPath, critical_path, path_of
from wavewright.analysis.run.graph.scenarios import what_if
from wavewright.errors import UsageError
from wavewright.readers.run.inputs import open_run
from wavewright.words.run.path import path_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from synth.runs import SimulatedRun

Thread = tuple[Operation, ...]
STEPS = 6
GEMM_NS, NORM_NS, HOST_NS, LAG_NS = 400_000, 150_000, 300_000, 7_000


def step(number: int, wait: Sequence[Operation] = (Synchronise(),)) -> Range:
    body = (
        Host(HOST_NS, "prepare"),
        Launch("gemm", GEMM_NS),
        Launch("beside", 100_000, stream=1),
        Launch("norm", NORM_NS),
        *wait,
        Host(50_000, "log"),
    )
    return Range(f"ProfilerStep#{number}", body)


def steps(wait: Sequence[Operation] = (Synchronise(),)) -> Thread:
    return tuple(step(number, wait) for number in range(STEPS))


def one_rank(*threads: Thread) -> Program:
    return Program((Rank(threads),))


#: A step takes 300 + 7 + 400 + 150 + 5 + 50 us.
PLAIN = one_rank(steps())
WATCHDOG: Thread = (Host(20_000), *(op for _ in range(9) for op in (Call("hipEventDestroy", 27_000), Host(900_000))))
POLLER: Thread = tuple(op for _ in range(120) for op in (Call("hipEventQuery", 1_500), Host(48_500)))
#: It is ready whenever the main thread goes on, and makes calls, but launches nothing.
LOADER: Thread = tuple(
    op
    for _ in range(STEPS)
    for op in (Host(290_000), Call("hipHostMalloc", 8_000), Host(606_000), Call("hipFree", 2_000))
)
HELPERS = {"watchdog": WATCHDOG, "poller": POLLER, "data loader": LOADER}


def times(path: CriticalPath) -> dict[str, int]:
    """Time on the path by class; what is before and after all is not part of it."""
    return dict.fromkeys(("host", "launch", "kernels", "idle", "communication"), 0) | {
        name: ns for name, ns in path.classes.select("class", "path_ns").rows() if name != "unknown"
    }


def checked(run: SimulatedRun, path: CriticalPath) -> CriticalPath:
    """Segments cover the span; none is idle while the GPU works; idle time is no more than there is."""
    segments = path.segments
    assert segments["start_ns"][1:].to_list() == segments["end_ns"][:-1].to_list()
    assert (segments["end_ns"] - segments["start_ns"]).sum() == path.groups["span_ns"].sum()
    assert segments.filter(pl.col("class").cast(pl.String).is_in(["idle", "unknown"]))["gpu_busy_ns"].sum() == 0
    idle = times(path)["idle"]
    assert idle <= max(run.span_ns - run.busy_ns(rank) for rank in range(len(run.program.ranks)))
    return path


def path_in(run: SimulatedRun, folder: Path, form: str) -> CriticalPath:
    return checked(run, critical_path(opened(run, folder, form)))


@pytest.mark.some_cases(3)
@pytest.mark.parametrize("form", ["kineto", "rocpd", "rpd"])
@pytest.mark.parametrize("helper", HELPERS)
def test_helper_threads_are_not_on_the_path(tmp_path: Path, helper: str, form: str) -> None:
    run, twin = simulate(one_rank(steps(), HELPERS[helper])), simulate(PLAIN)
    path, without = path_in(run, tmp_path / "run", form), path_in(twin, tmp_path / "twin", form)
    assert times(path) == times(without)
    assert times(path)["kernels"] == STEPS * (GEMM_NS + NORM_NS)
    assert path.segments["tid"].drop_nulls().n_unique() == 1
    tail = path.groups["span_ns"][0] - twin.span_ns
    assert path.classes.filter(pl.col("class") == "unknown")["path_ns"].sum() == tail
    graph = event_graph(opened(run, tmp_path / "again", form))
    ((prediction,),) = (scenario.predictions for scenario in what_if(graph, ("kernel=gemm:-50%",)))
    faster = simulate(scaled(PLAIN, "gemm", 50))
    assert prediction.gain_ns_min <= twin.span_ns - faster.span_ns <= prediction.gain_ns_max
    assert prediction.gain_ns_max <= 1.01 * (twin.span_ns - faster.span_ns)


@pytest.mark.some_cases(3)
@pytest.mark.parametrize("form", ["kineto", "rocpd"])
@pytest.mark.parametrize("skew_us", every_third([-50, -20, -1, 1, 7, 20, 50]))
@pytest.mark.parametrize("program", [PLAIN, one_rank(steps((Synchronise(stream=0),)))], ids=["GPU", "stream"])
def test_clocks_may_differ(tmp_path: Path, program: Program, skew_us: int, form: str) -> None:
    twin = simulate(program)
    run = gpu_clock_shifted(twin, 1000 * skew_us)
    path, without = path_in(run, tmp_path / "run", form), path_in(twin, tmp_path / "twin", form)
    moved = STEPS * 1000 * abs(skew_us)  # between launch, work and return, in every step
    for name, ns in times(path).items():
        assert abs(ns - times(without)[name]) <= moved, name
    lags = {"launch": -LAG_NS - 1000 * skew_us, "return": 1000 * skew_us - 5_000}
    assert path.groups["tolerance_ns"].to_list() == [max(0, *lags.values())]
    assert without.groups["tolerance_ns"].to_list() == [0]
    (scenario,) = what_if(event_graph(opened(run, tmp_path / "again", form)), ("kernel=gemm:-50%",))
    gain = twin.span_ns - simulate(scaled(program, "gemm", 50)).span_ns
    (prediction,) = scenario.predictions
    assert prediction.gain_ns_min - moved <= gain <= prediction.gain_ns_max + moved


POLLED_NS = (2_000, 40_000)  #: A query, and the code until the next one.


@pytest.mark.parametrize("form", ["kineto", "rocpd"])
def test_a_thread_that_polls_waits_for_the_work(tmp_path: Path, form: str) -> None:
    until = GEMM_NS + NORM_NS + LAG_NS  # launched 12 us before; the next query sees the end
    queries = [
        op
        for _ in range(until // sum(POLLED_NS) + 1)
        for op in (Call("hipEventQuery", POLLED_NS[0]), Host(POLLED_NS[1]))
    ]
    poll = (*queries[:-1], Call("hipSetDevice", 1_000))
    run = simulate(one_rank(steps(poll)))
    path = path_in(run, tmp_path / "run", form)
    assert times(path)["kernels"] == STEPS * (GEMM_NS + NORM_NS)
    # Without work that ends meanwhile, queries are calls of the host.
    idle = one_rank(tuple(op for _ in range(STEPS) for op in (Launch("gemm", 5_000), Host(100_000), *poll)))
    assert times(path_in(simulate(idle), tmp_path / "idle", form))["kernels"] <= 5_000


def turns(stream: int, kernel_ns: int) -> Program:
    """A thread that is quiet while another one launches, and goes on when that one is done."""
    other = (Host(400_000), *(Launch("backward", kernel_ns, stream=stream) for _ in range(8)))
    main = (*(Launch("forward", 30_000) for _ in range(8)), Host(700_000), Launch("update", 100_000), Synchronise())
    return one_rank(main, other)


@pytest.mark.parametrize("form", ["kineto", "rocpd"])
def test_threads_hand_over_where_they_feed_one_stream(tmp_path: Path, form: str) -> None:
    path, twin = (path_in(simulate(turns(stream, 5_000)), tmp_path / str(stream), form) for stream in (0, 3))
    assert path.segments["tid"].drop_nulls().n_unique() == 2
    assert path.segments.filter(pl.col("what").cast(pl.String) == "another thread")["is_inferred"].all()
    assert twin.segments["tid"].drop_nulls().n_unique() == 1


@pytest.mark.parametrize("form", ["kineto", "rocpd"])
def test_the_host_may_run_ahead(tmp_path: Path, form: str) -> None:
    ahead = one_rank((*(Launch("gemm", 200_000) for _ in range(30)), Host(400_000), Synchronise()))
    path = path_in(simulate(ahead), tmp_path / "ahead", form)
    assert times(path)["kernels"] == 30 * 200_000
    behind = one_rank((*(op for _ in range(30) for op in (Launch("gemm", 20_000), Host(200_000))), Synchronise()))
    assert times(path_in(simulate(behind), tmp_path / "behind", form))["kernels"] <= 20_000


def two_streams(*, is_awaited: bool) -> Program:
    """A stream that is quiet for long while another one works; with an event, its last work waits for that one."""
    wait = (Record("done", 1), Wait("done", 0)) if is_awaited else ()
    work = tuple(Launch("gemm", 500_000, stream=1) for _ in range(8))
    return one_rank((Launch("first", 10_000), *work, *wait, Launch("last", 10_000), Synchronise()))


@pytest.mark.parametrize("form", ["kineto", "rocpd"])
def test_work_of_another_stream_is_never_idle_time(tmp_path: Path, form: str) -> None:
    path = path_in(simulate(two_streams(is_awaited=True)), tmp_path / "awaited", form)
    assert times(path)["kernels"] >= 8 * 500_000
    assert times(path)["idle"] <= 20_000
    path = path_in(simulate(two_streams(is_awaited=False)), tmp_path / "beside", form)
    assert times(path)["kernels"] >= 8 * 500_000


def gpu_only(run: SimulatedRun, folder: Path) -> CriticalPath:
    """The path of a run of which only kernels were recorded."""
    FORMS["csv"](run, folder)
    for file in folder.rglob("*.csv"):
        if "hip_api" in file.name or "marker" in file.name or "rccl" in file.name:
            file.unlink()
    return checked(run, path_of(event_graph(open_run(folder))))


def test_without_launches_the_record_does_not_tell(tmp_path: Path) -> None:
    rare = simulate(one_rank(tuple(op for _ in range(9) for op in (Launch("gemm", 50_000), Host(400_000)))))
    path = gpu_only(rare, tmp_path / "rare")
    (group,) = path.groups.to_dicts()
    assert group["span_ns"] - times(path)["idle"] == group["gpu_busy_ns"] == rare.busy_ns(0)
    assert group["explained_share"] < 0.5
    assert path_verdict(group, path.classes, is_only=True).startswith("the record does not tell")
    assert "rocprofv3 --runtime-trace" in path.advice
    with pytest.raises(UsageError, match=r"a prediction needs 50\.0 %"):
        what_if(event_graph(open_run(tmp_path / "rare")), ("kernel=gemm:-50%",))
    with pytest.raises(UsageError, match="no calls are recorded"):
        what_if(event_graph(open_run(tmp_path / "rare")), ("host=-50%",))
    full = simulate(one_rank(tuple(Launch("gemm", 50_000) for _ in range(9))))
    assert gpu_only(full, tmp_path / "full").groups["explained_share"].to_list() == [1.0]
    recorded = path_in(rare, tmp_path / "recorded", "kineto")
    assert recorded.groups["explained_share"].to_list() > [0.9]


@pytest.mark.parametrize("form", ["kineto", "rocpd"])
def test_waits_for_work_that_is_not_recorded_are_unknown(tmp_path: Path, form: str) -> None:
    run = simulate(PLAIN)
    path = critical_path(opened(replace(run, works=[]), tmp_path, form))
    waits = STEPS * (GEMM_NS + NORM_NS)
    unknown = path.classes.filter(pl.col("class") == "unknown")["path_ns"].sum()
    assert 0.95 * waits <= unknown <= waits
    assert path.unexplained_groups == [0]
    assert "record the work of the GPU" in path.advice


@pytest.mark.slow
@pytest.mark.parametrize("form", ["kineto", "rocpd"])
def test_missing_ranks_make_communication_a_guess(tmp_path: Path, form: str) -> None:
    init = Call("ncclCommInitRank", 9_000, (("int", "nranks", "4"),), "RCCL")
    ranks = tuple(
        Rank(((init, *(
            op for _ in range(5)
            for op in (Launch("gemm", 100_000 + 600_000 * (rank == 3)), Record("g"), Wait("g", 1),
                       Collective("allreduce", 4_000_000), Synchronise())
        )),))
        for rank in range(4)
    )  # fmt: skip
    run = simulate(Program(ranks))
    path = path_in(run, tmp_path / "run", form)
    assert not any("not in this record" in caveat for caveat in path.caveats)
    assert path.groups["explained_share"].to_list() > [0.9]
    rank_missing(tmp_path / "run")
    without = critical_path(open_run(tmp_path / "run"))
    assert any("not in this record" in caveat for caveat in without.caveats)
    of_talk = without.classes.filter(pl.col("class") == "communication").row(0, named=True)
    assert of_talk["inferred_ns"] == of_talk["path_ns"] >= 5 * 600_000
    assert without.groups["explained_share"].to_list() < [0.5]


@pytest.mark.parametrize("form", ["kineto", "rocpd"])
def test_a_loader_that_copies_is_a_thread_of_its_own(tmp_path: Path, form: str) -> None:
    loader = tuple(op for _ in range(STEPS) for op in (Host(870_000), Copy("HtoD", 4096, 20_000, stream=5)))
    path = path_in(simulate(one_rank(steps(), loader)), tmp_path / "run", form)
    twin = path_in(simulate(PLAIN), tmp_path / "twin", form)
    assert path.segments["tid"].drop_nulls().n_unique() == 1
    assert abs(times(path)["kernels"] - times(twin)["kernels"]) <= STEPS * 20_000


def test_stream_0_of_two_gpus_is_two_streams() -> None:
    """A kernel of GPU 1 that ends between two of GPU 0 delays none of them, whatever the number of its stream."""
    us = 1000
    times = ((10 * us, 1000 * us), (20 * us, 2000 * us), (4010 * us, 9000 * us))
    work = [
        {"agent": agent, "correlation": agent, "start_ns": begin, "end_ns": end}
        for agent, (begin, end) in zip((1, 2, 1), times, strict=True)
    ]
    work[2]["correlation"] = 3
    call = {"name": "hipLaunchKernel", "domain": "HIP"}
    calls = [
        call | {"correlation": row["correlation"], "start_ns": row["start_ns"] - 5 * us, "end_ns": row["start_ns"] - us}
        for row in work
    ]
    copies = [{"start_ns": 2010 * us, "end_ns": 2500 * us, "src_agent": 2, "dst_agent": 0, "stream": 0}]
    graph = event_graph(made_run(dispatches=work, regions=calls, copies=copies))
    assert graph.tracks["gpu"].gather(graph.events["track"]).to_list()[3:] == [0, 1, 0, 1]
    # Work follows that of its stream after 10 us, as the copy does.
    assert graph.slack().to_list()[3:] == [3000 * us, 6500 * us, 0, 6500 * us]


def test_streams_of_copies_to_the_host_are_of_the_gpu_that_they_come_from() -> None:
    copies = [{"start_ns": 10, "end_ns": 20, "src_agent": 2, "dst_agent": 0, "stream": 2}]
    assert event_graph(made_run(copies=copies)).tracks["gpu"].to_list() == [1]
