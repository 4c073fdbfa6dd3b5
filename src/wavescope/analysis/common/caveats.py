"""Caveats: reasons not to take numbers at face value, and the verdict that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SEVERITIES = ("fatal", "care", "note")  #: Worst first: do not draw conclusions; draw them with care; worth knowing.


@dataclass(frozen=True)
class Caveat:
    """One reason not to take a trace at face value."""

    name: str
    severity: str  #: One of SEVERITIES.
    sentence: str
    advice: str
    numbers: dict[str, Any] = field(default_factory=dict)


def verdict(found: tuple[Caveat, ...]) -> str:
    """Good, with care, or do not: what the worst doubt asks for.

    Examples
    --------
    >>> verdict(())
    'good'
    """
    worst = {doubt.severity for doubt in found}
    return "do not" if "fatal" in worst else "with care" if "care" in worst else "good"
