"""A check as it is declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.capture.doctor.check import Answer, Area, Level
    from wavewright.capture.doctor.sight import Sight


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What is known of a check before anything is looked at, and the function that looks."""

    number: int  #: Place in the list of checks that the documentation describes.
    name: str  #: The word that names it in JSON.
    title: str
    area: Area
    level: Level
    reads: str  #: Files, variables and commands, for the documentation.
    healthy: str  #: The healthy value, for the documentation.
    remedy: str  #: What helps in general, for the documentation.
    why: str  #: Why it matters.
    needs: tuple[str, ...] = ()  #: Names of checks without which this one says nothing.
    otherwise: str = ""  #: The reason that checks give which need this one, when it fails.
    look: Callable[[Sight], Answer]
