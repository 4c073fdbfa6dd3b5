"""The quantities that more than one surface states (quantities.toml)."""

from __future__ import annotations

from wavewright.facts.loader import Fact, FactTable


class Quantity(Fact, frozen=True):
    """One quantity: every surface that states it states the same number."""

    key: str
    of: str  #: Kind of document: trace, run or counters.
    definition: str
    unit: str  #: "share" = from 0 to 1, of the whole that the definition names.
    part_of: str = ""  #: The quantity that it is a part of; empty = none is stated.


QUANTITIES = FactTable("metrics/quantities.toml", Quantity)  #: By their key.
