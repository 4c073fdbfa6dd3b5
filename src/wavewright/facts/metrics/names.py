"""Names in formulas: quantities that the engine knows, rates of the hardware, and sub-expressions declared once.

Also the counters that a profiler derives itself (FETCH_SIZE, L2CacheHit, ...), with their units.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from wavewright.errors import UsageError
from wavewright.facts.loader import packaged
from wavewright.facts.metrics.families import family_of, for_target

#: What amounts can be divided by -> the counter of it; empty = no counter.
NORMALIZATIONS = {"kernel": "", "wave": "SQ_WAVES", "cycle": "GRBM_GUI_ACTIVE", "second": ""}
_FACTS = packaged("metrics/formula_names.toml")
UNKNOWN_FACTS: dict[str, str] = _FACTS["unknown_facts"]  #: Facts of the GPU -> how sentences call them.
ASSUMED_FACTS: dict[str, str] = _FACTS["assumed_facts"]  #: Those that a product may tell -> how sentences call them.
SYSINFO: dict[str, str] = _FACTS["sysinfo"]  #: Facts of the GPU -> columns of sysinfo.csv.
STORED_STATISTICS: dict[str, str] = _FACTS["stored_statistics"]  #: Names in databases -> columns of panels.
STORED_LAYOUTS: dict[str, str] = _FACTS["stored_layouts"]  #: Column of a stored table -> its layout.
#: Quantities in formulas that are no counters: per dispatch, of the launch, and of the GPU.
QUANTITIES: dict[str, str] = _FACTS["quantities"]
#: Quantity -> the counters that it is made of.
QUANTITY_COUNTERS: dict[str, list[str]] = _FACTS["counters"]
_PROFILER = packaged("metrics/profiler_units.toml")
_RATIOS: dict[str, str] = {name: unit for unit, names in _PROFILER["ratios"].items() for name in names}
_AMOUNTS: dict[str, str] = {name: unit for unit, names in _PROFILER["amounts"].items() for name in names}
_NAME = re.compile(r"(?<![\w.])[a-z_][a-z0-9_]*")
_DEPTH_MAX = 16


@cache
def names_of(target: str) -> Mapping[str, str]:
    """Sub-expressions and rates that formulas of a target may use: name -> formula as declared, or number."""
    from wavewright.facts import gpus

    names = {}
    family = family_of(target)
    if family is not None:
        sets = family.sets_of(target)
        expressions = {name: for_target(entry, sets) for name, entry in family.common.get("expressions", {}).items()}
        names = {name: formula for name, formula in expressions.items() if formula is not None}
    if target in gpus.TARGETS:
        names |= {f"rate_{name}": str(rate) for name, rate in gpus.of(target).rates.items()}
    return names


def expanded(formula: str, target: str) -> str:
    """A formula with sub-expressions and rates of the target put in: counters and quantities are left.

    Raises `UsageError` when sub-expressions are nested deeper than 16 levels, as in a circle.

    >>> expanded("100 * TCC_REQ * rate_l2_bytes", "gfx942")
    '100 * TCC_REQ * 128'
    """
    names = names_of(target)
    text = formula.strip()
    while text in names:  # the whole formula is one name: no parentheses are needed
        text = names[text]
    names_put_in = {name: part if name.startswith("rate_") else f"({part})" for name, part in names.items()}
    for _ in range(_DEPTH_MAX):
        used = [name for name in _NAME.findall(text) if name in names]
        if not used:
            return text
        text = _NAME.sub(lambda match: names_put_in.get(match[0], match[0]), text)
    raise UsageError(f"sub-expressions of {formula[:60]!r} are nested deeper than {_DEPTH_MAX} levels")


def unit_of(counter: str) -> str:
    """The unit of a counter; empty = a number of events, or not known.

    >>> unit_of("FETCH_SIZE"), unit_of("L2CacheHit"), unit_of("TCC_HIT")
    ('KiB', '%', '')
    """
    return _AMOUNTS.get(counter) or _RATIOS.get(counter, "")


def is_ratio(counter: str) -> bool:
    """Whether sums of it over dispatches mean nothing."""
    return counter in _RATIOS


def is_derived(counter: str) -> bool:
    """Whether a profiler computed it from counters of the hardware."""
    return counter in _AMOUNTS or counter in _RATIOS
