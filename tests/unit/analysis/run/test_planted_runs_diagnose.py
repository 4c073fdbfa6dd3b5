"""The diagnosis of simulated runs: the planted cause is first, its bound holds, and twins are silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from synth.runs import CAUSES
from tests.kit.planted_runs import opened, simulated
from wavewright.analysis.run.diagnose import diagnose_run

if TYPE_CHECKING:
    from pathlib import Path

MOST = 1.3  #: Of the true gain.
RULES = {
    "straggler": "X2",
    "data loader stall": "T3",
    "launch-bound phase": "G3",
    "small copies": "C3",
    "readbacks": "G4",
    "unoverlapped all-reduce": "X1",
    "allocation in the loop": "G6",
}
_QUICK = {cause: (0, "rocpd") if number % 2 else (1, "kineto") for number, cause in enumerate(CAUSES[::3])}
#: One case of every third cause is quick, with few ranks; all of them together take a quarter of an hour.
CASES = [
    *((cause, seed, form, 2) for cause, (seed, form) in _QUICK.items()),
    *(
        pytest.param(cause, seed, form, 8, marks=pytest.mark.slow)
        for cause in CAUSES
        for seed in range(5)
        for form in ("rocpd", "kineto")
    ),
]


@pytest.mark.some_cases(1)
@pytest.mark.parametrize(("cause", "seed", "form", "ranks"), CASES)
def test_planted_cause_is_first(tmp_path: Path, cause: str, seed: int, form: str, ranks: int) -> None:
    run, twin = simulated(cause, seed, ranks)
    gain = run.span_ns - twin.span_ns
    first, *_ = diagnose_run(opened(run, tmp_path / "run", form)).findings
    assert first.rule == RULES[cause]
    assert gain <= first.bound_ns <= MOST * gain
    assert not diagnose_run(opened(twin, tmp_path / "twin", form)).findings
