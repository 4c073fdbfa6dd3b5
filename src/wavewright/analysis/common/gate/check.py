"""Subjects of a gate (what is worse, where the noise comes from), and one check of it with its outcome."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.facts.loader import Fact, FactTable

PASS, FAIL, CANNOT_TELL, NOT_JUDGED = "pass", "fail", "cannot tell", "not judged"
STATUSES = (FAIL, CANNOT_TELL, PASS, NOT_JUDGED)  #: The worst first.


@dataclass(frozen=True)
class Check:
    """One quantity against its baseline, or against a limit of a budget."""

    subject: str  #: Name of one of `SUBJECTS`, or finding.
    name: str  #: Of a kernel, a line, ...; empty = the subject has none.
    status: str  #: One of `STATUSES`.
    reason: str = ""  #: Why it cannot be told, was not judged, or what a finding says.
    base_name: str = ""  #: Of kernels under another name: that of the baseline.
    unit: str = ""
    base: float | None = None  #: Mean of the captures of the baseline; None = not measured.
    value: float | None = None  #: Mean of the captures that are judged.
    change: float | None = None  #: Share; of shares the difference.
    noise: float | None = None  #: What the quantity differs by without a cause; None = not known.
    seen_from: float | None = None  #: What a change must exceed to fail, whatever the threshold.
    limit: float | None = None  #: Of a budget.
    limit_text: str = ""  #: As the budget has it; empty = it is against a baseline.
    share: float | None = None  #: Of the GPU time, the larger one of both sides.
    base_count: int = 0  #: Calls or waves that `base` is the mean of,
    count: int = 0  #: and those of `value`.
    file: str = ""
    line: int = 0  #: 0 = it is not about a line.


@dataclass(frozen=True)
class JudgedFinding:
    """A finding of a diagnosis, as far as a budget is about it."""

    rule: str
    sentence: str
    share: float  #: What it can gain at most.
    file: str = ""
    line: int = 0


class Subject(Fact, frozen=True):
    """One kind of quantity."""

    name: str
    title: str
    meaning: str
    kinds: tuple[str, ...]  #: Of captures that measure it: run, trace, counters.
    worse: int = 1  #: 1 = larger is worse, -1 = smaller is worse, 0 = any change is.
    #: Whether one capture shows enough: then `LEAST_CHANGE` stands for what runs differ by. Else repeats are needed.
    is_told_by_calls: bool = True
    is_in_points: bool = False  #: A share: its change is a difference, not a ratio.
    of_whole: str = ""  #: The subject that changes are shares of; empty = of the quantity itself.
    has_names: bool = False  #: Whether there are several of it, told apart by name.


SUBJECTS = FactTable("gate_subjects.toml", Subject)


def default_subjects(kind: str, *, has_steps: bool, has_kernel_times: bool) -> tuple[str, ...]:
    """Subjects that a gate looks at by default.

    Durations of calls decide about traces where they are recorded on both sides: a trace is of one call.

    >>> default_subjects("trace", has_steps=False, has_kernel_times=True)
    ('kernel-time',)
    """
    if kind == "run":
        return ("gpu-time", "step", "kernel") if has_steps else ("gpu-time", "kernel")
    if kind == "trace":
        return ("kernel-time",) if has_kernel_times else ("cycles",)
    return ("kernel",)
