"""Caveats: reasons not to take numbers at face value, and the verdict that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SEVERITIES = ("fatal", "care", "note")  #: Worst first: do not draw conclusions; draw them with caution; worth knowing.


@dataclass(frozen=True)
class Caveat:
    """One reason not to take a trace at face value."""

    name: str
    severity: str  #: One of SEVERITIES.
    sentence: str
    advice: str
    numbers: dict[str, Any] = field(default_factory=dict)


def verdict(caveats: tuple[Caveat, ...]) -> str:
    """Return the trust that the worst caveat allows: yes, with caution or no.

    Examples
    --------
    >>> verdict(())
    'yes'
    """
    severities = {caveat.severity for caveat in caveats}
    return "no" if "fatal" in severities else "with caution" if "care" in severities else "yes"
