"""Places where the level of a series changes: seeded binary segmentation (Kovacs and others, 2023) by Student's t.

In intervals of many lengths the means before and behind every place are compared (two samples, one variance), so that
a level that came and went is seen, too; the largest t of an interval is held against the bound of Bonferroni over all
places of all intervals. The shortest interval with a change gives its place, and both sides are searched again. How
often a series without a change is split was measured by simulation: docs/how-to/keep-many-captures.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from wavewright.analysis.common.noise import LEAST_CHANGE, MEAN_TAIL, difference_bound, t_bound

FALSE_ALARMS = 0.01  #: At most this chance that a series of independent normal values is split without a change.
LEAST_SIDE = 3  #: Values on each side of a change: one or two may be outliers.
_SHRINK = math.sqrt(2)  #: Each length of intervals over the next shorter one.


@dataclass(frozen=True)
class ChangePoint:
    """A change of the level."""

    place: int  #: Number of the first value behind it.
    before: float  #: Mean of the segment before it.
    after: float
    low: float  #: The difference of the means lies between these in 95 of 100 cases.
    high: float

    @property
    def change(self) -> float:
        """The difference as a share of the level before; 0 where that is 0."""
        return (self.after - self.before) / abs(self.before) if self.before else 0.0


def change_points(values: Sequence[float]) -> list[ChangePoint]:
    """The changes of a series, in its order."""
    series = np.asarray(values, dtype=float)
    places = [0, *_places(series), len(series)]
    points = []
    for start, place, end in zip(places, places[1:], places[2:], strict=False):
        before, after = series[start:place], series[place:end]
        levels = float(before.mean()), float(after.mean())
        difference = float(after.mean() - before.mean())
        half = difference_bound(MEAN_TAIL, _mean_error(before), _mean_error(after))
        points.append(ChangePoint(place, *levels, difference - half, difference + half))
    return points


def segments(values: Sequence[float], changes: Sequence[ChangePoint]) -> list[tuple[int, int, float, float]]:
    """Start, end, and the band in which 95 of 100 values without a change lie, of every segment."""
    series = np.asarray(values, dtype=float)
    places = [0, *(change.place for change in changes), len(series)]
    intervals = []
    for start, end in pairwise(places):
        part = series[start:end]
        mean, count = float(part.mean()), len(part)
        spread = t_bound(MEAN_TAIL, count - 1) * float(part.std(ddof=1)) if count > 1 else float("nan")
        half = max(spread, LEAST_CHANGE * abs(mean)) if count > 1 else float("nan")
        intervals.append((start, end, mean - half, mean + half))
    return intervals


def _places(series: np.ndarray) -> list[int]:
    """Places of changes: of the shortest interval that has one, then of those at both sides of it."""
    intervals = _intervals(len(series))
    tests = sum(end - start - 2 * LEAST_SIDE + 1 for start, end in intervals)
    splits = ((*interval, _split(series[slice(*interval)], tests)) for interval in intervals)
    candidates = [(end - start, start, start + place) for start, end, place in splits if place is not None]
    candidates.sort()
    places: list[int] = []
    ends = [(0, len(series))]
    while ends:
        low, high = ends.pop()
        inside = (place for length, start, place in candidates if low <= start and start + length <= high)
        place = next(inside, None)
        if place is not None:
            places.append(place)
            ends += [(low, place), (place, high)]
    return _settled(series, sorted(places), tests)


def _settled(series: np.ndarray, places: list[int], tests: int) -> list[int]:
    """Every place where the whole of both neighbouring levels puts it; those that they do not support are dropped."""
    borders = [0, *places, len(series)]
    number = 1
    while number < len(borders) - 1:
        start, end = borders[number - 1], borders[number + 1]
        place = _split(series[start:end], tests)
        if place is None:
            del borders[number]
            number = max(1, number - 1)
        else:
            borders[number] = start + place
            number += 1
    return borders[1:-1]


def _intervals(count: int) -> list[tuple[int, int]]:
    """All of the series, and shorter and shorter intervals that overlap by half."""
    ranges = {(0, count)} if count >= 2 * LEAST_SIDE else set()
    length = float(count)
    while (length := length / _SHRINK) >= 2 * LEAST_SIDE:
        number = 2 * math.ceil(count / length) - 1
        shift = (count - length) / max(number - 1, 1)
        ranges |= {(round(index * shift), min(count, round(index * shift + length))) for index in range(number)}
    return sorted(ranges)


def _split(series: np.ndarray, tests: int) -> int | None:
    """The place of the largest t, if it is larger than chance explains in that number of tests."""
    count = len(series)
    places = np.arange(LEAST_SIDE, count - LEAST_SIDE + 1)
    if not len(places):
        return None
    deviations = series - series.mean()  # large values would drown small differences in their sums
    sums, squares = np.cumsum(deviations)[places - 1], float(np.sum(deviations**2))
    before, after = sums / places, -sums / (count - places)
    between = places * before**2 + (count - places) * after**2
    best = int(np.argmax(between))  # where t is largest, too
    place, difference = int(places[best]), float(abs(after[best] - before[best]))
    within = max(squares - float(between[best]), 0.0) / (count - 2)
    error = math.sqrt(within * (1 / place + 1 / (count - place)))
    level = abs(float(series[:place].mean()))
    is_told = difference > t_bound(FALSE_ALARMS / tests, count - 2) * error
    return place if is_told and difference >= LEAST_CHANGE * level and difference > 0 else None


def _mean_error(values: np.ndarray) -> tuple[float, int]:
    """Standard error of a mean and its degrees of freedom."""
    return float(values.std(ddof=1)) / len(values) ** 0.5, len(values) - 1
