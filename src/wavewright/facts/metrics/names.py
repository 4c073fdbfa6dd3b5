"""Names in formulas: quantities that the engine knows, rates of the hardware, and sub-expressions declared once."""

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
#: Quantities in formulas that are no counters: per dispatch, of the launch, and of the GPU.
QUANTITIES: dict[str, str] = _FACTS["quantities"]

#: Quantity -> the counters that it is made of.
QUANTITY_COUNTERS: dict[str, list[str]] = _FACTS["counters"]

_NAME = re.compile(r"(?<![\w.])[a-z_][a-z0-9_]*")
_DEPTH_MAX = 16


def names_of(target: str) -> Mapping[str, str]:
    """Sub-expressions and rates that formulas of a target may use: name -> formula as declared, or number.

    >>> names_of("gfx942")["rate_mfma_f16"], names_of("gfx90a")["rate_l2_bytes"]
    ('2048', '128')
    >>> names_of("gfx908")["fabric_read_bytes"]
    '64 * TCC_EA0_RDREQ - 32 * TCC_EA0_RDREQ_32B'
    """
    return _names(target)


def expanded(formula: str, target: str) -> str:
    """A formula with sub-expressions and rates of the target put in: counters and quantities are left.

    Raises `UsageError` when sub-expressions are nested deeper than 16 levels, as in a circle.

    >>> expanded("100 * TCC_REQ * rate_l2_bytes", "gfx942")
    '100 * TCC_REQ * 128'
    """
    names = _names(target)
    text = formula.strip()
    while text in names:  # the whole formula is one name: no parentheses are needed
        text = names[text]
    for _ in range(_DEPTH_MAX):
        used = [name for name in _NAME.findall(text) if name in names]
        if not used:
            return text
        text = _NAME.sub(lambda match: _put_in(names, match.group(0)), text)
    raise UsageError(f"sub-expressions of {formula[:60]!r} are nested deeper than {_DEPTH_MAX} levels")


def _put_in(names: Mapping[str, str], name: str) -> str:
    formula = names.get(name)
    if formula is None:
        return name
    return formula if name.startswith("rate_") else f"({formula})"


@cache
def _names(target: str) -> dict[str, str]:
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
