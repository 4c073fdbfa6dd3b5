"""By how much quantities of two groups of captures may differ without a cause: the house's noise rule, for a gate.

Within a capture the rule is that of comparisons of runs. Between captures of a group it is Student's t over their
means, which needs two of a group or more; five or more tell it by themselves (docs/adr/0016-one-noise-rule.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, hypot, log, sqrt

from wavewright.analysis.common.noise import GATE_FALSE_ALARMS, LEAST_CHANGE, MEAN_TAIL, difference_bound, t_bound
from wavewright.model.baseline import Baseline, Quantity

_MANY = 10**6  #: Degrees of freedom of an error that is as good as certain.
_ENOUGH_REPEATS = 4  #: Degrees of freedom between captures from which on they tell the noise, and calls need not.
_FEWEST_ROWS = 3  #: Fewer quantities do not tell how variances are spread: there is no prior.
_LARGE = 8.0  #: From here on the series of digamma and trigamma are exact to ten digits.


@dataclass(frozen=True)
class Group:
    """The same quantity in every capture of a side that has it."""

    quantities: tuple[Quantity, ...]

    @property
    def mean(self) -> float:
        """Mean of the captures; 0 = none has it."""
        return fsum(quantity.mean for quantity in self.quantities) / max(len(self.quantities), 1)

    @property
    def error(self) -> tuple[float, int] | None:
        """Standard error of the mean by what is within captures, and its degrees; None = not known."""
        errors = [(quantity.error, quantity.degrees) for quantity in self.quantities]
        known = [(error, degrees) for error, degrees in errors if error is not None and degrees]
        if not known or len(known) < len(errors):
            return None
        return sqrt(fsum(error**2 for error, _ in known)) / len(known), min(sum(degrees for _, degrees in known), _MANY)

    @property
    def between(self) -> tuple[float, int]:
        """Sum of the squares of deviations of captures from their mean, and its degrees of freedom."""
        mean = self.mean
        return fsum((quantity.mean - mean) ** 2 for quantity in self.quantities), max(len(self.quantities) - 1, 0)


@dataclass(frozen=True)
class Noise:
    """Difference of the means of two groups that needs no cause, as shares."""

    alone: float  #: Of this quantity by itself: what is smaller than the threshold can be told.
    of_all: float  #: That any quantity of the gate may differ by: what fails has to exceed it.


def noise_of(
    base: Group, side: Group, *, row_count: int, prior: Prior | None, scale: float, is_told_by_calls: bool
) -> Noise | None:
    """Difference that the means of two groups may have, as a share of `scale`; None = not known.

    `row_count` quantities are judged in the same gate. `prior` is the spread of deviations between captures over these
    quantities. `is_told_by_calls`: one capture of each side is enough.
    """
    tail = GATE_FALSE_ALARMS / max(row_count, 1)
    first, second = base.error, side.error
    squares, degrees = squares_between(base, side)
    bounds: list[tuple[float, float]] = []
    if first is not None and second is not None and degrees < _ENOUGH_REPEATS:
        bounds.append((difference_bound(MEAN_TAIL, first, second), difference_bound(tail, first, second)))
    elif not degrees:
        return None
    if degrees:
        wide = sqrt(sum(1 / max(len(group.quantities), 1) for group in (base, side)))
        all_degrees, variance = _with_prior(squares, degrees, base.mean, prior)
        # Captures may differ as a whole: then all quantities are the same sample, and the prior tells nothing new.
        least = t_bound(GATE_FALSE_ALARMS, degrees) * sqrt(squares / degrees)
        of_all = max(least, t_bound(tail, all_degrees) * sqrt(variance))
        bounds.append((t_bound(MEAN_TAIL, all_degrees) * sqrt(variance) * wide, of_all * wide))
    elif not is_told_by_calls:
        return None
    alone, of_all = (max(pair) / scale for pair in zip(*bounds, strict=True))
    if not degrees:  # how captures differ was not seen: each is taken to deviate by LEAST_CHANGE
        of_all = hypot(of_all, t_bound(tail, _MANY) * LEAST_CHANGE * sqrt(2))
    return Noise(max(alone, LEAST_CHANGE), max(of_all, LEAST_CHANGE))


def squares_between(base: Group, side: Group) -> tuple[float, int]:
    """Squares of deviations of captures from the mean of their side, and their degrees of freedom, of both sides."""
    (squares, degrees), (side_squares, side_degrees) = base.between, side.between
    return squares + side_squares, degrees + side_degrees


def _with_prior(squares: float, degrees: int, mean: float, prior: Prior | None) -> tuple[int, float]:
    """Degrees and variance: few captures show that of one quantity badly, that of all quantities together well."""
    if prior is None:
        return degrees, squares / degrees
    all_degrees = degrees + prior.degrees
    return int(min(all_degrees, _MANY)), (squares + prior.degrees * prior.variance * mean**2) / all_degrees


@dataclass(frozen=True)
class Prior:
    """Spread of relative variances between captures over quantities: scaled inverse chi-squared."""

    variance: float  #: Relative.
    degrees: float  #: How many captures more it is worth.


def prior_of(pairs: Sequence[tuple[Group, Group]]) -> Prior | None:
    """The spread of variances that quantities show together; None = there are too few of them, or no repeats.

    The moments of the logarithms of sample variances give both parameters (Smyth 2004, "Linear models and empirical
    Bayes methods", part 6.2).
    """
    samples = []
    for base, side in pairs:
        squares, degrees = squares_between(base, side)
        if degrees and squares > 0 and base.mean:
            samples.append((squares / degrees / base.mean**2, degrees))
    if len(samples) < _FEWEST_ROWS:
        return None
    logs = [log(variance) - digamma(degrees / 2) + log(degrees / 2) for variance, degrees in samples]
    mean = fsum(logs) / len(logs)
    spread = fsum((value - mean) ** 2 for value in logs) / (len(logs) - 1)
    excess = spread - fsum(trigamma(degrees / 2) for _, degrees in samples) / len(samples)
    if excess <= 0:
        return Prior(exp(mean), _MANY)
    degrees_of_prior = 2 * _inverse_trigamma(excess)
    return Prior(exp(mean + digamma(degrees_of_prior / 2) - log(degrees_of_prior / 2)), min(degrees_of_prior, _MANY))


def digamma(value: float) -> float:
    """Derivative of the logarithm of the gamma function.

    >>> round(digamma(1.0), 6), round(digamma(10.5), 6)
    (-0.577216, 2.303001)
    """
    shift = 0.0
    while value < _LARGE:
        shift -= 1 / value
        value += 1
    square = 1 / value**2
    return shift + log(value) - 0.5 / value - square * (1 / 12 - square * (1 / 120 - square / 252))


def trigamma(value: float) -> float:
    """Derivative of `digamma`.

    >>> round(trigamma(1.0), 6), round(trigamma(2.0), 6)
    (1.644934, 0.644934)
    """
    shift = 0.0
    while value < _LARGE:
        shift += 1 / value**2
        value += 1
    square = 1 / value**2
    return shift + 1 / value + square / 2 + square / value * (1 / 6 - square * (1 / 30 - square / 42))


def _inverse_trigamma(target: float) -> float:
    low, high = 1e-3, 1e7
    for _ in range(100):  # bisection of the logarithm; trigamma falls
        middle = sqrt(low * high)
        low, high = (middle, high) if trigamma(middle) > target else (low, middle)
    return low


def groups_of(measured: Baseline, names: Mapping[str, str] | None = None) -> dict[tuple[str, str], Group]:
    """(Subject, name) -> the quantity in all captures; `names` maps names of kernels to others."""
    quantities_by_key: dict[tuple[str, str], list[Quantity]] = {}
    for capture in measured.captures:
        for quantity in capture.quantities:
            subject, name = quantity.key
            name = (names or {}).get(name, name) if subject == "kernel" else name
            quantities_by_key.setdefault((subject, name), []).append(quantity)
    return {key: Group(tuple(quantities)) for key, quantities in quantities_by_key.items()}
