"""What became of a job: its attempts, the best of them, and the way to its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavewright.capture.jobs.folder import RAW
from wavewright.capture.judgement import Verdict
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from wavewright.capture.jobs.job import Job
    from wavewright.capture.judgement import Judgement, TracedDispatch
    from wavewright.capture.machines.runner import Ending
    from wavewright.capture.plans.discovery import DiscoveredKernels
    from wavewright.capture.wanted import Wanted
    from wavewright.model.counters import CounterSet
    from wavewright.model.run import Run
    from wavewright.model.trace import ThreadTrace

#: Verdicts, the best first.
_ORDER = (
    Verdict.GOOD,
    Verdict.LOSSY,
    Verdict.TRUNCATED,
    Verdict.INCOMPLETE,
    Verdict.NOT_COUNTED,
    Verdict.EMPTY,
    Verdict.NO_DISPATCH,
    Verdict.HUNG,
    Verdict.FAILED,
    Verdict.REFUSED,
    Verdict.INTERRUPTED,
)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One run of the program, or of all its passes, and what it is worth."""

    number: int  #: From 1.
    folder: Path
    wanted: Wanted  #: With everything chosen.
    judgement: Judgement
    ending: Ending | None  #: None = it was interrupted, or nobody wrote it down.
    why: str = ""  #: What was changed since the attempt before it, and why.

    @property
    def raw(self) -> Path:
        """The folder of its data."""
        return self.folder / RAW


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of a job."""

    id: str
    job: Job
    folder: Path
    attempts: tuple[Attempt, ...]  #: In order; interrupted ones are not among them.
    best: Attempt | None  #: None = no attempt was judged.

    @property
    def verdict(self) -> Verdict:
        """What the best attempt is worth."""
        return self.best.judgement.verdict if self.best else Verdict.INTERRUPTED

    @property
    def is_good(self) -> bool:
        """Whether everything that was wanted is there."""
        return self.verdict is Verdict.GOOD

    @property
    def raw(self) -> Path:
        """The folder of the data of the best attempt.

        Raises
        ------
        UsageError
            When no attempt was judged.
        """
        return self._best.raw

    @property
    def _best(self) -> Attempt:
        if self.best is None:
            raise UsageError("no attempt left anything", where=str(self.folder), advice="go on with --resume")
        return self.best

    @property
    def dispatches(self) -> tuple[TracedDispatch, ...]:
        """The traced dispatches of the best attempt, the best first."""
        return self.best.judgement.dispatches if self.best else ()

    @property
    def placeholders(self) -> tuple[TracedDispatch, ...]:
        """Dispatches of the best attempt of which nothing was recorded."""
        return tuple(dispatch for dispatch in self.dispatches if dispatch.is_placeholder)

    def trace(self, dispatch: int | None = None) -> ThreadTrace:
        """The thread trace of a dispatch; None = of the best one.

        Raises
        ------
        NotATraceError
            When there is none.
        """
        from typing import cast

        from wavewright.readers.opening import open as open_any

        if dispatch is None and self.dispatches:
            dispatch = self.dispatches[0].dispatch
        return cast("ThreadTrace", open_any(self.raw, dispatch=dispatch))

    def counters(self) -> CounterSet:
        """The counters of all passes, joined.

        Raises
        ------
        NotATraceError
            When there are none.
        """
        from wavewright.readers.counters import open_counters

        return open_counters(self.raw)

    def open_run(self) -> Run:
        """The trace of the whole program, as of `capture run` and `capture discover`.

        Raises
        ------
        NotATraceError
            When there is none.
        """
        from wavewright.readers.run.inputs import open_run

        return open_run(self.raw)

    def kernels(self) -> DiscoveredKernels:
        """The kernels of a discovery.

        Raises
        ------
        NotATraceError
            When no kernel was recorded.
        """
        from wavewright.capture.plans.discovery import discovered

        return discovered(self.raw)


def best_of(attempts: Iterable[Attempt]) -> Attempt | None:
    """The best attempt: by verdict, by waves, instructions and source lines of its best dispatch, then the latest."""
    return max(attempts, key=_rank, default=None)


def _rank(attempt: Attempt) -> tuple[int, int, int, float, int]:
    judgement = attempt.judgement
    best = judgement.dispatches[0] if judgement.dispatches else None
    amounts = (best.wave_count, best.instruction_count, best.mapped_share or 0.0) if best else (0, 0, 0.0)
    return (-_ORDER.index(judgement.verdict), *amounts, attempt.number)
