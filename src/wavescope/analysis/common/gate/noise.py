"""By how much quantities of two groups of captures may differ without a cause: the house's noise rule, for a gate.

Within a capture the rule is that of comparisons of runs. Between captures of a group it is Student's t over their
means, which needs two of a group or more (docs/adr/0016-one-noise-rule.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, sqrt
from typing import TYPE_CHECKING

from wavescope.analysis.common.noise import GATE_FALSE_ALARMS, LEAST_CHANGE, difference_bound, t_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.model.baseline import Quantity

_MANY = 10**6  #: Degrees of freedom of an error that is as good as certain.


@dataclass(frozen=True)
class Group:
    """The same quantity in every capture of a side that has it."""

    quantities: tuple[Quantity, ...]

    @property
    def mean(self) -> float:
        """Mean of the captures; 0 = none has it."""
        return fsum(each.mean for each in self.quantities) / max(len(self.quantities), 1)

    @property
    def error(self) -> tuple[float, int] | None:
        """Standard error of the mean by what is within captures, and its degrees; None = not known."""
        errors = [(each.error, each.degrees) for each in self.quantities]
        sure = [(error, degrees) for error, degrees in errors if error is not None and degrees]
        if not sure or len(sure) < len(errors):
            return None
        return sqrt(fsum(error**2 for error, _ in sure)) / len(sure), min(sum(each[1] for each in sure), _MANY)

    @property
    def between(self) -> tuple[float, int]:
        """Sum of the squares of deviations of captures from their mean, and its degrees of freedom."""
        mean = self.mean
        return fsum((each.mean - mean) ** 2 for each in self.quantities), max(len(self.quantities) - 1, 0)


def noise_of(
    base: Group, side: Group, *, row_count: int, pooled: float | None, scale: float, is_told_by_calls: bool
) -> float | None:
    """What the means may differ by, as a share of `scale`; None = not known.

    Parameters
    ----------
    row_count
        Quantities that the gate judges: the chance of any false alarm is that of all of them together.
    pooled
        `pooled_deviation` of all quantities like this one.
    is_told_by_calls
        Whether one capture of each side is enough.
    """
    bounds: list[float] = []
    tail = GATE_FALSE_ALARMS / max(row_count, 1)
    errors = base.error, side.error
    squares, degrees = (sum(pair) for pair in zip(base.between, side.between, strict=True))
    is_repeated = degrees > 0
    if errors[0] is not None and errors[1] is not None:
        bounds.append(difference_bound(tail, errors[0], errors[1]) / scale)
    elif not is_repeated:
        return None
    if is_repeated:
        wide = sqrt(sum(1 / max(len(each.quantities), 1) for each in (base, side)))
        bounds.append(t_bound(GATE_FALSE_ALARMS, int(degrees)) * sqrt(squares / degrees) * wide / scale)
        if pooled is not None:
            bounds.append(pooled * wide * base.mean / scale)
        return max(bounds)
    return max(*bounds, LEAST_CHANGE) if is_told_by_calls else None


def pooled_bound(pairs: Sequence[tuple[Group, Group]], row_count: int) -> float | None:
    """The bound of a deviation between captures that all quantities show together, as a share; None = no repeats.

    Few captures show the deviation of one quantity badly, that of many quantities well.
    """
    shares = [
        (sum(each.between[0] for each in pair) / pair[0].mean ** 2, sum(each.between[1] for each in pair))
        for pair in pairs
        if pair[0].mean
    ]
    degrees = sum(each for _, each in shares)
    if not degrees or len(shares) < 2:
        return None
    deviation = sqrt(fsum(square for square, _ in shares) / degrees)
    return t_bound(GATE_FALSE_ALARMS / max(row_count, 1), degrees) * deviation
