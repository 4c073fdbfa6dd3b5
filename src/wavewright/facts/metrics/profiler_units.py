"""Units of the counters that a profiler derives itself (FETCH_SIZE, L2CacheHit, ...), and which of them are ratios."""

from __future__ import annotations

from wavewright.facts.loader import packaged

_FACTS = packaged("metrics/profiler_units.toml")
_RATIOS: dict[str, str] = {name: unit for unit, names in _FACTS["ratios"].items() for name in names}
_AMOUNTS: dict[str, str] = {name: unit for unit, names in _FACTS["amounts"].items() for name in names}


def unit_of(counter: str) -> str:
    """The unit of a counter; empty = a number of events, or not known.

    >>> unit_of("FETCH_SIZE"), unit_of("L2CacheHit"), unit_of("TCC_HIT")
    ('KiB', '%', '')
    """
    return _AMOUNTS.get(counter) or _RATIOS.get(counter, "")


def is_ratio(counter: str) -> bool:
    """Whether sums of it over dispatches mean nothing.

    >>> is_ratio("L2CacheHit"), is_ratio("FETCH_SIZE")
    (True, False)
    """
    return counter in _RATIOS


def is_derived(counter: str) -> bool:
    """Whether a profiler computed it from counters of the hardware.

    >>> is_derived("FETCH_SIZE"), is_derived("SQ_WAVES")
    (True, False)
    """
    return counter in _AMOUNTS or counter in _RATIOS
