"""One check of a gate, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass

PASS, FAIL, CANNOT_TELL, NOT_JUDGED = "pass", "fail", "cannot tell", "not judged"
STATUSES = (FAIL, CANNOT_TELL, PASS, NOT_JUDGED)  #: The worst first.


@dataclass(frozen=True)
class Check:
    """One quantity against its baseline, or against a limit of a budget."""

    subject: str
    name: str
    status: str  #: One of `STATUSES`.
    reason: str = ""  #: Why it cannot be told, was not judged, or what a finding says.
    base_name: str = ""  #: Of kernels under another name: that of the baseline.
    unit: str = ""
    base: float | None = None
    value: float | None = None
    change: float | None = None  #: Share; of shares the difference.
    noise: float | None = None  #: What the quantity differs by without a cause; None = not known.
    seen_from: float | None = None  #: What a change must exceed to fail, whatever the threshold.
    limit: float | None = None  #: Of a budget.
    limit_text: str = ""  #: As the budget has it; empty = it is against a baseline.
    share: float | None = None  #: Of the GPU time, the larger one of both sides.
    base_count: int = 0
    count: int = 0
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class JudgedFinding:
    """A finding of a diagnosis, as far as a budget is about it."""

    rule: str
    sentence: str
    share: float  #: What it can gain at most.
    file: str = ""
    line: int = 0
