"""Counters that thread traces predict, parts of counters, and counters that are known to be wrong (closure.toml)."""

from __future__ import annotations

from functools import cache

from wavewright.facts.loader import Fact, FactTable, decoded, packaged

_FILE = "counters/closure.toml"


class PredictedCounter(Fact, frozen=True):
    """One counter of CDNA that the instructions or the lane addresses of traced waves predict."""

    counter: str
    label: str
    source: str  #: Evidence that the counter counts this.
    classes: tuple[str, ...] = ()  #: Of `code.class`; `*` = every instruction.
    lanes: str = ""  #: Cost by lane addresses: lds_cycles, lds_extra_cycles or segments; empty = `classes` tell.
    #: Beginnings of other classes that it may count too, which nobody checked: no prediction where one was executed.
    unless: tuple[str, ...] = ()


class CounterPart(Fact, frozen=True):
    """A counter that counts a part of what another counts."""

    part: str
    total: str


class CounterDefect(Fact, frozen=True):
    """A way in which a counter is known to be wrong."""

    counter: str
    targets: str  #: Prefix of the GPU targets; empty = all.
    factors: tuple[float, ...]  #: Shown over true.
    words: str  #: A clause about the counter.
    source: str


PREDICTED_COUNTERS = FactTable(_FILE, PredictedCounter, "predictions")  #: By the name of the counter.


@cache
def counter_parts() -> tuple[CounterPart, ...]:
    """Counters that cannot exceed another."""
    return decoded(packaged(_FILE)["parts"], tuple[CounterPart, ...], where=_FILE)


def known_defects(counter: str, target: str | None) -> tuple[CounterDefect, ...]:
    """Known defects of a counter on a GPU.

    >>> [defect.source for defect in known_defects("SQ_WAVES", "gfx1151")]
    ['ROCm/rocm-systems#3828']
    >>> known_defects("SQ_WAVES", "gfx942")
    ()
    """
    defects = decoded(packaged(_FILE)["defects"], tuple[CounterDefect, ...], where=_FILE)
    of_counter = (defect for defect in defects if defect.counter == counter)
    return tuple(defect for defect in of_counter if (target or "").startswith(defect.targets))
