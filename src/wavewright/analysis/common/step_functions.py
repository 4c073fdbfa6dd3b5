"""Step functions of time: their values, and their mean, smallest and largest value per time bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import polars as pl

from wavewright.analysis.common.time_bins import TimeBins

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

_MANY_STEPS = 100_000  #: Sums of fine bins are cached for curves with more steps.
_BINS_MAX = 1 << 13  #: At most so many bins are cached per curve.


class Binned(NamedTuple):
    """Values per time bin; NaN where the curve has no value."""

    mean: Numbers
    low: Numbers
    high: Numbers


class Sums(NamedTuple):
    """Integral, covered time and extremes per time bin; NaN = no value."""

    integral: Numbers
    covered: Numbers
    low: Numbers
    high: Numbers

    def binned(self) -> Binned:
        """Means and extremes."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return Binned(np.where(self.covered > 0, self.integral / self.covered, np.nan), self.low, self.high)


@dataclass(frozen=True)
class StepCurve:
    """A value from each of `times` to the next one, and `before` the first; NaN = no value."""

    times: npt.NDArray[np.int64]
    values: Numbers
    before: float = 0.0

    @classmethod
    def of_changes(cls, changes: pl.DataFrame) -> StepCurve:
        """The running sum of the column `change` in the order of `time_cycles`."""
        sums = changes.sort("time_cycles").select("time_cycles", value=pl.col("change").cum_sum())
        return cls.of_values(sums.filter(pl.col("time_cycles").ne_missing(pl.col("time_cycles").shift(-1))))

    @classmethod
    def of_values(cls, points: pl.DataFrame, *, before: float = 0.0) -> StepCurve:
        """The column `value` from each `time_cycles`, which grow, on."""
        times = points["time_cycles"].to_numpy().astype(np.int64)
        return cls(times, points["value"].to_numpy().astype(np.float64), before)

    @property
    def step_count(self) -> int:
        """Number of steps."""
        return int(self.times.size)

    def at(self, times: npt.ArrayLike) -> Numbers:
        """The values at some times."""
        place = np.searchsorted(self.times, np.asarray(times), side="right") - 1
        if not self.times.size:
            return np.full(place.shape, self.before)
        return np.where(place < 0, self.before, self.values[np.maximum(place, 0)])

    def binned(self, bins: TimeBins) -> Binned:
        """Mean, smallest and largest value in each bin. The last bin ends where all of them do."""
        return self.sums(bins).binned()

    def sums(self, bins: TimeBins) -> Sums:
        """Integrals and extremes in each bin."""
        edges = bins.start_cycles + bins.width_cycles * np.arange(bins.count + 1, dtype=np.int64)
        edges[-1] = min(int(edges[-1]), bins.end_cycles)
        first = int(np.searchsorted(self.times, edges[0], side="right"))
        last = int(np.searchsorted(self.times, edges[-1], side="left"))
        times = np.concatenate([edges[:1], self.times[first:last]])
        values = np.concatenate([self.at(edges[:1]), self.values[first:last]])
        is_finite = np.isfinite(values)
        is_complete = bool(is_finite.all())
        covered = (
            np.diff(edges).astype(np.float64) if is_complete else _integrals(times, is_finite.astype(np.float64), edges)
        )
        sums = _integrals(times, values if is_complete else np.where(is_finite, values, 0.0), edges)
        return Sums(sums, covered, *_extremes(times, values, edges))


class Curve(Protocol):
    """A curve that is summed up in any bins."""

    @property
    def step_count(self) -> int:
        """The number of steps that a sum over all time looks at."""

    def sums(self, bins: TimeBins) -> Sums:
        """Integrals and extremes in each bin."""


class StepLevels:
    """A curve over [start, end) in levels of detail; bins of level L are 2**L cycles long.

    Coarse levels are computed from cached sums of finer ones.
    """

    def __init__(
        self, curve: Curve, start_cycles: int, end_cycles: int, *, kept_bins: int = _BINS_MAX, many: int = _MANY_STEPS
    ) -> None:
        self._curve = curve
        self._start, self._end = start_cycles, end_cycles
        length = end_cycles - start_cycles
        self._level = max(0, (-(-length // kept_bins) - 1).bit_length())  # the finest one with at most kept_bins
        self._cached: Sums | None = None  # of that level
        if curve.step_count > many:
            self._cached = curve.sums(TimeBins(start_cycles, end_cycles, 1 << self._level, -(-length >> self._level)))

    def binned(self, level: int, first: int, count: int) -> Binned:
        """`count` bins of a level from bin `first` on."""
        if self._cached is None or level < self._level:
            start = self._start + (first << level)
            return self._curve.sums(TimeBins(start, self._end, 1 << level, count)).binned()
        joined_count = 1 << (level - self._level)  # cached bins per bin of the level
        rows = slice(first * joined_count, (first + count) * joined_count)
        return _joined(Sums(*(column[rows] for column in self._cached)), count, joined_count).binned()


def _joined(sums: Sums, count: int, many: int) -> Sums:
    """Every `many` bins as one; there is nothing after the last one."""

    def rows(part: Numbers, nothing: float) -> Numbers:
        padded = np.full(count * many, nothing)
        padded[: part.size] = part
        return padded.reshape(count, many)

    return Sums(
        rows(sums.integral, 0.0).sum(axis=1),
        rows(sums.covered, 0.0).sum(axis=1),
        np.fmin.reduce(rows(sums.low, np.nan), axis=1),
        np.fmax.reduce(rows(sums.high, np.nan), axis=1),
    )


def _integrals(times: npt.NDArray[np.int64], values: Numbers, edges: npt.NDArray[np.int64]) -> Numbers:
    """Integral over every bin; `times` starts with the first edge."""
    before = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(times))])
    place = np.searchsorted(times, edges, side="right") - 1
    return np.diff(before[place] + values[place] * (edges - times[place]))


def _extremes(times: npt.NDArray[np.int64], values: Numbers, edges: npt.NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Extremes per bin: of the value at its start and of every value inside of it, without NaN."""
    first = np.searchsorted(times, edges[:-1], side="right") - 1
    behind = np.searchsorted(times, edges[1:], side="left")
    pairs = np.column_stack([first, behind]).ravel()
    padded = np.append(values, np.nan)  # the last pair may end after the last value
    return np.fmin.reduceat(padded, pairs)[::2], np.fmax.reduceat(padded, pairs)[::2]
