"""Step functions: values, means and extremes against a walk over single cycles."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wavewright.analysis.common.step_functions import StepCurve, StepLevels
from wavewright.analysis.common.time_bins import TimeBins

VALUES = st.one_of(st.integers(-9, 9).map(float), st.just(math.nan))
POINTS = st.dictionaries(st.integers(-20, 60), VALUES, max_size=12)


def curve_of(points: dict[int, float], before: float = 0.0) -> StepCurve:
    times = sorted(points)
    return StepCurve(np.array(times, dtype=np.int64), np.array([points[t] for t in times], dtype=np.float64), before)


def walked(points: dict[int, float], before: float, cycle: int) -> float:
    value = before
    for time in sorted(points):
        if time <= cycle:
            value = points[time]
    return value


@settings(deadline=None)
@given(POINTS, st.sampled_from([0.0, math.nan]), st.integers(-10, 40), st.integers(1, 7), st.integers(1, 6))
def test_bins_equal_a_walk_over_cycles(
    points: dict[int, float], before: float, begin: int, width: int, count: int
) -> None:
    end = begin + width * count - width // 2
    got = curve_of(points, before).binned(TimeBins(begin, end, width, count))
    for number in range(count):
        cycles = range(begin + number * width, min(begin + (number + 1) * width, end))
        seen = [value for cycle in cycles if not math.isnan(value := walked(points, before, cycle))]
        found = [float(part[number]) for part in got]
        if seen:
            assert found == pytest.approx([sum(seen) / len(seen), min(seen), max(seen)])
        else:
            assert all(map(math.isnan, found))


def test_changes_at_one_time_count_together() -> None:
    changes = pl.DataFrame({"time_cycles": [7, 3, 7], "change": [-1, 2, 4]})
    curve = StepCurve.of_changes(changes)
    assert curve.at([2, 3, 6, 7, 100]).tolist() == [0, 2, 2, 5, 5]


def test_a_curve_without_points_is_what_was_before() -> None:
    assert curve_of({}, 3.0).at([0, 5]).tolist() == [3, 3]
    assert [part.tolist() for part in curve_of({}).binned(TimeBins(0, 4, 2, 2))] == [[0, 0]] * 3


@pytest.mark.slow
@settings(deadline=None)
@given(POINTS, st.sampled_from([0.0, math.nan]), st.integers(-10, 10), st.integers(1, 60), st.integers(1, 5))
def test_coarse_levels_from_kept_sums_are_those_of_the_curve(
    points: dict[int, float], before: float, begin: int, length: int, kept: int
) -> None:
    curve = curve_of(points, before)
    levels = StepLevels(curve, begin, begin + length, kept_bins=kept, many=-1)
    for level in range(7):
        count = -(-length >> level)
        for first in range(count):
            direct = curve.binned(TimeBins(begin + (first << level), begin + length, 1 << level, count - first))
            got = levels.binned(level, first, count - first)
            for ours, theirs in zip(got, direct, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-9)
