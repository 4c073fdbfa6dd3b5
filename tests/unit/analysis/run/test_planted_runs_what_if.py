"""What-if against the truth: edit the program, simulate it again, and compare with the prediction."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl
import pytest

from synth.runs import (
    CAUSES,
    Call,
    Copy,
    Host,
    Operation,
    edited,
    gpu_clock_shifted,
    planted,
    scaled,
    simulate,
    straggler_of,
)
from tests.kit.planted_runs import opened, simulated
from tests.kit.sampling import every_third
from wavewright.analysis.run.diagnose import diagnose_run, partial_diagnosis
from wavewright.analysis.run.diagnose.bounds import bounds_of
from wavewright.analysis.run.graph import Change, EventGraph, event_graph
from wavewright.analysis.run.graph.path import path_of
from wavewright.analysis.run.graph.scenarios import what_if
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from synth.runs import Program, SimulatedRun

#: Kernel, and how long it takes after the change, in percent.
GEMM = "Cijk_Alik_Bljk_BBS_BH_MT128x128x64_MI32x32x8_SE_1LDSB1"
KERNELS = (("attn_fwd", 80), ("attn_fwd", 20), ("attn_fwd", 130), (GEMM, 80))


def predicted(graph: EventGraph, kernel: str, percent: int) -> tuple[int, int]:
    events = graph.events.filter(pl.col("name").cast(pl.String) == kernel)["event"]
    (prediction,) = graph.what_if(Change.of(events, duration_scale=percent / 100))
    return prediction.span_ns_min, prediction.span_ns_max


@lru_cache
def regenerated(cause: str, seed: int, kernel: str, percent: int) -> int:
    return simulate(scaled(planted(cause, seed, 2).program, kernel, percent)).span_ns


#: Seeds with odd numbers plant another variant of these.
VARIANTS = ("straggler", "data loader stall", "unoverlapped all-reduce")


@pytest.mark.first_case
@pytest.mark.parametrize(
    "planted", every_third([*((cause, 0) for cause in CAUSES), *((cause, 1) for cause in VARIANTS)])
)
def test_edited_kernel_gives_the_predicted_span(tmp_path: Path, planted: tuple[str, int]) -> None:
    cause, seed = planted
    run, _ = simulated(cause, seed, 2)
    recorded = event_graph(opened(run, tmp_path / "rocpd", "rocpd"))
    (same,) = recorded.what_if(Change())
    assert (same.span_ns, same.span_ns_min, same.span_ns_max) == (run.span_ns,) * 3
    for kernel, percent in KERNELS:
        truth = regenerated(cause, seed, kernel, percent)
        low, high = predicted(recorded, kernel, percent)
        assert low <= truth <= high, (kernel, percent)
        if cause != "allocation in the loop":  # what hipFree waits for is inferred
            assert low == high == truth, (kernel, percent)


@pytest.mark.first_case
@pytest.mark.parametrize("cause", ["straggler", "readbacks", "unoverlapped all-reduce", "allocation in the loop"])
def test_prediction_is_an_interval_where_waits_are_not_recorded(tmp_path: Path, cause: str) -> None:
    run, _ = simulated(cause, 1, 2)
    graph = event_graph(opened(run, tmp_path, "kineto"))
    for kernel, percent in KERNELS[:2]:
        low, high = predicted(graph, kernel, percent)
        assert low <= regenerated(cause, 1, kernel, percent) <= high


#: It makes a call now and then, sleeps in between, and launches nothing.
WATCHDOG = (Host(20_000), *(op for _ in range(60) for op in (Call("hipEventDestroy", 27_000), Host(900_000))))


def watched(run: SimulatedRun) -> SimulatedRun:
    """With a watchdog in every rank, and clocks of the GPUs that are ahead."""
    ranks = tuple(replace(rank, threads=(*rank.threads, WATCHDOG)) for rank in run.program.ranks)
    return gpu_clock_shifted(simulate(replace(run.program, ranks=ranks)), 9_000)


@pytest.mark.slow
@pytest.mark.parametrize("is_watched", every_third([True, False]))
@pytest.mark.parametrize(("seed", "form"), [(0, "rocpd"), (1, "kineto")])
def test_a_late_rank_has_one_bound(tmp_path: Path, seed: int, form: str, is_watched: bool) -> None:
    run, twin = simulated("straggler", seed, 3)
    opened_run = opened(watched(run) if is_watched else run, tmp_path, form)
    late = straggler_of(seed, 3)
    texts = (f"rank={late}", f"rank={(late + 1) % 3}")
    bounds = bounds_of(texts, lambda function: [function(part) for part in opened_run.parts], pl.Series([run.span_ns]))
    (finding,) = [each for each in diagnose_run(opened_run).findings if each.rule == "X2"]
    assert bounds[texts[0]] == finding.bound_alone_ns
    ((on_time,), (other,), _) = (
        scenario.predictions for scenario in what_if(event_graph(opened_run), texts, bounds=bounds)
    )
    gain = run.span_ns - twin.span_ns
    assert 0.9 * gain <= on_time.gain_ns_max <= finding.bound_alone_ns
    assert on_time.gain_ns_min <= 1.001 * gain
    assert other.gain_ns_max <= 0.05 * gain


@pytest.mark.slow
def test_communication_has_one_bound(tmp_path: Path) -> None:
    run, _ = simulated("unoverlapped all-reduce", 0, 2)
    opened_run = opened(run, tmp_path, "rocpd")
    parts, spans = opened_run.parts, pl.Series([run.span_ns])
    bounds = bounds_of(("communication",), lambda function: [function(part) for part in parts], spans)
    (finding,) = [each for each in diagnose_run(opened_run).findings if each.rule == "X1"]
    assert bounds == {"communication": finding.bound_alone_ns}
    (scenario,) = what_if(event_graph(opened_run), ("communication",), bounds=bounds)
    without = replace(run.program.machine, bus_bytes_per_ns=10**9, collective_latency_ns=0)
    gain = run.span_ns - simulate(replace(run.program, machine=without)).span_ns
    (prediction,) = scenario.predictions
    assert prediction.gain_ns_max <= finding.bound_alone_ns == scenario.gain_ns_max
    assert prediction.gain_ns_max == pytest.approx(gain, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rocpd", "kineto"])
def test_hidden_communication(tmp_path: Path, form: str) -> None:
    """The twin starts the same all-reduces beside its kernels: the prediction holds its length."""
    run, twin = simulated("unoverlapped all-reduce", 0, 2)
    (scenario,) = what_if(event_graph(opened(run, tmp_path, form)), ("communication=hidden",))
    (prediction,) = scenario.predictions
    assert prediction.span_ns_min <= 1.001 * twin.span_ns
    assert prediction.gain_ns_max == pytest.approx(run.span_ns - twin.span_ns, rel=0.05)
    with pytest.raises(UsageError, match="no value but hidden"):
        what_if(event_graph(opened(run, tmp_path, form)), ("communication=7",))


def halved(_rank: int, op: Operation) -> Operation:
    return replace(op, duration_ns=op.duration_ns // 2) if isinstance(op, Host) else op


def without_copies(_rank: int, op: Operation) -> Operation:
    return replace(op, duration_ns=0) if isinstance(op, Copy) else op


def with_bandwidth(program: Program, rate: int) -> Program:
    return replace(program, machine=replace(program.machine, bus_bytes_per_ns=rate))


SCENARIOS: dict[str, Callable[[Program], Program]] = {
    "host=-50%": lambda program: edited(program, halved),
    "copies": lambda program: edited(program, without_copies),
    "bandwidth=200": lambda program: with_bandwidth(program, 200),
    "bandwidth=50": lambda program: with_bandwidth(program, 50),
    "kernel=attn_fwd:-20%": lambda program: scaled(program, "attn_fwd", 80),
}


@pytest.mark.slow
@pytest.mark.some_cases(1)
@pytest.mark.parametrize("cause", ["straggler", "unoverlapped all-reduce", "small copies", "data loader stall"])
def test_scenarios_are_what_the_edited_program_takes(tmp_path: Path, cause: str) -> None:
    program = planted(cause, 1, 2).program
    program = replace(program, machine=replace(program.machine, collective_latency_ns=0))
    run = simulate(program)
    opened_run = opened(run, tmp_path, "rocpd")
    graph = event_graph(opened_run)
    path = path_of(graph)
    partials = [partial_diagnosis(part) for part in opened_run.parts]
    bounds = bounds_of(tuple(SCENARIOS), lambda _: partials, path.groups["span_ns"])
    assert bounds.keys() == {"host=-50%", "copies"}
    for text, change in SCENARIOS.items():
        truth = simulate(change(program)).span_ns
        (scenario,) = what_if(graph, (text,), path, bounds)
        (prediction,) = scenario.predictions
        assert scenario.gain_ns_max is None or prediction.gain_ns_max <= scenario.gain_ns_max, text
        # Lags of launches that did not bind are those of others: a little off after copies are gone.
        most = 12 * 1_000 if text == "copies" else 100
        assert prediction.span_ns_min - most <= truth <= prediction.span_ns_max + most, text
        assert prediction.span_ns_max - prediction.span_ns_min <= 2 * most, text


def test_a_change_for_the_worse_counts_beside_one_for_the_better(tmp_path: Path) -> None:
    program = planted("unoverlapped all-reduce", 1, 2).program
    program = replace(program, machine=replace(program.machine, collective_latency_ns=0))
    run = simulate(program)
    truth = simulate(edited(with_bandwidth(program, 20), halved)).span_ns
    assert truth > run.span_ns
    *_, together = what_if(event_graph(opened(run, tmp_path, "rocpd")), ("bandwidth=20", "host=-50%"))
    (prediction,) = together.predictions
    assert prediction.span_ns_min - 100 <= truth <= prediction.span_ns_max + 100
