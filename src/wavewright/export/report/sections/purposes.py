"""Purposes of a report: its topics, its numbers of rows, and whether it has pictures (facts/report_purposes.toml)."""

from __future__ import annotations

import msgspec

from wavewright.errors import UsageError
from wavewright.facts.loader import Fact, FactTable


class Purpose(Fact, frozen=True):
    """One purpose of a report."""

    name: str
    meaning: str
    row_limit: int  #: Rows of a table, where --top does not say otherwise.
    finding_limit: int
    topics: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)  #: Kind -> topics; nothing = all of them.
    with_pictures: bool = True
    with_definitions: bool = True


PURPOSES = FactTable("report_purposes.toml", Purpose)


def purpose_of(name: str) -> Purpose:
    """The purpose of that name; UsageError when there is none."""
    purpose = PURPOSES.get(name)
    if purpose is None:
        raise UsageError(f"no purpose {name[:40]!r} of a report", advice=f"purposes: {', '.join(PURPOSES)}")
    return purpose
