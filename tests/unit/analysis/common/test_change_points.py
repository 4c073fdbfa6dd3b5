"""Changes of a level that were planted, and series without one."""

from __future__ import annotations

import numpy as np
import pytest

from wavewright.analysis.common.store.change_points import LEAST_SIDE, change_points, segments

SIZES = (0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5)


def series(seed: int, noise: float, change: float, *, count: int = 60, place: int = 40) -> np.ndarray:
    values = 100 * (1 + np.random.default_rng([seed, count]).normal(0, noise, count))
    values[place:] *= 1 + change
    return values


def test_a_change_has_its_place_size_and_interval() -> None:
    (found,) = change_points(series(1, 0.005, 0.1))
    assert found.place == 40
    assert found.low < 10 < found.high
    assert found.change == pytest.approx(0.1, abs=0.01)


def test_levels_are_those_between_the_changes() -> None:
    values = np.concatenate([series(2, 0.004, 0.2), series(3, 0.004, 0.2)])
    found = change_points(values)
    assert [each.place for each in found] == [40, 60, 100]
    levels = segments(values, found)
    assert [(begin, end) for begin, end, _, _ in levels] == [(0, 40), (40, 60), (60, 100), (100, 120)]
    for begin, end, low, high in levels:
        inside = ((values[begin:end] >= low) & (values[begin:end] <= high)).mean()
        assert inside >= 0.9


@pytest.mark.parametrize("count", range(2 * LEAST_SIDE))
def test_a_short_series_has_no_change(count: int) -> None:
    assert change_points([1.0, 100.0] * count)[:0] == []
    assert change_points([1.0] * count + [2.0] * (LEAST_SIDE - 1)) == []


def test_equal_values_jump_once() -> None:
    (found,) = change_points([5.0] * 4 + [6.0] * 4)
    assert (found.place, found.before, found.after, found.low, found.high) == (4, 5.0, 6.0, 1.0, 1.0)
    assert change_points([5.0] * 8) == []


def test_large_values_do_not_drown_a_small_change() -> None:
    (found,) = change_points(1e18 * series(4, 0.002, 0.03))
    assert found.place == 40


def test_single_outliers_are_no_change() -> None:
    values = series(5, 0.005, 0.0)
    values[[10, 30]] *= 3
    assert change_points(values) == []


@pytest.mark.slow
def test_the_table_of_the_documentation() -> None:
    """docs/how-to/keep-many-captures.md: false alarms by kind of noise, planted changes by noise and size."""
    random = np.random.default_rng(1)

    def related(count: int) -> np.ndarray:
        values = np.zeros(count)
        for number, noise in enumerate(random.normal(0, 1, count)):
            values[number] = 0.5 * values[number - 1] + 0.866 * noise
        return values

    kinds = {
        "normal": lambda count: random.normal(0, 1, count),
        "heavy tails": lambda count: random.standard_t(3, count) / 3**0.5,
        "skewed": lambda count: random.exponential(1, count),
        "related": related,
    }
    most = {"normal": 0.005, "heavy tails": 0.015, "skewed": 0.015, "related": 0.21}
    for kind, draw in kinds.items():
        for count in (10, 30, 100, 300):
            alarms = sum(bool(change_points(100 + 2 * draw(count))) for _ in range(1000)) / 1000
            assert alarms <= most[kind], (kind, count)
    for noise in (0.005, 0.02, 0.05):
        for size in SIZES:
            found = [change_points(series(seed, noise, size)) for seed in range(300)]
            hits = np.mean([any(abs(each.place - 40) <= 3 for each in changes) for changes in found])
            if size >= 3 * noise:
                assert hits >= 0.95, (noise, size)
