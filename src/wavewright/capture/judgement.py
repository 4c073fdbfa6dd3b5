"""A judgement of an attempt: verdict, reasons, recognised messages and traced dispatches; made by `verdicts/`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The worth of an attempt."""

    GOOD = "good"
    EMPTY = "empty"  #: Traced dispatches, but no wave on the traced CUs and SIMDs.
    TRUNCATED = "truncated"  #: The buffer was full before the kernel ended.
    LOSSY = "lossy"  #: The trace has holes.
    NO_DISPATCH = "no dispatch"  #: No dispatch passed the filters, or the kernel ran in a process that was not seen.
    INCOMPLETE = "incomplete"  #: Counters or launches that were asked for are missing.
    NOT_COUNTED = "not counted"  #: Every value of a counter is 0: its clock was off, or it does not exist.
    HUNG = "hung"  #: It did not end in time and was stopped.
    REFUSED = "refused"  #: rocprofv3, its tool or the driver refused what was asked for.
    FAILED = "failed"  #: The program itself failed, and left nothing worth keeping.
    INTERRUPTED = "interrupted"


#: Verdicts about data that are worth reading, with or without a caution.
KEPT = (Verdict.GOOD, Verdict.LOSSY, Verdict.TRUNCATED, Verdict.INCOMPLETE)


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A message of AMD's tools that was recognised."""

    number: int  #: Row of our table of messages.
    line: str  #: What was printed, printable and shortened.
    cause: str
    remedy: str
    count: int = 1  #: How many lines were of this row.


@dataclass(frozen=True, kw_only=True)
class TracedDispatch:
    """One dispatch of a thread trace attempt."""

    dispatch: int
    folder: str  #: Where its data are, relative to the attempt.
    kernel: str = ""  #: Empty = unknown.
    launch: int | None = None  #: Rank among the launches of its kernel, from 1; None = not known.
    wave_count: int = 0  #: With traced instructions.
    instruction_count: int = 0
    mapped_share: float | None = None  #: Of the instructions, those with a source line; None = there are none.
    is_truncated: bool = False
    is_lossy: bool = False
    size_bytes: int = 0
    is_placeholder: bool = True  #: Neither its stream nor its folder has a wave.


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The worth of an attempt, and why."""

    verdict: Verdict
    reasons: tuple[str, ...]  #: Sentences; the first says the most.
    advice: str = ""  #: What to do next; empty = nothing.
    causes: tuple[Cause, ...] = ()
    dispatches: tuple[TracedDispatch, ...] = ()  #: Best first.
    missing: tuple[str, ...] = ()  #: Counters that were asked for and are not there.
    silent: tuple[str, ...] = ()  #: Counters that are 0 in every dispatch.
    busy_engines: tuple[int, ...] = ()  #: Shader engines on which waves were seen: where to look next.
    busy_cus: tuple[int, ...] = ()  #: CUs (gfx9) or WGPs of those engines on which waves were seen.
    busy_simds: tuple[int, ...] = ()  #: SIMDs of the traced CU or WGP on which waves were seen.
    launch_count: int | None = None  #: Most launches of one symbol of the chosen kernel in this run; None = not known.
    #: Difference in the mean duration of waves between the two best launches, as a share; None = there are not two.
    noise_share: float | None = None

    @property
    def is_kept(self) -> bool:
        """True when the data are worth reading, with or without a caution."""
        return self.verdict in KEPT
