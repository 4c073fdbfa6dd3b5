"""Axes of plots: where values lie, round numbers for ticks, and labels that never touch each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from wavewright.writers.svg.markup import Svg
from wavewright.writers.svg.plot_frame import SMALL, width_of

_STEP_FACTORS = (1.0, 2.0, 5.0, 10.0)  #: A step between ticks is one of these times a power of ten.
_MAX_FINE_POWERS = 3.5  #: Powers of ten up to which an axis has ticks at 2 and 5 times each power, too.
_LABEL_GAP = 10.0  #: Least distance between labels of ticks.
_TIME_UNITS = (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0))  #: Unit, and its nanoseconds.


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high` on a line of the picture from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """The place of a value; beyond the ends, at the end.

        >>> Scale(0, 10, 100, 200).at(2.5), Scale(1, 100, 0, 200, is_log=True).at(10.0)
        (125.0, 100.0)
        """
        if self.is_log:
            extent = math.log(self.high / self.low)
            share = math.log(max(value, self.low) / self.low) / extent if extent else 0.0
        else:
            extent = self.high - self.low
            share = (value - self.low) / extent if extent else 0.0
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)


def round_ticks(low: float, high: float, count: int = 6) -> list[float]:
    """At most about `count` round values from `low` to `high`.

    >>> round_ticks(0, 100), round_ticks(0, 3.2, 4)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [0.0, 1.0, 2.0, 3.0])
    """
    if not high > low:
        return [low]
    smallest_step = (high - low) / max(1, count)
    power = 10.0 ** math.floor(math.log10(smallest_step))
    # 0.999, 1e-9 and the like here and below allow for rounding errors
    step = next(factor * power for factor in _STEP_FACTORS if factor * power >= smallest_step * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def power_ticks(low: float, high: float) -> list[float]:
    """Powers of ten from `low` to `high`, with 2 and 5 times these where there are few.

    >>> power_ticks(900, 4e6), power_ticks(1_500, 9_000)
    ([1000.0, 10000.0, 100000.0, 1000000.0], [2000.0, 5000.0])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    digits = (1, 2, 5) if math.log10(high / low) <= _MAX_FINE_POWERS else (1,)
    candidates = [digit * 10.0**exponent for exponent in range(first, last + 1) for digit in digits]
    return [tick for tick in candidates if low * 0.999 <= tick <= high * 1.001]


def time_unit(longest_ns: float) -> tuple[str, float]:
    """The unit in which times up to this are written, and its nanoseconds.

    >>> time_unit(35_000_000), time_unit(0)
    (('ms', 1000000.0), ('ns', 1.0))
    """
    return next((pair for pair in _TIME_UNITS if longest_ns >= 2 * pair[1]), _TIME_UNITS[-1])


def plain(value: float) -> str:
    """A value of a tick.

    >>> plain(20.0), plain(0.30000000000000004), plain(12500.0)
    ('20', '0.3', '12,500')
    """
    text = f"{value:,.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


class Ticks(NamedTuple):
    """The values that an axis names, and how they are written."""

    values: list[float]
    words: Callable[[float], str] = plain

    @property
    def room(self) -> float:
        """The width that the labels of an axis at the left need."""
        return max(width_of(self.words(value), SMALL) for value in self.values) + 12


def unit_ticks(high: float, factor: float = 1.0, count: int = 6) -> Ticks:
    """About `count` ticks from 0 to `high`, written in a unit of `factor`.

    >>> ticks = unit_ticks(3_200_000, 1e6, 4)
    >>> ticks.values, ticks.words(2_000_000)
    ([0.0, 1000000.0, 2000000.0, 3000000.0], '2')
    """
    return Ticks([tick * factor for tick in round_ticks(0, high / factor, count)], lambda value: plain(value / factor))


def bottom_axis(svg: Svg, scale: Scale, ticks: Ticks, *, top: float, bottom: float, name: str = "") -> None:
    """Grid lines with their values below, and the name of the axis with its unit; takes 20 units, 38 with a name."""
    free_from = -math.inf
    for value in ticks.values:
        x, words = scale.at(value), ticks.words(value)
        svg.line("p-grid", [(x, top), (x, bottom)])
        half = width_of(words, SMALL) / 2
        if x - half >= free_from:
            svg.label("p-soft p-number", x, bottom + 16, words, size=SMALL, anchor="middle")
            free_from = x + half + _LABEL_GAP
    svg.line("p-rule", [(scale.start, bottom), (scale.end, bottom)])
    if name:
        middle = (scale.start + scale.end) / 2
        svg.label("p-soft", middle, bottom + 34, name, size=SMALL, anchor="middle")


def left_axis(svg: Svg, scale: Scale, ticks: Ticks, *, left: float, right: float, name: str = "") -> None:
    """Grid lines with their values at the left, and the name of the axis above them."""
    for value in ticks.values:
        y = scale.at(value)
        svg.line("p-grid", [(left, y), (right, y)])
        svg.label("p-soft p-number", left - 7, y + 4, ticks.words(value), size=SMALL, anchor="end")
    if name:
        svg.label("p-soft", left, min(scale.start, scale.end) - 9, name, size=SMALL)
