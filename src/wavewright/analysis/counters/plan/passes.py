"""The division of counters into passes: blocks have few counters each, and a ratio wants its counters together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wavewright.model.counters import ACCUMULATED

_SHARED_BLOCKS = {"SQC": "SQ", "SQG": "SQ"}  #: Prefix of counters -> block whose slots they take.


@dataclass(frozen=True)
class Need:
    """Counters that one formula reads."""

    counters: frozenset[str]
    level: str = ""  #: The level counter whose pass must measure them.
    #: Whether it divides or subtracts counters: then values of different passes do not go together.
    is_ratio: bool = False


@dataclass
class Packed:
    """One pass."""

    level: str = ""  #: The level counter that it accumulates; empty = none.
    counters: list[str] = field(default_factory=list)


def block_of(counter: str) -> str:
    """The hardware block whose counters a counter takes."""
    block = counter.split("_", 1)[0]
    return _SHARED_BLOCKS.get(block, block)


def pack(needs: Iterable[Need], slots: Mapping[str, int], *, everywhere: Iterable[str] = ()) -> list[Packed]:
    """Few passes that hold all counters of `needs`, and those of each ratio in one pass where a pass can hold them.

    Counters that are only added up stay together as well, as long as that takes no further pass.
    `slots` is the number of counters of each block in a pass; a block that it does not name has one. `everywhere`
    names counters of every pass. The same needs give the same passes, in whatever order they come.
    """
    ordered_needs = sorted(set(needs), key=lambda need: (-len(need.counters), need.level, sorted(need.counters)))
    shared = tuple(everywhere)
    tidy, plain = (_packed(ordered_needs, _Packing(slots, shared), sums_too=choice) for choice in (True, False))
    return tidy if len(tidy) <= len(plain) else plain


def _packed(needs: Sequence[Need], packing: _Packing, *, sums_too: bool) -> list[Packed]:
    """The passes; `sums_too` keeps counters that are only added up together as well."""
    for level in sorted({need.level for need in needs if need.level}):
        packing.place_level(level, [need for need in needs if need.level == level])
    free = [need for need in needs if not need.level]
    ratios = [need.counters for need in free if need.is_ratio]
    for group in ratios:
        if packing.fits_alone(group) and not any(group < other for other in ratios if packing.fits_alone(other)):
            packing.place_together(group)
    if sums_too:
        for need in free:
            for part in packing.parts(packing.unplaced(need.counters)):
                packing.place_beside(part, need.counters)
    remaining = {counter for need in free for counter in need.counters}
    packing.place_each(sorted(remaining, key=lambda counter: (block_of(counter), counter)))
    return packing.passes


class _Packing:
    """Passes while counters are put into them; `slots` and `everywhere` are as of `pack`."""

    def __init__(self, slots: Mapping[str, int], everywhere: tuple[str, ...]) -> None:
        self.slots = slots
        self.everywhere = everywhere
        self.passes: list[Packed] = []

    def fits(self, counters: Iterable[str]) -> bool:
        used = Counter(block_of(counter) for counter in counters)
        return all(count <= self.slots.get(block, 1) for block, count in used.items())

    def fits_alone(self, group: frozenset[str]) -> bool:
        return self.fits({*group, *self.everywhere})

    def parts(self, group: frozenset[str]) -> list[frozenset[str]]:
        """The group, or parts of it that a pass can hold: neighbours by name, which mostly belong together."""
        if self.fits_alone(group):
            return [group]
        parts = []
        for block in sorted({block_of(counter) for counter in group}):
            block_counters = sorted(counter for counter in group if block_of(counter) == block)
            room = max(1, self.slots.get(block, 1) - sum(block_of(name) == block for name in self.everywhere))
            parts += [frozenset(block_counters[at : at + room]) for at in range(0, len(block_counters), room)]
        return parts

    def place_level(self, level: str, needs: list[Need]) -> None:
        """The passes of one level counter: one, unless its formulas need more counters than fit beside it.

        The accumulator takes a counter of the same block, and there is one in a pass.
        """
        first_of_level = len(self.passes)
        for need in needs:
            group = need.counters | {level, ACCUMULATED}
            for pass_ in self.passes[first_of_level:]:
                if self.fits({*pass_.counters, *group}):
                    self._add(pass_, group)
                    break
            else:
                self._add(self._new(level), group if self.fits_alone(group) else {level, ACCUMULATED})
        self.place_each(sorted({counter for need in needs for counter in need.counters}))

    def place_together(self, group: frozenset[str]) -> None:
        if not any(group <= set(pass_.counters) for pass_ in self.passes) and not self.place_beside(group, group):
            self._add(self._new(), group)

    def unplaced(self, group: frozenset[str]) -> frozenset[str]:
        return group.difference(*(pass_.counters for pass_ in self.passes))

    def place_beside(self, part: frozenset[str], group: frozenset[str]) -> bool:
        """Put a part of a group where most of the group is; False if no pass has room for it."""
        fitting = [pass_ for pass_ in self.passes if self.fits({*pass_.counters, *part})]
        if fitting:
            self._add(max(fitting, key=lambda pass_: len(group.intersection(pass_.counters))), part)
        return bool(fitting)

    def place_each(self, counters: Iterable[str]) -> None:
        for counter in counters:
            if not any(counter in pass_.counters for pass_ in self.passes):
                fitting = (pass_ for pass_ in self.passes if self.fits({*pass_.counters, counter}))
                self._add(next(fitting, None) or self._new(), {counter})

    def _new(self, level: str = "") -> Packed:
        self.passes.append(Packed(level, list(self.everywhere)))
        return self.passes[-1]

    @staticmethod
    def _add(pass_: Packed, group: Iterable[str]) -> None:
        pass_.counters.extend(sorted(set(group) - set(pass_.counters), key=lambda name: (block_of(name), name)))
