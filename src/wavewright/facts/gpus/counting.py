"""Capacity of one pass of a counter capture on a target, from `counting.toml`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wavewright.errors import UsageError
from wavewright.facts.loader import packaged


@dataclass(frozen=True)
class Counting:
    """Limits and names of counters on one target."""

    #: Block -> counters that it can count in one pass. SQ stands for SQC too; a block without a number has one.
    slots: dict[str, int] = field(hash=False)
    summed: tuple[str, ...]  #: Blocks whose counters the collector adds up under a name that ends in `_sum`.
    #: Our name, or what it begins with if it ends in `_` -> name of the collector.
    spelling: dict[str, str] = field(hash=False)
    missing: tuple[str, ...]  #: Counters that the collector cannot count on this target.
    accumulates: bool = True  #: Whether level counters can be added up cycle by cycle.
    l2_channels_per_xcd: int | None = None  #: L2 channels of one die; None = channels have no names of their own.
    note: str = ""  #: What the numbers are worth, where they are not known from captures.

    def spelled(self, counter: str) -> str:
        """The name under which the collector knows the total of a counter.

        >>> counting_of("gfx90a").spelled("TCC_EA0_RDREQ"), counting_of("gfx942").spelled("SQ_WAVES")
        ('TCC_EA_RDREQ_sum', 'SQ_WAVES')
        """
        name = self.spelled_raw(counter)
        return f"{name}_sum" if counter.split("_", 1)[0] in self.summed else name

    def spelled_raw(self, counter: str) -> str:
        """The name of the counter itself, which has a value per instance.

        >>> counting_of("gfx908").spelled_raw("TCC_EA0_RDREQ"), counting_of("gfx908").spelled_raw("TCC_EA0_RDREQ_DRAM")
        ('TCC_EA_RDREQ', 'TCC_EA0_RDREQ_DRAM')
        """
        for ours, theirs in self.spelling.items():
            if counter == ours or (ours.endswith("_") and counter.startswith(ours)):
                return theirs + counter[len(ours) :]
        return counter


def counting_of(target: str) -> Counting:
    """The capacity of a target such as `gfx942`. Raises `UsageError` when nothing is known about such targets."""
    declared = packaged("gpus/counting.toml")
    prefix = max((name for name in declared if target.startswith(name)), key=len, default=None)
    if prefix is None:
        what = f"it is not known how many counters {target[:60]!r} can count at once"
        raise UsageError(what, advice=f"available: targets that start with {', '.join(sorted(declared))}")
    facts: dict[str, Any] = {}
    while prefix is not None:
        facts = declared[prefix] | facts
        prefix = declared[prefix].get("base")
    facts.pop("base", None)
    return Counting(**facts | {"summed": tuple(facts["summed"]), "missing": tuple(facts["missing"])})
