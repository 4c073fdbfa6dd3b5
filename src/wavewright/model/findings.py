"""Findings: the verdict of a diagnosis, how certain it is, its evidence, the remedy and a bound of the gain.

Diagnoses of traces and of runs, limiters of counter captures and the decision tree about L2 all give findings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar


@dataclass(frozen=True)
class CodeEvidence:
    """One code row that a finding is based on."""

    row: int
    address: int
    text: str
    file: str | None
    line: int | None
    execution_count: int
    stall_cycles_total: int
    exposed_cycles_total: int
    producers: tuple[str, ...]  #: What it waited for, by mnemonic, and how long before that was issued (mean cycles).
    other_cycles_total: int = 0  #: No stalls: gaps before it, or its issue, where the finding is about these.

    @property
    def cycles_total(self) -> int:
        """Cycles that the finding is about: of stalls, gaps or issue."""
        return self.stall_cycles_total + self.other_cycles_total


@dataclass(frozen=True)
class NumberEvidence:
    """One number that is evidence for or against a finding."""

    quantity: str
    label: str
    value: float | None
    unit: str
    amount: float | None
    amount_unit: str
    peak: float | None
    metric_id: str  #: panel.table.index, as in `wavewright metrics`; empty = a formula of the analysis.
    role: str  #: decides, instead, only if, sign or number.
    level: int | None  #: 0 = against, 1 = for, 2 = strongly for; None = a number only, or not measured.
    threshold: str
    why: str  #: Reason for the threshold; without a value, why there is none.


@dataclass(frozen=True)
class PlaceEvidence:
    """One case of a finding in a run: what it was, and where and when to look at it."""

    what: str  #: The kernel, call, copy or rank; of a gap, the work before it.
    count: int  #: How many cases it stands for.
    time_ns: int  #: How long they took together.
    next_work: str = ""  #: The work that ended the gap; empty = it is no gap.
    sequence: tuple[str, ...] = ()  #: The kernels of `what` one by one, if it is a sequence of them.
    node: str | None = None
    gpu: int | None = None
    rank: int | None = None
    start_ns: int | None = None  #: On the clock of the node; of the longest case.
    end_ns: int | None = None
    window: str = ""  #: The same as a value of --time, counted from the start of the run; empty = no single time.
    call: str = ""  #: The call that took more of it, `call_ns`, than any other; empty = none, or not recorded.
    call_ns: int = 0
    stack: tuple[str, ...] = ()  #: Markers, operators and functions that were open, outermost first.


EvidenceT = TypeVar("EvidenceT", CodeEvidence, NumberEvidence, PlaceEvidence)


@dataclass(frozen=True, kw_only=True)
class Finding(Generic[EvidenceT]):
    """One conclusion about a kernel or a run."""

    name: str  #: What it is about: a stall class, a limiter, a question.
    kind: str
    verdict: str
    reason: str  #: The numbers or the cause behind the verdict.
    confidence: str = ""  #: high, medium or low; empty = not stated.
    confidence_reason: str = ""
    evidence: tuple[EvidenceT, ...] = ()
    remedy: str = ""  #: The first thing to do; empty = nothing.
    gain_share_max: float | None = None  #: Upper bound of the share of time that can be saved; None = unknown.
