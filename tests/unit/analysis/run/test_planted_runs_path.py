"""The critical path of simulated runs covers the span and names the planted cause; slack is what the run allows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from synth.runs import (
    CAUSES,
    LOADER,
    Collective,
    Host,
    Launch,
    Machine,
    Operation,
    Program,
    Rank,
    Record,
    Synchronise,
    Wait,
    edited,
    simulate,
    straggler_of,
)
from tests.kit.planted_runs import opened, simulated
from wavewright.analysis.run.graph import event_graph
from wavewright.analysis.run.graph.path import CriticalPath, critical_path

if TYPE_CHECKING:
    from pathlib import Path

    from synth.runs import SimulatedRun

SEEDS = range(5)
FORMS = ("rocpd", "kineto")
#: Cause, seed, format and ranks: few ranks are quick, the others take minutes.
CASES = [(cause, *((0, "rocpd", 2) if number % 2 else (1, "kineto", 2))) for number, cause in enumerate(CAUSES)]
SLOW_CASES = [(cause, 1 - seed, "rocpd" if form == "kineto" else "kineto", ranks) for cause, seed, form, ranks in CASES]
SLOW_CASES += [(cause, seed, form, 8) for cause in CAUSES for seed in SEEDS for form in FORMS]


def path_of(run: SimulatedRun, folder: Path, form: str) -> CriticalPath:
    path = critical_path(opened(run, folder, form))
    segments = path.segments
    assert path.groups["span_ns"].to_list() == [run.span_ns]
    assert (segments["end_ns"] - segments["start_ns"]).sum() == run.span_ns
    assert segments["start_ns"][1:].to_list() == segments["end_ns"][:-1].to_list()
    return path


def of_cause(cause: str, seed: int, ranks: int) -> pl.Expr:
    """The stretches that a cause adds."""
    name, kind = pl.col("name").cast(pl.String), pl.col("class").cast(pl.String)
    return {
        "straggler": (pl.col("rank") == straggler_of(seed, ranks)) & (kind == ("kernels" if seed % 2 == 0 else "host")),
        "data loader stall": kind == "host",
        "launch-bound phase": kind == "launch",
        "small copies": name.str.contains("Memcpy|MEMORY_COPY_HOST_TO_DEVICE"),
        "readbacks": (kind == "host") | name.str.contains("DEVICE_TO_HOST"),
        "unoverlapped all-reduce": kind == "communication",
        "allocation in the loop": name.str.contains("hipMalloc|hipFree"),
    }[cause]


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("cause", "seed", "form", "ranks"), [*CASES, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW_CASES)]
)
def test_planted_cause_has_most_of_the_added_time(tmp_path: Path, cause: str, seed: int, form: str, ranks: int) -> None:
    run, twin = simulated(cause, seed, ranks)
    with_cause, without = path_of(run, tmp_path / "run", form), path_of(twin, tmp_path / "twin", form)
    length = pl.col("end_ns") - pl.col("start_ns")
    chosen = of_cause(cause, seed, ranks)
    sums = [path.segments.filter(chosen).select(length.sum()).item() for path in (with_cause, without)]
    added = run.span_ns - twin.span_ns
    assert sums[0] - sums[1] >= 0.9 * added
    if cause == "data loader stall":
        stalls = with_cause.segments.filter(pl.col("stack").str.contains(LOADER, literal=True))
        assert stalls.select(length.sum()).item() >= 0.9 * added


def slacks(program: Program, folder: Path) -> dict[str, int]:
    graph = event_graph(opened(simulate(program), folder, "rocpd"))
    names = graph.events["name"].cast(pl.String)
    return dict(zip(names, graph.slack(), strict=True))


def one_rank(*ops: Operation) -> Program:
    return Program((Rank((ops,)),))


def with_longer(program: Program, kernel: str, more_ns: int) -> Program:
    def change(_rank: int, op: Operation) -> Operation:
        if isinstance(op, Launch) and op.kernel == kernel:
            return replace(op, duration_ns=op.duration_ns + more_ns)
        return op

    return edited(program, change)


SYNCHRONISE = Synchronise(call_ns=0, return_ns=4_000)
SMALL_PROGRAMS = {
    "two streams": one_rank(
        Launch("producer", 150_000, 1, call_ns=5_000, lag_ns=10_000),
        Record("ready", 1),
        Wait("ready", 2),
        Launch("consumer", 80_000, 2, call_ns=5_000, lag_ns=10_000),
        Launch("beside", 60_000, 1, call_ns=5_000, lag_ns=10_000),
        Launch("early", 30_000, 3, call_ns=5_000, lag_ns=10_000),
        SYNCHRONISE,
    ),
    "host-bound": one_rank(
        Launch("a", 20_000, call_ns=5_000, lag_ns=10_000),
        Host(100_000),
        Launch("b", 30_000, call_ns=5_000, lag_ns=10_000),
        Synchronise(stream=0, call_ns=0, return_ns=4_000),
        Host(50_000),
        Launch("c", 10_000, call_ns=5_000, lag_ns=10_000),
        SYNCHRONISE,
    ),
    "ranks": Program(
        tuple(
            Rank(((
                Launch(f"work{rank}", 100_000 + 37_000 * rank, call_ns=5_000, lag_ns=10_000),
                Record("done"),
                Wait("done", 1),
                Collective("allreduce", 3_000_000),
                Launch(f"beside{rank}", 20_000 + 5_000 * rank, call_ns=5_000, lag_ns=10_000),
                SYNCHRONISE,
            ),))
            for rank in range(3)
        ),
        Machine(collective_latency_ns=0),
    ),
}  # fmt: skip


@pytest.mark.first_case
@pytest.mark.parametrize("name", SMALL_PROGRAMS)
def test_slack_is_what_the_program_allows(tmp_path: Path, name: str) -> None:
    program = SMALL_PROGRAMS[name]
    span = simulate(program).span_ns
    kernels = {
        op.kernel for rank in program.ranks for thread in rank.threads for op in thread if isinstance(op, Launch)
    }
    for kernel, slack_ns in slacks(program, tmp_path).items():
        if kernel in kernels:
            assert simulate(with_longer(program, kernel, slack_ns)).span_ns == span, kernel
            assert simulate(with_longer(program, kernel, slack_ns + 7)).span_ns == span + 7, kernel


def test_slack_by_hand(tmp_path: Path) -> None:
    slack = slacks(SMALL_PROGRAMS["two streams"], tmp_path)
    # producer 10 to 160 us, then consumer to 240 us; beside ends at 220 us, early at 57 us; the wait returns at 244 us.
    assert {name: slack[name] for name in ("producer", "consumer", "beside", "early")} == {
        "producer": 0, "consumer": 0, "beside": 20_000, "early": 183_000,
    }  # fmt: skip
    assert slack["hipDeviceSynchronize"] == 0


def test_path_by_hand(tmp_path: Path) -> None:
    run = simulate(SMALL_PROGRAMS["host-bound"])
    segments = critical_path(opened(run, tmp_path, "rocpd")).segments
    rows = segments.select(pl.col("end_ns") - pl.col("start_ns"), "class", "name").rows()
    assert rows == [
        (5_000, "launch", "hipLaunchKernel"),
        (100_000, "host", "hipLaunchKernel"),
        (10_000, "launch", "b"),
        (30_000, "kernels", "b"),
        (4_000, "host", "hipStreamSynchronize"),
        (50_000, "host", "hipLaunchKernel"),
        (10_000, "launch", "c"),
        (10_000, "kernels", "c"),
        (4_000, "host", "hipDeviceSynchronize"),
    ]
