"""Numbers of counters: the valid range, and the cells of a CSV file."""

from __future__ import annotations

import math

LARGEST = 1e24  #: Above the largest possible count: 64 bits, summed over the thousands of instances of a block.
SMALLEST = 1e-9  #: Below the smallest possible mean of counts that is not 0.

_MAX_DIGITS = 64


def is_count(value: float) -> bool:
    """True if a counter can have this value.

    Examples
    --------
    >>> is_count(0.0), is_count(12.5), is_count(-1.0), is_count(1e300), is_count(5e-324), is_count(float("nan"))
    (True, True, False, False, False, False)
    """
    return value == 0 or SMALLEST <= value <= LARGEST


def number(cell: str) -> float | None:
    """The number in a cell; None = not a finite number.

    Examples
    --------
    >>> number("12"), number(" 1e3 "), number("1,234"), number("1_000"), number("inf")
    (12.0, 1000.0, None, None, None)
    """
    if len(cell.strip()) > _MAX_DIGITS or "_" in cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
