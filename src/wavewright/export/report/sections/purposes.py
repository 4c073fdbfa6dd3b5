"""Purposes of a report: its topics, its numbers of rows, and whether it has pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Purpose:
    """One purpose of a report."""

    name: str
    meaning: str
    row_limit: int  #: Rows of a table, where --top does not say otherwise.
    finding_limit: int
    topics: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  #: Kind -> topics; nothing = all of them.
    with_pictures: bool = True
    with_definitions: bool = True


_TABLE = (
    Purpose(
        "full",
        "every topic that the capture can answer",
        row_limit=20,
        finding_limit=20,
    ),
    Purpose(
        "brief",
        "one page: the headline, three findings and one picture",
        row_limit=8,
        finding_limit=3,
        topics={"run": ("diagnose", "budget"), "trace": ("diagnose", "hotspots"), "counters": ("diagnose", "roofline")},
        with_definitions=False,
    ),
    Purpose(
        "issue",
        "for a ticket or a pull request: findings and what supports them, Markdown below 60 KB",
        row_limit=10,
        finding_limit=10,
        topics={
            "run": ("about", "diagnose", "budget", "summary", "gaps", "launches", "ranks", "steps"),
            "trace": ("about", "diagnose", "hotspots", "source", "stalls", "waits", "coverage"),
            "counters": ("about", "diagnose", "speed", "roofline", "l2"),
        },
    ),
    Purpose(
        "agent",
        "for a language model: findings with handles and what to ask next, Markdown below 8 KB",
        row_limit=8,
        finding_limit=3,
        topics={"run": ("diagnose", "budget"), "trace": ("diagnose", "hotspots"), "counters": ("diagnose", "speed")},
        with_pictures=False,
        with_definitions=False,
    ),
)
PURPOSES: dict[str, Purpose] = {purpose.name: purpose for purpose in _TABLE}


def purpose_of(name: str) -> Purpose:
    """The purpose of that name.

    Raises
    ------
    UsageError
        When there is none.
    """
    purpose = PURPOSES.get(name)
    if purpose is None:
        raise UsageError(f"no purpose {name[:40]!r} of a report", advice=f"purposes: {', '.join(PURPOSES)}")
    return purpose
