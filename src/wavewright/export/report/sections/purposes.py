"""The purposes of a report (facts/report_purposes.toml): its topics, numbers of rows, pictures and definitions."""

from __future__ import annotations

import msgspec

from wavewright.errors import UsageError
from wavewright.facts.loader import Fact, FactTable


class Purpose(Fact, frozen=True):
    """One purpose of a report."""

    name: str
    meaning: str
    row_limit: int  #: Rows of a table without --top.
    finding_limit: int
    topics: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)  #: Kind -> topics; none = all of them.
    with_pictures: bool = True
    with_definitions: bool = True


PURPOSES = FactTable("report_purposes.toml", Purpose)


def purpose_of(name: str) -> Purpose:
    """The purpose of that name; UsageError when there is none."""
    purpose = PURPOSES.get(name)
    if purpose is None:
        raise UsageError(f"no purpose {name[:40]!r} of a report", advice=f"purposes: {', '.join(PURPOSES)}")
    return purpose
