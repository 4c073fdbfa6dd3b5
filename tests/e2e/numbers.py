"""Numbers as the page writes them (web/src/base/format.ts), to compare what is on screen with the analyses."""

from __future__ import annotations

import math

UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K"))


def exact(value: float) -> str:
    """1234567 -> "1,234,567"."""
    return f"{math.floor(value + 0.5):,}"


def percent(share: float) -> str:
    """0.1234 -> "12.3 %"."""
    return f"{share * 100:.1f} %".replace("-0.0 %", "0.0 %") if abs(share) < 0.001 else f"{share * 100:.1f} %"


def short(value: float) -> str:
    """1234567 -> "1.23 M"."""
    for scale, unit in UNITS:
        if abs(value) >= scale:
            return f"{value / scale:#.3g} {unit}".replace(". ", " ")
    return str(int(value)) if value == int(value) else f"{value:#.3g}"


def measured(value: float | None) -> str:
    """A value of a metric: 1234567.8 -> "1,234,568", 75.588 -> "75.59", 0.00123 -> "0.00123"."""
    if value is None:
        return ""
    size = abs(value)
    if size >= 1000 or abs(value - round(value)) <= 1e-9 * size:
        return exact(value)
    if size >= 0.1:
        return f"{value:.2f}"
    return f"{value:#.3g}" if size >= 1e-4 else f"{value:.2e}".replace("e-0", "e-")
