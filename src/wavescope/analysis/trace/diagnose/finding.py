"""What a diagnosis is made of: findings with their evidence, their remedies and a bound of what they can gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavescope.analysis.common.caveats import Caveat


@dataclass(frozen=True)
class Evidence:
    """One code row that a finding rests on."""

    row: int
    address: int
    text: str
    file: str | None
    line: int | None
    execution_count: int
    stall_cycles_total: int
    exposed_cycles_total: int
    #: The instructions it waited for, by mnemonic, with how long before they were issued (mean cycles).
    producers: tuple[str, ...]


@dataclass(frozen=True)
class Remedy:
    """One thing to change, for some of the rows of a finding."""

    name: str
    text: str
    rows: tuple[int, ...]
    exposed_cycles_total: int  #: Exposed cycles of these rows: what the remedy is about.


@dataclass(frozen=True)
class Reason:
    """One number of hardware counters of the same kernel that explains a finding."""

    quantity: str  #: A quantity of analysis/bottlenecks.
    text: str
    value: float | None
    unit: str
    metric_id: str  #: panel.table.index, as `wavescope metrics` has it; empty = not a metric of a panel.
    verdict: str  #: Of a suspect: at limit or likely; of a question about L2: its answer; of a number by itself: empty.


@dataclass(frozen=True)
class Finding:
    """One thing that costs time, why, and what to do."""

    #: A stall class (analysis/trace/waits/classes.py), or `instruction fetch`, `occupancy`, `source mapping`.
    name: str
    kind: str  #: wait, issue, padding, sync, fetch, occupancy or mapping.
    title: str
    cause: str
    remedies: tuple[Remedy, ...]
    evidence: tuple[Evidence, ...]
    row_count: int  #: Code rows that it is about; `evidence` holds the costliest of them.
    stall_cycles_total: int
    stall_share: float  #: Of all stall cycles.
    exposed_cycles_total: int  #: Of its cycles those that no other wave of the SIMD hid.
    exposed_share: float  #: Of all exposed stall and idle cycles.
    gain_share_max: float  #: Upper bound of the gain: its exposed cycles over the cycles of all waves (latency + idle).
    confidence: str  #: high, medium or low.
    confidence_reason: str
    reasons: tuple[Reason, ...] = ()  #: What counters of the same kernel say about it, where they were given.


@dataclass(frozen=True)
class Link:
    """Which kernel of a counter capture stands for the kernel of a trace, and what speaks against it."""

    path: str
    kernel_name: str | None  #: In the counters; None = none of them, or several, could be it.
    dispatch_count: int
    duration_ns_mean: float | None
    candidates: tuple[str, ...]  #: Kernels of the counters that it could be, where it is not certain which.
    caveats: tuple[Caveat, ...]
