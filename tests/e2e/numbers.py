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
