"""Findings of a trace: gains as intervals, remedies per code row, and the reasons that counters give."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.model.findings import CodeEvidence, Finding

#: What a gain is a share of: the time of the CUs whose instructions were traced, or the time of the whole dispatch.
TRACED, DISPATCH = "traced SIMDs", "dispatch"


@dataclass(frozen=True)
class Remedy:
    """One thing to change, for some of the rows of a finding."""

    name: str
    text: str
    rows: tuple[int, ...] = ()
    exposed_cycles_total: int = 0  #: Exposed cycles of these rows: what the remedy is about.


@dataclass(frozen=True)
class Reason:
    """One number of hardware counters of the same kernel that explains a finding."""

    quantity: str  #: A quantity of analysis/limiters.
    text: str  #: The number in words.
    value: float | None  #: None = not known.
    unit: str
    metric_id: str  #: panel.table.index, as `wavewright metrics` has it; empty = not a metric of a panel.
    verdict: str  #: Of a limiter: at limit or likely; of a question about L2: its answer; of a number by itself: empty.


@dataclass(frozen=True)
class Cause:
    """One stall class or gap of a finding, by itself."""

    name: str
    gain_share_max: float  #: What a replay without it saves.
    #: Share of the time of the traced SIMDs in which one issues nothing while a wave of it waits for this.
    no_issue_share: float


@dataclass(frozen=True)
class LaneCause:
    """Access patterns of lanes, and how much of a finding they can explain."""

    name: str  #: bank conflicts, or lanes that do not coalesce.
    pipe: str  #: LDS or L1.
    rows: tuple[int, ...]  #: The code rows that lose cycles, those that lose most first.
    saved_cycles_total: int  #: Cycles of the pipe that all rows lose together.
    gain_share_max: float  #: Of the time: what removing these cycles gains at most.
    explained_share: float  #: Of the stalls of the finding, at most.
    verdict: str  #: cause, part or harmless.
    text: str
    confidence: str  #: Of the rule: counter-proven, published or hypothesis.


@dataclass(frozen=True, kw_only=True)
class StallFinding(Finding[CodeEvidence]):
    """One cause of lost time, or a roof that is reached.

    Its name is that of its largest stall class or gap (`facts.stall_classes`), of a roof (`memory bandwidth`,
    `matrix throughput`, `VALU throughput`), or `CUs without work`, one of `facts.GRID_WORDS` (`tail`,
    `workgroup imbalance`, `launch ramp`, ...), of `facts.ISSUE_WORDS` (`vector instructions`, ...) or `occupancy`. Its
    kind is roof, instructions, memory, wait, issue, dependency, padding, sync, fetch, wave, grid or occupancy.
    """

    gain_share_min: float = 0.0  #: Least share of the time that is saved; memory: 0, its bandwidth may be the limit.
    gain_share_max: float
    gain_basis: str = TRACED  #: traced SIMDs or dispatch; the gains of one basis do not add up to more than 1.
    causes: tuple[Cause, ...] = ()  #: Stall classes and gaps that it is made of; largest first.
    remedies: tuple[Remedy, ...] = ()  #: All of them, the one about most cycles first.
    row_count: int = 0  #: Code rows that it is about; `evidence` has the costliest of them.
    stall_cycles_total: int = 0  #: Stalls and gaps of all waves.
    stall_share: float = 0.0  #: Of the cycles of all waves.
    reasons: tuple[Reason, ...] = ()  #: Numbers of counters of the same kernel that explain it, if there are any.
    lane_causes: tuple[LaneCause, ...] = ()  #: What access patterns have to do with it, where lanes are known.


def other_evidence(rows: pl.DataFrame) -> list[CodeEvidence]:
    """Code rows as evidence for `cycles` other than stalls; the frame has the columns of `code` and `hit_count`."""
    filled = rows.with_columns(pl.col("address").fill_null(0), pl.col("text").fill_null(""))
    columns = filled.select("row", "address", "text", "file", "line", "hit_count", "cycles")
    return [
        CodeEvidence(row, address, text, file, line, hits, 0, 0, (), other_cycles_total=cycles)
        for row, address, text, file, line, hits, cycles in columns.iter_rows()
    ]


@dataclass(frozen=True)
class Link:
    """The kernel of a counter capture that matches the kernel of a trace, and the differences."""

    path: str
    kernel_name: str | None  #: In the counters; None = none of them, or several, could be it.
    dispatch_count: int
    duration_ns_mean: float | None
    candidates: tuple[str, ...]  #: Kernels of the counters that it could be, where it is not certain which.
    caveats: tuple[Caveat, ...]
