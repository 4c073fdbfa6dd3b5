"""A measured time of an edited kernel beside the interval that was predicted."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import polars as pl

from wavewright.analysis.common.noise import LEAST_CHANGE
from wavewright.errors import UsageError
from wavewright.model.schema import frame_of

if TYPE_CHECKING:
    from wavewright.analysis.trace.what_if import WhatIf
    from wavewright.model.launch import Launch

_DURATION: Final = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s?(ns|us|µs|ms)")
_FACTORS: Final = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6}


@dataclass(frozen=True)
class KernelTime:
    """The median time of a kernel, and how far another median of equal calls may lie from it."""

    median_ns: float
    noise_ns: float | None = None  #: None = not known.
    call_count: int | None = None
    source: str = ""

    @classmethod
    def of_launch(cls, launch: Launch) -> KernelTime:
        """The time of the calls of one size in a run."""
        return cls(launch.duration_ns_median, launch.median_noise_ns, launch.call_count, launch.path)


def duration_of(text: str) -> KernelTime | None:
    """A time that is given as a number; None = it is none.

    >>> duration_of("18.2us").median_ns, duration_of("run.db")
    (18200.0, None)
    """
    match = _DURATION.fullmatch(text.strip())
    return KernelTime(float(match[1]) * _FACTORS[match[2]]) if match and float(match[1]) else None


def with_measured(answer: WhatIf, before: KernelTime, after: KernelTime) -> WhatIf:
    """The answer with the measured gain of its first timed edit."""
    if not before.median_ns > 0:
        raise UsageError("the kernel took no time before the edit", advice="give a run or a time such as 18.2us")
    edit = answer.edits.filter(pl.col("gain_high_share").is_not_null()).head(1)
    if not edit.height:
        raise UsageError("no edit has an interval to compare with", advice="whatif without --measured says why")
    row = edit.row(0, named=True)
    gain = 1 - after.median_ns / before.median_ns
    is_noise_known = before.noise_ns is not None and after.noise_ns is not None
    noise_ns = ((before.noise_ns or 0) ** 2 + (after.noise_ns or 0) ** 2) ** 0.5
    noise = max(noise_ns / before.median_ns, LEAST_CHANGE)
    low, high = row["gain_low_share"], row["gain_high_share"]
    verdict = "as predicted"
    if gain - noise > high:
        verdict = "more than predicted"
    elif low is not None and gain + noise < low:
        verdict = "less than predicted"
    columns = {"edit": row["edit"], "verdict": verdict, "gain_share": gain}
    columns |= {"noise_share": noise, "is_noise_known": is_noise_known}
    for side, time in (("before", before), ("after", after)):
        columns |= {f"{side}_ns": time.median_ns, f"{side}_count": time.call_count}
    return replace(answer, measured=frame_of(type(answer).tables["measured"], [columns]))
