"""Formulas of the L2 metrics (l2_traffic.toml)."""

from __future__ import annotations

from functools import cache

from wavewright.facts.loader import Fact, decoded, packaged
from wavewright.facts.metrics.expression import Expression, parse


class TrafficFormula(Fact, frozen=True):
    """One way to compute a metric from sums of counters over dispatches."""

    metric: str
    formula: str
    label: str = ""  #: The formula as users read it; empty = as it is written.
    also: tuple[str, ...] = ()  #: Counters that must be measured, too: they show that the GPU counts by size.
    is_lower_bound: bool = False  #: Whether requests may be larger than the formula can see.
    is_upper_bound: bool = False  #: Whether requests may be smaller than the formula takes them for.
    targets: str = ""  #: Prefix of the GPU targets that it is valid for; empty = all that have the counters.

    @property
    def expression(self) -> Expression:
        """The parsed formula."""
        return parse(self.formula)

    @property
    def counters(self) -> tuple[str, ...]:
        """Counters that it needs."""
        return (*self.expression.counters, *self.also)


@cache
def traffic_formulas() -> tuple[TrafficFormula, ...]:
    """The formulas in the order in which they are preferred, per metric."""
    declared = packaged("counters/l2_traffic.toml")["formulas"]
    return decoded(declared, tuple[TrafficFormula, ...], where="l2_traffic.toml")
