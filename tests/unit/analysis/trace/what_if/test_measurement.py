"""Measured times beside predicted intervals, and gains carried to the run beside a trace."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from synth.planted.decoded_traces import write_decoded
from synth.planted.units import Conditions
from tests.conftest import SHARED
from tests.unit.analysis.trace.what_if.planted_kernels import Setting, run
from tests.unit.analysis.trace.what_if.test_acceptance import GATHER
from wavewright.analysis.trace.what_if import WhatIf, what_if
from wavewright.analysis.trace.what_if.measurement import KernelTime, with_measured
from wavewright.errors import UsageError
from wavewright.model.schema import frame_of
from wavewright.questions.trace.beside_trace import with_measured_times, with_runs
from wavewright.readers.opening import open_trace
from wavewright.words.trace.what_if import what_if_report

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.trace import ThreadTrace


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> ThreadTrace:
    setting = Setting(Conditions(load_latency_cycles=400, jitter_cycles=24), slots=1, trips=6)
    return open_trace(write_decoded(run(GATHER, setting, 4), tmp_path_factory.mktemp("trace")))


@pytest.fixture(scope="module")
def answer(trace: ThreadTrace) -> WhatIf:
    """An answer with the interval 2 to 6 %."""
    made = what_if(trace, edit="waits")
    row = made.edits.row(0, named=True) | {"gain_low_share": 0.02, "gain_high_share": 0.06, "verdict": "certain gain"}
    return replace(made, edits=frame_of(WhatIf.tables["edits"], [row]))


@pytest.mark.parametrize(
    ("after_ns", "noise_ns", "verdict"),
    [
        (96_000, 300, "as predicted"),
        (92_000, 300, "more than predicted"),
        (99_800, 300, "less than predicted"),
        (99_800, 3_000, "as predicted"),  # the noise reaches into the interval
        (98_800, None, "as predicted"),  # without runs two medians may differ by 1 %
    ],
)
def test_the_noise_decides_what_differs(answer: WhatIf, after_ns: float, noise_ns: float, verdict: str) -> None:
    row = with_measured(answer, KernelTime(100_000, noise_ns, 200), KernelTime(after_ns, noise_ns, 200)).measured
    assert row["verdict"].to_list() == [verdict]
    assert row["gain_share"][0] == pytest.approx(1 - after_ns / 100_000)
    assert row["is_noise_known"][0] is (noise_ns is not None)


def test_times_may_be_given_as_numbers(trace: ThreadTrace, answer: WhatIf) -> None:
    told = with_measured_times(trace, answer, "96us", "0.1 ms")
    texts = [str(block) for block in what_if_report(told, limit=5)]
    assert any("96.0 us instead of 100.0 us, 4.0 % less" in text for text in texts)
    with pytest.raises(UsageError, match="before the edit"):
        with_measured_times(trace, answer, "96us", None)
    with pytest.raises(UsageError):
        with_measured_times(trace, answer, "0us", "0us")


def test_a_run_without_the_kernel_is_one_clear_error(trace: ThreadTrace, answer: WhatIf, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no call of the traced kernel"):
        with_measured_times(trace, answer, str(_run_of("other", tmp_path)), "96us")


def _run_of(kernel: str, folder: Path) -> Path:
    """Twenty calls of 10 us, 5 us apart."""
    lines = ["Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,Dispatch_Id"]
    for call in range(20):
        begin = 1_000_000 + 15_000 * call
        lines.append(f"KERNEL_DISPATCH,1,1,1,{kernel},{call + 1},{begin},{begin + 10_000},{call + 1}")
    (path := folder / "7_kernel_trace.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_run_tells_the_measured_time(trace: ThreadTrace, answer: WhatIf, tmp_path: Path) -> None:
    row = with_measured_times(trace, answer, str(_run_of("k", tmp_path)), "10.4us").measured.row(0, named=True)
    assert (row["after_ns"], row["after_count"], row["verdict"]) == (10_000, 20, "as predicted")


def test_without_a_run_beside_the_trace_nothing_is_said_of_one(trace: ThreadTrace, answer: WhatIf) -> None:
    assert with_runs(trace, answer) is answer


def test_real_captures_carry_certain_gains_to_their_run() -> None:
    capture = SHARED / "data/att-mi300x-bmm/c02/raw"
    if not capture.exists():
        pytest.skip("no shared/data")
    trace = open_trace(capture)
    row = with_runs(trace, what_if(trace, edit="matrix first; lds first; loads first")).runs.row(0, named=True)
    assert row["call_count"] == 150
    assert 0 <= row["gain_ns_min"] <= row["gain_ns_max"] < row["calls_ns"]
    assert row["step_gain_ns_max"] <= row["step_ns_median"]
