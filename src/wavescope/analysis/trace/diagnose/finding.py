"""Findings of a trace: remedies per code row, exposed cycles, and the reasons that counters give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavescope.model.findings import CodeEvidence, Finding

if TYPE_CHECKING:
    from wavescope.analysis.common.caveats import Caveat


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

    quantity: str  #: A quantity of analysis/limiters.
    text: str
    value: float | None
    unit: str
    metric_id: str  #: panel.table.index, as `wavescope metrics` has it; empty = not a metric of a panel.
    verdict: str  #: Of a limiter: at limit or likely; of a question about L2: its answer; of a number by itself: empty.


@dataclass(frozen=True, kw_only=True)
class StallFinding(Finding[CodeEvidence]):
    """One cause of lost time in a trace.

    Its name is a stall class (`analysis.trace.waits.classes`), `instruction fetch`, `occupancy` or `source mapping`;
    its kind is wait, issue, padding, sync, fetch, occupancy or mapping. The bound is its exposed cycles over the cycles
    of all waves (latency + idle).
    """

    gain_share_max: float
    remedies: tuple[Remedy, ...]  #: All of them, the one about most cycles first.
    row_count: int  #: Code rows that it is about; `evidence` has the costliest of them.
    stall_cycles_total: int
    stall_share: float  #: Of all stall cycles.
    exposed_cycles_total: int  #: Its cycles that no other wave of the SIMD hid.
    exposed_share: float  #: Of all exposed stall and idle cycles.
    reasons: tuple[Reason, ...] = ()  #: Numbers of counters of the same kernel that explain it, if there are any.


@dataclass(frozen=True)
class Link:
    """The kernel of a counter capture that matches the kernel of a trace, and the differences."""

    path: str
    kernel_name: str | None  #: In the counters; None = none of them, or several, could be it.
    dispatch_count: int
    duration_ns_mean: float | None
    candidates: tuple[str, ...]  #: Kernels of the counters that it could be, where it is not certain which.
    caveats: tuple[Caveat, ...]
