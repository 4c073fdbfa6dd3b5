"""Slots without a wave: unequal work, launch, memory that serves some later; each is named, and a twin is silent.

The truth comes from the machine model of `synth.planted`: workgroups of one wave, each on a SIMD of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import wavewright
from synth.planted import MACHINES, write_decoded
from synth.planted.execution import Launch, execute
from synth.planted.program import Assembler
from synth.planted.units import Conditions
from synth.planted.vocabulary import VOCABULARIES
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.facts.stall_classes import GRID_WORDS

if TYPE_CHECKING:
    from pathlib import Path

    from synth.planted.execution import Execution

_SIMDS = 4
_TRIPS = 12
_JITTER = 0.02  # of the dispatch


def executed(
    trips_of_long: int = _TRIPS, loads: int = 0, conditions: Conditions | None = None, target: str = "gfx942"
) -> Execution:
    """Four workgroups on a CU, the first with `trips_of_long` iterations, the others with `_TRIPS`."""
    machine, words, code = MACHINES[target], VOCABULARIES[target], Assembler(target)

    def goes_on(workgroup: int, _wave: int, count: int) -> bool:
        trips = trips_of_long if workgroup < machine.cus else _TRIPS
        return count % trips != trips - 1

    code.add(*words.begin, *(*words.loads(1), words.wait_memory) * loads).label("loop")
    code.add(*words.work(60)).branch("loop", goes_on).add(*words.stores(1), "s_endpgm")
    launch = Launch(code.build("planted"), machine.cus * _SIMDS, 1, 1, conditions or Conditions())
    return execute(machine, launch)


def grid_findings(execution: Execution, folder: Path) -> list[Any]:
    findings = diagnose(wavewright.open(write_decoded(execution, folder))).findings
    return [finding for finding in findings if finding.name in GRID_WORDS]


def test_unequal_work_is_imbalance(tmp_path: Path) -> None:
    """One of four has four times the work; equal work takes the mean of all."""
    long, even = executed(4 * _TRIPS), executed()
    (finding,) = grid_findings(long, tmp_path / "planted")
    gain = 1 - (1 + 3 / 4) * even.dispatch_cycles / long.dispatch_cycles
    assert finding.name == "workgroup imbalance"
    assert gain - _JITTER <= finding.gain_share_max <= gain + 5 * _JITTER
    assert finding.gain_share_min < finding.gain_share_max
    assert "instructions" in finding.reason


def test_equal_work_is_silent(tmp_path: Path) -> None:
    assert not grid_findings(executed(), tmp_path)


def test_work_of_one_traced_workgroup_says_nothing_about_the_others(tmp_path: Path) -> None:
    """Traces of RDNA hold one SIMD, so one of the four workgroups."""
    (finding,) = grid_findings(executed(4 * _TRIPS, target="gfx1201"), tmp_path)
    assert finding.name == "uneven durations"
    assert "not known" in finding.reason
    assert finding.confidence == "medium"


@pytest.mark.parametrize("interval", [600, 1200])
def test_a_slow_launch_is_no_imbalance(tmp_path: Path, interval: int) -> None:
    """Workgroups start one after another, the last one when the first has ended; all have the same work."""
    slow, even = executed(conditions=Conditions(launch_interval_cycles=interval)), executed()
    (finding,) = grid_findings(slow, tmp_path / "planted")
    assert finding.name == "launch ramp"
    assert finding.gain_share_max >= 1 - even.dispatch_cycles / slow.dispatch_cycles - _JITTER
    assert "same work" not in finding.remedy


@pytest.mark.slow
def test_memory_that_serves_some_later_is_no_imbalance(tmp_path: Path) -> None:
    """Loads take up to 6,000 cycles longer by chance; all waves have the same instructions."""
    (finding,) = grid_findings(executed(loads=6, conditions=Conditions(jitter_cycles=6000)), tmp_path / "planted")
    assert finding.name == "uneven memory service"
    assert "same number of instructions" in finding.reason
    assert "wait vector load" in finding.reason
    assert not grid_findings(executed(loads=6), tmp_path / "twin")


@pytest.mark.slow
@pytest.mark.some_cases(1)
@pytest.mark.parametrize(
    ("place", "dispatch", "name"),
    [
        # by AMD's own decode: 1,871 to 17,250 instructions per wave
        (
            "uiout-mi350x-flydsl/flash_attn_func/big/ui_output_agent_38430_dispatch_44.tar.xz",
            None,
            "workgroup imbalance",
        ),
        # 824 instructions in each of 28 waves, which last 46,892 to 148,732 cycles
        ("att-mi300x-bmm/c03/raw", 3, "uneven memory service"),
        # 1,167 in each of 8 waves, which last 30,080 to 31,236; those of other CUs 22,492 to 36,584
        ("att-mi300x-bmm/c08/raw", 3, "uneven durations"),
    ],
)
def test_real_slots(shared: Path, place: str, dispatch: int | None, name: str) -> None:
    path = shared / "data" / place
    trace = wavewright.decode(path, dispatch=dispatch) if dispatch else wavewright.open(path)
    found = [finding for finding in diagnose(trace).findings if finding.name in GRID_WORDS]
    assert [finding.name for finding in found] == [name]
    assert found[0].gain_share_min < found[0].gain_share_max
