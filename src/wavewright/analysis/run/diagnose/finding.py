"""Findings of a run: what costs time, at most how much, and where to look."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.model.findings import Finding, PlaceEvidence


@dataclass(frozen=True)
class Threshold:
    """From which value on a rule speaks, and why from there."""

    quantity: str
    value: float | None
    unit: str  #: share or GB/s.
    say: float | None  #: None = always.
    stress: float | None  #: From here on the finding is strong; None = never.
    source: str


@dataclass(frozen=True, kw_only=True)
class RunFinding(Finding[PlaceEvidence]):
    """One cause of lost time in a run.

    `name` is that of its rule, `kind` the part of the time that its bound is taken from: idle, communication, copies,
    kernels or nothing. `gain_share_max` is the bound by itself, as a share of the window.
    """

    rule: str
    rules: tuple[str, ...]  #: This rule and those whose cases it includes.
    within: str = ""  #: The rule of the finding that promises this time already; empty = it stands by itself.
    remedies: tuple[str, ...] = ()
    share: float  #: Of the window, or of the computation for kernels: what the threshold is compared with.
    time_ns: int  #: The time it is about, per GPU.
    step_time_ns: int | None = None  #: The same per step; None = no steps are known.
    bound_alone_ns: int  #: At most so much shorter if only this is changed.
    bound_ns: int  #: At most so much after the findings above: no nanosecond is promised twice.
    bound_share: float
    speedup_max: float | None  #: window / (window - bound_ns); None = nothing would be left.
    is_strong: bool
    false_if: str
    next_command: str
    threshold: Threshold
    case_count: int = 0  #: Cases in all, of which `evidence` has the longest.


@dataclass(frozen=True)
class Note:
    """A sentence beside the findings, with the rule that it is about."""

    rule: str
    text: str
