"""Kernels with a planted cause: diagnose names it first and bounds its gain; twins without it are silent.

The truth comes from the machine model of `synth.planted`, which knows nothing of the analysis.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import wavewright
from synth.isa import Kind
from synth.planted import CAUSES, ROOFS, SIZES, Pair, plant, write_decoded, write_raw
from synth.planted.causes import Case, stream
from synth.planted.decoded_traces import write_run
from synth.planted.execution import execute
from synth.planted.machine import MACHINES
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.model.traced_span import agreeing_durations_ns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from synth.planted.execution import Execution

# Names of findings that say what was planted.
NAMES = {
    "bandwidth": {"memory bandwidth"},
    "load latency": {"wait vector load", "VMEM issue", "FLAT issue"},
    "LDS conflicts": {"wait LDS", "LDS issue"},
    "barrier imbalance": {"barrier"},
    "tail": {"tail"},
    "idle CUs": {"CUs without work"},
    "cold fetch": {"cold instruction fetch"},
    "store drain": {"store drain"},
    "matrix-bound": {"matrix throughput"},
    "VALU-bound": {"VALU throughput"},
    "s_nop": {"s_nop"},
    "spills": {"wait scratch"},
}
MOST_TOO_HIGH = 1.3  # times the true gain
JITTER = 0.01  # of the time: the model's latencies vary by some cycles, and so does what a bound can know
ROOF_TOLERANCE = 0.02
SILENT = 0.03  # a twin may promise so much: nothing that is worth a change
# Each cause on both GPUs and in both forms at every commit, its twin in one of them; the rest in the slow tests.
QUICK = (("small", "gfx942", "decoded"), ("small", "gfx1201", "raw"))
# What a raw gfx9 capture says in another way than a decoded directory: these are quick in both forms.
RAW_DIFFERS = {"store drain", "barrier imbalance", "bandwidth"}


@cache
def planted(cause: str, target: str, size: str) -> Pair:
    return plant(cause, target, size)


def diagnosed(execution: Execution, form: str, folder: Path) -> tuple[Any, ...]:
    """Findings; a decoded directory has the run of the same process beside it, a raw capture names no kernel."""
    if form == "raw":
        return diagnose(wavewright.decode(write_raw(execution, folder))).findings
    directory = write_decoded(execution, folder)
    write_run(execution, folder)
    trace = wavewright.open(directory)
    assert trace.launch is not None
    return diagnose(trace).findings


def cases(*, twins: bool = False) -> Iterator[Any]:
    """All combinations; a twin is quick on one GPU, by turns."""
    for number, cause in enumerate(CAUSES):
        quick = (QUICK[number % 2],) if twins else QUICK
        for size in SIZES:
            for target in ("gfx942", "gfx1201"):
                for form in ("decoded", "raw"):
                    raw_differs = (size, target) == ("small", "gfx942") and cause in RAW_DIFFERS
                    marks = () if raw_differs or (size, target, form) in quick else (pytest.mark.slow,)
                    yield pytest.param(cause, target, size, form, marks=marks)


def roof_use_share(pair: Pair) -> float:
    """How much of the roof the planted kernel reaches."""
    if pair.cause == "bandwidth":
        return pair.planted.memory_peak_share
    return pair.planted.pipe_use_share(Kind.MATRIX if pair.cause == "matrix-bound" else Kind.VALU)


def shown(findings: tuple[Any, ...]) -> str:
    return "; ".join(f"{finding.name} {finding.gain_share_max:.3f}" for finding in findings)


@pytest.mark.some_cases(4)
@pytest.mark.parametrize(("cause", "target", "size", "form"), list(cases()))
def test_planted_cause_is_first(cause: str, target: str, size: str, form: str, tmp_path: Path) -> None:
    pair = planted(cause, target, size)
    findings = diagnosed(pair.planted, form, tmp_path)
    first, *others = findings
    if first.kind == "instructions":  # as true as the planted cause, and larger: the model knows by how much
        assert pair.planted.pipe_use_share(Kind.VALU) == pytest.approx(first.gain_share_max, abs=ROOF_TOLERANCE)
        assert first.gain_share_max > 0.5
        first = others[0]
    assert first.name in NAMES[cause], shown(findings)
    if cause in ROOFS:
        left = 1 - roof_use_share(pair)
        if cause == "bandwidth" and form == "raw":  # the time of the dispatch follows from its waves, with a margin
            span_ns = pair.planted.dispatch_cycles / pair.planted.machine.clock_mhz * 1e3
            left = 1 - roof_use_share(pair) * span_ns / agreeing_durations_ns(span_ns)[1]
        assert first.gain_share_max <= left + ROOF_TOLERANCE, shown(findings)
        return
    gain = pair.gain_share
    assert gain - JITTER <= first.gain_share_max <= MOST_TOO_HIGH * gain + JITTER, f"{gain:.3f}: {shown(findings)}"


@pytest.mark.some_cases(3)
@pytest.mark.parametrize(("cause", "target", "size", "form"), list(cases(twins=True)))
def test_twin_is_silent(cause: str, target: str, size: str, form: str, tmp_path: Path) -> None:
    findings = diagnosed(planted(cause, target, size).twin, form, tmp_path)
    if cause in ROOFS:
        assert not findings or findings[0].name not in NAMES[cause], shown(findings)
        return
    promised = [finding.gain_share_max for finding in findings if finding.name in NAMES[cause]]
    assert max(promised, default=0.0) <= SILENT, shown(findings)


@pytest.mark.parametrize("cause", [cause for cause in CAUSES if cause not in ROOFS])
def test_planted_causes_cost_time(cause: str) -> None:
    """The truth itself: a cause that costs nothing would prove nothing."""
    assert planted(cause, "gfx942", "small").gain_share > 0.2


@pytest.mark.parametrize("cause", ROOFS)
def test_planted_roofs_are_reached(cause: str) -> None:
    pair = planted(cause, "gfx942", "small")
    reachable = pair.planted.machine.memory_efficiency if cause == "bandwidth" else 1.0
    assert roof_use_share(pair) / reachable > 0.8


@pytest.mark.first_case
@pytest.mark.parametrize("target", ["gfx942", "gfx1201"])
def test_the_same_bytes_for_all_workgroups_are_no_roof(target: str, tmp_path: Path) -> None:
    """The same requests in the same time, but of bytes that caches hold: nothing tells what memory moves."""
    machine = MACHINES[target]
    case = Case(machine, "small", planted=True)
    assert diagnosed(execute(machine, stream(case, 2)), "decoded", tmp_path / "own")[0].name == "memory bandwidth"
    shared = execute(machine, stream(case, 2, is_shared=True))
    directory = write_decoded(shared, tmp_path / "shared")
    write_run(shared, tmp_path / "shared")
    answer = diagnose(wavewright.open(directory))
    assert "roof" not in {finding.kind for finding in answer.findings}
    assert answer.traffic is not None
    assert answer.traffic.bytes_total is not None
    lanes = machine.lanes * shared.launch.waves_per_workgroup
    assert answer.traffic.bytes_total[1] <= 2 * lanes * (64 + 32)  # two steps of one workgroup
