"""The counters that a metric needs, and whether they have to be measured in one pass."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.analysis.counters.plan.passes import Need
from wavewright.facts.gpus.counting import Counting
from wavewright.facts.metrics.declared import Metric
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.names import QUANTITY_COUNTERS
from wavewright.model.counters import ACCUMULATED


@dataclass(frozen=True)
class Wanted:
    """One metric and the counters it needs."""

    metric: Metric
    need: Need  #: Empty when `obstacle` says why it cannot be measured, or when it needs no counters.
    has_channels: bool = False  #: Whether it reads single L2 channels.
    obstacle: str = ""


def wanted_of(metric: Metric, counting: Counting, channel_count: int = 0) -> Wanted:
    """The counters of a metric on a target with this number of L2 channels; 0 = unknown."""
    nothing = Need(frozenset())
    if metric.formula is None:
        return Wanted(metric, nothing, obstacle="this target has no counters for it")
    expression = parse(metric.formula)
    counters = set(expression.counters)
    for quantity in expression.quantities:  # `norm` may be waves or cycles, which are in every pass with room for them
        counters.update(QUANTITY_COUNTERS.get(quantity, ()))
    level = metric.level if "accumulated" in expression.quantities else ""
    absent = sorted(name for name in {*counters, level} if name in counting.missing)
    if absent:
        return Wanted(metric, nothing, obstacle=f"the collector cannot count {', '.join(absent)} on this target")
    if "accumulated" in expression.quantities and (not level or not counting.accumulates):
        why = "no level counter is named" if not level else f"this target cannot add up {level} cycle by cycle"
        return Wanted(metric, nothing, obstacle=why)
    channels = any(leaf.counter and leaf.first is not None for leaf in expression.leaves)
    if channels and not (counting.l2_channels_per_xcd and channel_count):
        why = "it is not known how many L2 channels there are; --target with the name of a product tells it"
        return Wanted(metric, nothing, obstacle=why)
    counters.discard(ACCUMULATED)
    is_ratio = len(counters) > 1 and not _is_sum(metric.formula)
    return Wanted(metric, Need(frozenset(counters), level, is_ratio), channels)


def _is_sum(formula: str) -> bool:
    """True if counters are only added and scaled: then they may come from different passes."""
    expression = parse(formula)
    scales = frozenset(expression.quantities) - {"grbm_cycles", "spi_busy_cycles"}
    return "-" not in formula and expression.degree(scales) == 1.0
