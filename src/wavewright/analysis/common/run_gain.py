"""The effect of a gain of a kernel on the run that calls it, and on a step of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunGain:
    """The gain of a run for a gain of the calls of a kernel: an interval, for every reading of the record."""

    call_count: int  #: Calls with this name, grid and workgroup, in the processes that the span is of.
    calls_ns: int  #: Their durations, added up.
    span_ns: int  #: From the first event of these processes to the last.
    gain_ns_min: int  #: Of the span; negative = it becomes longer.
    gain_ns_max: int
    step_count: int = 0  #: Steps with calls of the kernel; 0 = no steps were found, or none has any.
    step_ns_median: float | None = None  #: Median length of these steps.
    step_gain_ns_min: float | None = None  #: Mean of these steps, from faster calls in them alone; None = no steps.
    step_gain_ns_max: float | None = None
    unknown: str = ""  #: Why there is no interval: then gains are 0 and mean nothing; empty = there is one.
