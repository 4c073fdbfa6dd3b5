"""Caveats: reasons not to take numbers at face value."""

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
