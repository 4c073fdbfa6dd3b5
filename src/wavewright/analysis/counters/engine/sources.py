"""The pass that each counter of a formula comes from: counters of one formula are best measured together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wavewright.analysis.counters.engine.columns import Columns
from wavewright.analysis.counters.engine.quantities import CYCLES
from wavewright.facts.metrics.expression import Expression
from wavewright.facts.metrics.names import NORMALIZATIONS
from wavewright.facts.metrics.nodes import Leaf
from wavewright.model.counters import ACCUMULATED

PER_ROW = -1  #: In `Needed.channels`: the channel of the row, in metrics with one row per channel.


class Needed(NamedTuple):
    """A counter that a formula reads, under the name that stands for it in the formula."""

    key: str
    counter: str
    #: None = the counter over all channels; (PER_ROW,) = one value for each channel; else the sum of these channels.
    channels: tuple[int, ...] | None = None

    @property
    def column(self) -> str:
        """The name for messages, with the channel where it is a single one."""
        is_single = self.channels is not None and len(self.channels) == 1 and self.channels[0] != PER_ROW
        return f"{self.counter}[{self.channels[0]}]" if is_single and self.channels else self.counter


@dataclass
class Resolved:
    """Where each counter of a formula comes from."""

    place: dict[str, tuple[int, Needed]]  #: Key -> pass, and what to read there.
    missing: tuple[str, ...] = ()

    @property
    def passes(self) -> frozenset[int]:
        """Passes that are read; several are different executions."""
        return frozenset(number for number, _ in self.place.values())


#: Names of level counters, which add up how many waves, fetches, instructions or requests are in flight.
LEVEL = re.compile(r"SQC?_(?:\w+_)?LEVEL(?:_\w+)?")


class Sources:
    """The passes of a capture, in which the counters of a formula are found."""

    def __init__(self, columns: Columns, channel_count: int) -> None:
        self.columns = columns
        self.channel_count = channel_count
        accumulating = {number for number, pass_columns in columns.passes.items() if ACCUMULATED in pass_columns.names}
        self._pass_of_level = {columns.name_of[number]: number for number in sorted(accumulating, reverse=True)}
        plain = [number for number in columns.passes if number not in accumulating]
        joined = [number for number in plain if number in columns.joined]
        single = [number for number in plain if number not in columns.joined]
        self._order = [*single, *joined, *sorted(accumulating)]  # passes in the order of preference
        #: The pass of what no level pass has: the joined one, or the first.
        self.main: int | None = next(iter((*joined, *single)), None)

    def level_pass(self, level: str) -> int | None:
        """The pass that accumulates a level counter; None = there is none.

        A file that joins several level passes has one accumulator, and does not say whose.
        """
        if level in self._pass_of_level:
            return self._pass_of_level[level]
        for number in self._order:
            names = self.columns.passes[number].names
            levels = [name for name in names if LEVEL.fullmatch(name)]
            if ACCUMULATED in names and levels == [level] and len(self._pass_of_level) < 2:
                return number
        return None

    def resolve(self, expression: Expression, level: str, normalization: str, prefix: str = "") -> Resolved:
        """The pass of each counter; what no pass has is missing. Both spellings of fabric counters are read."""
        needed = needed_by(expression, normalization, self.channel_count)
        place: dict[str, tuple[int, Needed]] = {}
        level_pass = self.level_pass(level) if level else None
        if level_pass is not None:  # also for the divisors: another pass is another execution, of another length
            level_counters = [item for item in needed if self._has(level_pass, item)]
            place |= {item.key: (level_pass, self.reading(level_pass, item)) for item in level_counters}
        remaining = [item for item in needed if item.key not in place and item.counter != ACCUMULATED]
        place |= self._spread(remaining)
        return Resolved(place, tuple(dict.fromkeys(item.column for item in needed if item.key not in place)))

    def holding(self, needed: Sequence[Needed]) -> list[int]:
        """Passes that have all of these, in order of preference."""
        return [number for number in self._order if all(self._has(number, item) for item in needed)]

    def _spread(self, needed: Sequence[Needed]) -> dict[str, tuple[int, Needed]]:
        """All of them from one pass if there is such a pass, else from as few as are needed."""
        place: dict[str, tuple[int, Needed]] = {}
        remaining = list(needed)
        while remaining:
            best, most = None, 0
            for number in self._order:
                count = sum(self._has(number, item) for item in remaining)
                if count > most:
                    best, most = number, count
                if most == len(remaining):
                    break
            if best is None:
                break
            place |= {item.key: (best, self.reading(best, item)) for item in remaining if self._has(best, item)}
            remaining = [item for item in remaining if item.key not in place]
        return place

    def _has(self, number: int, needed: Needed) -> bool:
        columns = self.columns.passes[number]
        has_total, channels = needed.counter in columns.names, columns.channels.get(needed.counter, ())
        if needed.channels is None:
            return has_total or 0 < len(channels) == self.channel_count
        if needed.channels == (PER_ROW,):
            return bool(channels)
        return (has_total and len(needed.channels) == self.channel_count) or set(needed.channels) <= set(channels)

    def reading(self, number: int, needed: Needed) -> Needed:
        """Counters to read in a pass that has it: the counter for the sum of its channels, and the other way round."""
        columns = self.columns.passes[number]
        if needed.channels is None and needed.counter not in columns.names:
            return Needed(needed.key, needed.counter, tuple(columns.channels[needed.counter]))
        channels = columns.channels.get(needed.counter, ())
        if needed.channels in (None, (PER_ROW,)) or set(needed.channels or ()) <= set(channels):
            return needed
        return Needed(needed.key, needed.counter)


def needed_by(expression: Expression, normalization: str, channel_count: int) -> list[Needed]:
    """The counters behind a formula, those of its quantities too."""
    items = []
    for leaf in expression.leaves:
        if leaf.counter:
            items.append(Needed(leaf.text, leaf.counter, _channels(leaf, channel_count)))
        elif leaf.text in CYCLES:
            items.append(Needed(leaf.text, CYCLES[leaf.text]))
        elif leaf.text == "accumulated":
            items.append(Needed(leaf.text, ACCUMULATED))
        elif leaf.text == "norm" and NORMALIZATIONS[normalization]:
            items.append(Needed("norm", NORMALIZATIONS[normalization]))
    return items


def _channels(leaf: Leaf, channel_count: int) -> tuple[int, ...] | None:
    """`Needed.channels` of a counter in a formula."""
    if leaf.first is None or (leaf.end == -1 and channel_count <= leaf.first):
        return None
    if leaf.end is None:
        return (leaf.first,)
    return tuple(range(leaf.first, channel_count if leaf.end == -1 else leaf.end))
