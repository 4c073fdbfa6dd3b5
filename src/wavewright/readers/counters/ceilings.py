"""roofline.csv: the rates that a benchmark reached on the GPUs of the machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from wavewright.model.counters import COUNTER_SET

_SMALLEST, _LARGEST = 1e-3, 1e12  #: Rates outside, in 10^9 bytes or operations per second, are damage.
_NAME = re.compile(r"(?i)([a-z][a-z0-9]*?)(bw|flops|ops)(low|high)?")
_SPELLED = {"hbm": "HBM", "mall": "MALL", "l2": "L2", "l1": "L1", "lds": "LDS", "mfmafi8": "MFMAI8"}
_MOST_DEVICES = 1 << 16
_UNITS = {"bw": "Bw", "flops": "Flops", "ops": "Ops"}


def ceilings_of_rows(rows: Sequence[Mapping[str, str]]) -> pl.DataFrame:
    """The ceilings in rows of one device each; values that are not positive numbers are left out.

    >>> ceilings_of_rows([{"device": "0", "HBMBw": "4885.5", "hbmBwHigh": "4900"}]).row(0)
    (0, 'HBMBw', 4885.5, None, 4900.0)
    """
    ceilings: dict[tuple[int, str], dict[str, Any]] = {}
    for place, row in enumerate(rows):
        device = _device(row.get("device"), place)
        for field, cell in row.items():
            ceiling, value = _ceiling(field or ""), _number(cell)
            if ceiling and value is not None:
                name, column = ceiling
                ceilings.setdefault((device, name), {"device": device, "name": name}).setdefault(column, value)
    with_value = [ceiling for ceiling in ceilings.values() if "value" in ceiling]
    return pl.DataFrame(with_value, schema=COUNTER_SET["ceilings"].dtypes)


def _ceiling(field: str) -> tuple[str, str] | None:
    """The ceiling's name under one spelling, and the column of its value.

    >>> _ceiling("hbmBwHigh"), _ceiling("MFMAFI8OpsLow"), _ceiling("device")
    (('HBMBw', 'value_high'), ('MFMAI8Ops', 'value_low'), None)
    """
    match = _NAME.fullmatch(field.strip())
    if match is None:
        return None
    unit = _SPELLED.get(match[1].lower(), match[1].upper())
    column = "value" if match[3] is None else f"value_{match[3].lower()}"
    return f"{unit}{_UNITS[match[2].lower()]}", column


def _device(word: str | None, place: int) -> int:
    try:
        number = int(float(word or ""))
    except (ValueError, OverflowError):
        return place
    return number if 0 <= number < _MOST_DEVICES else place


def _number(word: object) -> float | None:
    try:
        value = float(str(word))
    except ValueError:
        return None
    return value if _SMALLEST < value < _LARGEST else None
