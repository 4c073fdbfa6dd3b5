"""Values of SQLite, which may be of any type in any column, as values of one type. The native core does the same."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

#: Types of columns, by the numbers that the native core uses (wavewright::SqliteType).
INTEGER, REAL, TEXT, CATEGORY = range(4)

_OWN = {INTEGER: {int, type(None)}, REAL: {float, type(None)}, TEXT: {str, type(None)}, CATEGORY: {str, type(None)}}
_NUMBER = re.compile(r"[+-]?(?:(\d+)|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)", re.ASCII)
_SPACE = " \t\n\v\f\r"
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1


def fitted(values: Sequence[Any], kind: int) -> tuple[Sequence[Any], int]:
    """Values as those of a type, None where they do not fit, and how many do not.

    >>> fitted([1, " 2 ", 3.0, 3.5, "x", None], INTEGER)
    ([1, 2, 3, None, None, None], 2)
    >>> fitted([1, 2.5, "x"], TEXT)
    (['1', '2.5', 'x'], 0)
    """
    if set(map(type, values)) <= _OWN[kind]:
        return values, 0
    results = [_fitted_one(value, kind) for value in values]
    return results, sum(new is None and old is not None for new, old in zip(results, values, strict=True))


def number_of(text: str) -> int | float | None:
    """The number that a text is, white space around it aside; None when it is none, or one that no real can hold.

    >>> number_of(" +12 "), number_of("1e3"), number_of("1_000"), number_of("1e999")
    (12, 1000.0, None, None)
    """
    match = _NUMBER.fullmatch(text.strip(_SPACE))
    if match is None:
        return None
    digits = match.group()
    # An Int64 has a sign and 19 digits at most; longer ones are read as reals.
    if match.group(1) and len(digits) <= 20 and _INT64_MIN <= (integer := int(digits)) <= _INT64_MAX:
        return integer
    value = float(digits)
    mantissa = re.split("[eE]", digits)[0]
    return None if math.isinf(value) or (value == 0 and mantissa.strip("+-.0")) else value


def _fitted_one(value: Any, kind: int) -> Any:
    if kind in (TEXT, CATEGORY):
        if isinstance(value, int | float):
            return repr(value)
        return value if isinstance(value, str) else None
    if isinstance(value, str):
        value = number_of(value)
    if not isinstance(value, int | float):
        return None
    if kind == REAL:
        return float(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() and _INT64_MIN <= value <= _INT64_MAX else None
    return value
