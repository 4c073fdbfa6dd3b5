"""Wait instructions of each family: their texts and the largest values that they can say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from wavewright.base.toml import packaged

#: Family -> counter -> largest value of a wait.
_MOST: Final[dict[str, dict[str, int]]] = packaged("waits.toml", __package__)
_SHIFT: Final = 8  #: Of the first counter in waits of gfx12 and gfx1250 for two.


def has_forms(family: str | None) -> bool:
    """True if waits of a family can be written."""
    return family in _MOST


def most_of(family: str, counter: str) -> int:
    """The largest value of a wait for a counter."""
    return _MOST[family].get(counter, 0)


def wait_texts(values: Mapping[str, int], family: str) -> list[str]:
    """The fewest instructions that wait for counters to come down to values.

    >>> wait_texts({"loadcnt": 3, "dscnt": 5, "kmcnt": 0}, "gfx12")
    ['s_wait_loadcnt_dscnt 0x305', 's_wait_kmcnt 0x0']
    """
    values_known = {name: min(values[name], most) for name, most in _MOST[family].items() if name in values}
    if not family.startswith("gfx12"):
        stores = values_known.pop("vscnt", None)
        counts = " ".join(f"{name}({value})" for name, value in values_known.items())
        texts = [f"s_waitcnt {counts}"] if counts else []
        return texts + ([] if stores is None else [f"s_waitcnt_vscnt null, {stores:#x}"])
    texts = []
    first = next((name for name in ("loadcnt", "storecnt") if name in values_known), None)
    if first and "dscnt" in values_known:
        texts.append(f"s_wait_{first}_dscnt {values_known.pop(first) << _SHIFT | values_known.pop('dscnt'):#x}")
    return texts + [f"s_wait_{name} {value:#x}" for name, value in values_known.items()]
