"""How often gates are wrong: noise within and between captures, calls and effects, drawn by the synthesizer."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest

from synth.noisy_calls import NoisyProgram, captures
from tests.kit.gate_cases import measured
from wavewright.analysis.common.gate import gate

THRESHOLD = 0.05
MOST_WRONG = 0.01


class Design(NamedTuple):
    """How many captures there are, and how much whole captures and kernels in them differ."""

    base: int
    current: int
    run_noise: float
    kernel_noise: float


DESIGNS = (
    Design(1, 1, 0.0, 0.0),
    Design(1, 1, 0.005, 0.0),
    Design(1, 1, 0.01, 0.0),
    Design(3, 1, 0.01, 0.0),
    Design(5, 1, 0.01, 0.0),
    Design(5, 1, 0.0, 0.01),
    Design(5, 1, 0.02, 0.01),
    Design(10, 3, 0.02, 0.02),
)
NOISES = (0.005, 0.02, 0.05, 0.1)
CALLS = (5, 20, 100, 500)


def verdicts(design: Design, noise: float, calls: int, effect: float, seeds: range) -> Counter[str]:
    """How often each verdict is given."""
    program = NoisyProgram(
        call_count=calls, call_noise=noise, run_noise=design.run_noise, kernel_noise=design.kernel_noise
    )
    counts: Counter[str] = Counter()
    for seed in seeds:
        base = measured(captures(program, seed, design.base))
        current = measured(captures(program, seed, design.current, effect=effect, first=1000))
        counts[gate(current, base, threshold=THRESHOLD).verdict] += 1
    return counts


def _cells(designs: tuple[Design, ...], seed_count: int, effect: float) -> Counter[str]:
    """The sum over a part of the matrix; every cell has its own seeds."""
    total: Counter[str] = Counter()
    cells = [(design, noise, calls) for design in designs for noise in NOISES for calls in CALLS]
    for number, cell in enumerate(cells):
        first = int(1e6 * (1 + number) + 1e4 * round(effect / THRESHOLD))
        total += verdicts(*cell, effect, range(first, first + seed_count))
    return total


@pytest.mark.slow
def test_a_few_of_the_matrix() -> None:
    cells = [(DESIGNS[0], 0.02, 100), (DESIGNS[4], 0.02, 100), (DESIGNS[5], 0.05, 20)]
    equal, slower = Counter[str](), Counter[str]()
    for number, cell in enumerate(cells):
        seeds = range(1000 * number, 1000 * number + 40)
        equal += verdicts(*cell, 0.0, seeds)
        slower += verdicts(*cell, 3 * THRESHOLD, seeds)
    assert equal["fail"] <= 2, equal  # of 120; 1 % or less of them are expected to
    assert equal["pass"] >= 80, equal
    assert slower["pass"] == 0, slower
    assert slower["fail"] >= 100, slower


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_false_alarms_and_misses_are_rare(design: Design) -> None:
    equal = _cells((design,), 60, 0.0)
    small = _cells((design,), 20, THRESHOLD)
    slower = _cells((design,), 60, 3 * THRESHOLD)
    print(design, "equal", dict(equal), "at the threshold", dict(small), "at three times", dict(slower))
    assert equal["fail"] <= MOST_WRONG * equal.total(), equal
    assert slower["pass"] <= MOST_WRONG * slower.total(), slower
