"""The noise rule of every comparison: by how much equal things may differ, and how often that is called a change.

A difference counts when it exceeds the bound of Student's t (Welch's for two means) and, where captures of one program
differ without a cause, `LEAST_CHANGE`. The strength of the bound depends on the number of rows compared and of samples
per row (docs/adr/0016-one-noise-rule.md).
"""

from __future__ import annotations

from functools import cache
from math import cos, inf, pi, sin, sqrt, tan

MEAN_TAIL = 0.05  #: A mean is given with the interval that contains 95 % of such means.
MANY_UNITS_FACTOR = 1.5  #: Units of a trace: hundreds of rows, few batches of waves each; widens the 95 % bound.
RUN_FALSE_ALARMS = 0.01  #: Rows of runs: chance that a comparison of equal runs reports any change at all.
#: Gates: chance that equal captures are taken for different in any quantity; half of it is for slower ones.
GATE_FALSE_ALARMS = 0.01
LEAST_CHANGE = 0.01  #: Share; runs and captures of the same program differ by this much without a cause.

_MOST_DEGREES = 200  #: Degrees of freedom from which on t hardly differs from normal.
_NORMAL_BOUND = 1.959964  #: What a normal variable exceeds, up or down, with the probability `MEAN_TAIL`.


def t_bound(tail: float, degrees: int) -> float:
    """Bound that a Student's t variable exceeds, up or down, with probability `tail`.

    >>> round(t_bound(0.05, 1), 2), round(t_bound(0.05, 10), 3), round(t_bound(0.01, 60), 3)
    (12.71, 2.228, 2.66)
    """
    return _t_bound(tail, min(degrees, _MOST_DEGREES)) if degrees > 0 else inf


def difference_bound(tail: float, base: tuple[float, int], other: tuple[float, int]) -> float:
    """Difference that two means of equal things have with probability `tail`; each: standard error, degrees of freedom.

    Degrees of freedom of the difference are those of Welch and Satterthwaite.

    >>> round(difference_bound(0.05, (3.0, 10), (4.0, 10)), 3)
    10.505
    """
    square = base[0] ** 2 + other[0] ** 2
    weight = base[0] ** 4 / base[1] + other[0] ** 4 / other[1]
    degrees = int(square**2 / weight) if weight else min(base[1], other[1])
    return t_bound(tail, max(degrees, 1)) * sqrt(square)


@cache
def _t_bound(tail: float, degrees: int) -> float:
    low, high = 0.0, pi / 2
    for _ in range(60):  # bisection, to the last bit of a float
        angle = (low + high) / 2
        low, high = (angle, high) if 1 - _inside(angle, degrees) > tail else (low, angle)
    return sqrt(degrees) * tan(low)


def _inside(angle: float, degrees: int) -> float:
    """The probability that a t variable lies within +-sqrt(degrees) * tan(angle): a finite series for whole degrees."""
    square, term, total = cos(angle) ** 2, 1.0, 1.0
    if degrees % 2 == 0:
        for k in range(2, degrees, 2):
            term *= square * (k - 1) / k
            total += term
        return sin(angle) * total
    if degrees == 1:
        return 2 * angle / pi
    for k in range(3, degrees, 2):
        term *= square * (k - 1) / k
        total += term
    return 2 / pi * (angle + sin(angle) * cos(angle) * total)


def share_bounds(share: float, count: int) -> tuple[float, float]:
    """The interval that holds the true share in 95 of 100 cases, when `count` independent observations show `share`.

    Wilson's score interval: unlike the normal one it is right for few observations and for shares near 0 and 1.
    """
    if count <= 0:
        return 0.0, 1.0
    width = _NORMAL_BOUND**2 / count
    middle = (share + width / 2) / (1 + width)
    half = _NORMAL_BOUND / (1 + width) * sqrt(share * (1 - share) / count + width / (4 * count))
    return max(0.0, middle - half), min(1.0, middle + half)
