"""What a diagnosis is made of: findings with their evidence, their remedies and a bound of what they can gain."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Evidence", "Finding", "Remedy"]


@dataclass(frozen=True)
class Evidence:
    """One code row that a finding rests on.

    Examples
    --------
    >>> Evidence(7, 264, "s_waitcnt vmcnt(0)", None, None, 4, 400, 380, ()).text
    's_waitcnt vmcnt(0)'
    """

    row: int
    address: int
    text: str
    file: str | None
    line: int | None
    execution_count: int
    stall_cycles_total: int
    exposed_cycles_total: int
    producers: tuple[str, ...]
    """The instructions it waited for, by mnemonic, with how long before they were issued (mean cycles)."""


@dataclass(frozen=True)
class Remedy:
    """One thing to change, for some of the rows of a finding.

    Examples
    --------
    >>> Remedy("split the wait", "wait for the older loads first", (7,), 380).rows
    (7,)
    """

    name: str
    text: str
    rows: tuple[int, ...]
    exposed_cycles_total: int
    """Exposed cycles of these rows: what the remedy is about."""


@dataclass(frozen=True)
class Finding:
    """One thing that costs time, why, and what to do.

    Examples
    --------
    >>> Finding("s_nop", "padding", "t", "c", (), (), 1, 40, 0.4, 30, 0.5, 0.1, "high", "").gain_share_max
    0.1
    """

    name: str
    """A stall class (analysis/stall_classes.py), or `instruction fetch`, `occupancy`, `source mapping`."""
    kind: str
    """wait, issue, padding, sync, fetch, occupancy or mapping."""
    title: str
    cause: str
    remedies: tuple[Remedy, ...]
    evidence: tuple[Evidence, ...]
    row_count: int
    """Code rows that it is about; `evidence` holds the costliest of them."""
    stall_cycles_total: int
    stall_share: float
    """Of all stall cycles."""
    exposed_cycles_total: int
    """Of its cycles those that no other wave of the SIMD hid."""
    exposed_share: float
    """Of all exposed stall and idle cycles."""
    gain_share_max: float
    """Upper bound of the gain: its exposed cycles over the cycles of all waves (latency + idle)."""
    confidence: str
    """high, medium or low."""
    confidence_reason: str
