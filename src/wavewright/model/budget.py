"""`Budget`: limits that a capture has to stay within, whatever was measured before."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """One limit of a budget."""

    text: str  #: As it was written.
    subject: str  #: A name of `wavewright.analysis.common.gate.check`.
    name: str  #: Part of a recorded name, or a /regular expression/; empty = the subject has no names.
    is_at_most: bool  #: Else the value is the least that is allowed.
    value: float
    unit: str  #: ns, share, cycles; empty = as measured.


@dataclass(frozen=True)
class Budget:
    """The limits of one file."""

    path: str
    limits: tuple[Limit, ...]
    strongest_finding: float | None = None  #: Share of the time that no finding may promise; None = not asked for.
