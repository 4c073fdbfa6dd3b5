"""Kernels whose SIMDs issue most of the time: fewer instructions lead, and name their rows; a twin that waits does not.

The truth comes from the machine model of `synth.planted`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import wavewright
from synth.isa import Kind
from synth.planted import MACHINES, write_decoded
from synth.planted.execution import Launch, execute
from synth.planted.program import Assembler
from synth.planted.units import Conditions
from synth.planted.vocabulary import VOCABULARIES
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.diagnose.gpu_fill import filling
from wavewright.analysis.trace.diagnose.pool_findings import issue_finding
from wavewright.analysis.trace.diagnose.remedies import capture_facts

if TYPE_CHECKING:
    from pathlib import Path

    from synth.planted.execution import Execution

_TRIPS = 6
_TOLERANCE = 0.03  # the branch and the wait issue, too


def executed(work: int, target: str) -> Execution:
    """Each iteration loads, waits, and executes so many vector instructions, each of which takes one issue."""
    machine, words, code = MACHINES[target], VOCABULARIES[target], Assembler(target)
    body = (*words.loads(1), words.wait_memory, *words.work(work))
    code.add(*words.begin).label("loop").add(*body).loop("loop", _TRIPS).add(*words.stores(1), "s_endpgm")
    launch = Launch(code.build("planted"), machine.cus, 4, 1, Conditions(load_latency_cycles=500))
    return execute(machine, launch)


def findings(execution: Execution, folder: Path) -> Any:
    return diagnose(wavewright.open(write_decoded(execution, folder)))


@pytest.mark.first_case
@pytest.mark.parametrize(("target", "work"), [("gfx942", 250), ("gfx1201", 1000)])
def test_fewer_instructions_lead_where_simds_issue_most_of_the_time(tmp_path: Path, target: str, work: int) -> None:
    execution = executed(work, target)
    answer = findings(execution, tmp_path)
    first = answer.findings[0]
    assert first.name == "vector instructions"
    assert first.gain_share_max == pytest.approx(execution.pipe_use_share(Kind.VALU), abs=_TOLERANCE)
    assert 0.5 < first.gain_share_max < 0.8
    assert first.evidence
    assert all(item.text.startswith("v_") for item in first.evidence)
    assert answer.findings[1].name == "wait vector load"
    assert answer.findings[1].gain_share_max <= 1 - first.gain_share_max


@pytest.mark.first_case
@pytest.mark.parametrize(("target", "work"), [("gfx942", 50), ("gfx1201", 150)])
def test_a_twin_that_waits_is_not_bound_by_issue(tmp_path: Path, target: str, work: int) -> None:
    answer = findings(executed(work, target), tmp_path)
    assert answer.findings[0].name == "wait vector load"
    assert not [finding for finding in answer.findings if finding.kind == "instructions"]


@pytest.mark.parametrize(("memory_share", "is_said"), [(0.5, True), (0.95, False)])
def test_no_bound_where_the_memory_is_used_for_more_of_the_time(
    tmp_path: Path, memory_share: float, is_said: bool
) -> None:
    trace = wavewright.open(write_decoded(executed(250, "gfx942"), tmp_path))
    capture = capture_facts(trace, None, filling(trace), None, 8)
    assert bool(issue_finding(trace, filling(trace), capture, memory_share)) == is_said
