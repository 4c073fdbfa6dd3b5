"""The result of a job: its attempts, the best of them, and the way to its data; all of it from the files of its folder.

Each step of a capture writes one file when it is done: `command.json` says that an attempt begins, `ending.json` how
its program ended, `judgement.json` what it is worth, and `result.json` beside them that nothing is left to be done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from wavewright.capture.jobs import folder as files
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.kinds import Recording
from wavewright.capture.machines.runner import Ending
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from wavewright.capture.jobs.job import Job
    from wavewright.capture.judgement import TracedDispatch
    from wavewright.capture.plans.discovery import DiscoveredKernels
    from wavewright.model.counters import CounterSet
    from wavewright.model.run import Run
    from wavewright.model.trace import ThreadTrace

#: Verdicts, the best first.
_ORDER = (
    *(Verdict.GOOD, Verdict.LOSSY, Verdict.TRUNCATED, Verdict.INCOMPLETE, Verdict.NOT_COUNTED, Verdict.EMPTY),
    *(Verdict.NO_DISPATCH, Verdict.HUNG, Verdict.FAILED, Verdict.REFUSED, Verdict.INTERRUPTED),
)


@dataclass(frozen=True)
class Attempt:
    """One run of the program, or of all its passes, and what it is worth."""

    number: int  #: From 1.
    folder: Path
    recording: Recording  #: With everything chosen.
    judgement: Judgement
    ending: Ending | None  #: None = it was interrupted, or nobody wrote it down.
    why: str = ""  #: What was changed since the attempt before it, and why.

    @property
    def raw(self) -> Path:
        """The folder of its data."""
        return self.folder / files.RAW


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a job."""

    job: Job
    folder: Path
    attempts: tuple[Attempt, ...]  #: In order; interrupted ones are not among them.
    best: Attempt | None  #: None = no attempt was judged.

    @property
    def verdict(self) -> Verdict:
        """The verdict about the best attempt."""
        return self.best.judgement.verdict if self.best else Verdict.INTERRUPTED

    @property
    def is_good(self) -> bool:
        """True when everything that was to be recorded is there."""
        return self.verdict is Verdict.GOOD

    @property
    def raw(self) -> Path:
        """The folder of the data of the best attempt; UsageError when none was judged."""
        if self.best is None:
            raise UsageError("no attempt left anything", where=str(self.folder), advice="go on with --resume")
        return self.best.raw

    @property
    def dispatches(self) -> tuple[TracedDispatch, ...]:
        """The traced dispatches of the best attempt, the best first."""
        return self.best.judgement.dispatches if self.best else ()

    @property
    def placeholders(self) -> tuple[TracedDispatch, ...]:
        """Dispatches of the best attempt of which nothing was recorded."""
        return tuple(dispatch for dispatch in self.dispatches if dispatch.is_placeholder)

    def trace(self, dispatch: int | None = None) -> ThreadTrace:
        """The thread trace of a dispatch, None = of the best one; NotATraceError when there is none."""
        from wavewright.readers.opening import open as open_any

        if dispatch is None and self.dispatches:
            dispatch = self.dispatches[0].dispatch
        return cast("ThreadTrace", open_any(self.raw, dispatch=dispatch))

    def counters(self) -> CounterSet:
        """The counters of all passes, joined; NotATraceError when there are none."""
        from wavewright.readers.counters import open_counters

        return open_counters(self.raw)

    def open_run(self) -> Run:
        """The trace of the whole program, as of `capture run` and `capture discover`; NotATraceError without one."""
        from wavewright.readers.run.inputs import open_run

        return open_run(self.raw)

    def kernels(self) -> DiscoveredKernels:
        """The kernels of a discovery; NotATraceError when no kernel was recorded."""
        from wavewright.capture.plans.discovery import discovered

        return discovered(self.raw)


def stored_result(folder: Path) -> Result:
    """The result of the job of a folder so far, from what it holds; UsageError when it holds no job."""
    place = files.JobFolder(folder)
    job = place.stored_job()
    attempts = tuple(judged_attempts(place, job))
    return Result(job=job, folder=folder, attempts=attempts, best=best_of(attempts))


def begun_attempts(place: files.JobFolder) -> list[int]:
    """Numbers of attempts that were begun, in order; one whose discovery failed was only judged."""
    folders, signs = place.numbered(files.ATTEMPTS).items(), (files.COMMAND, files.JUDGEMENT)
    return [number for number, folder in folders if any((folder / name).is_file() for name in signs)]


def judged_attempts(place: files.JobFolder, job: Job) -> list[Attempt]:
    """Attempts that have a verdict."""
    attempts = []
    for number in begun_attempts(place):
        folder = place.attempt(number)
        try:
            judgement = files.converted(files.read_json(folder / files.JUDGEMENT), Judgement)
        except UsageError:
            continue
        why = str(files.read_object(folder / files.COMMAND).get("why") or "")
        recording, ending = recording_of(folder, job), ending_of(folder)
        attempts.append(Attempt(number, folder, recording, judgement, ending, why))
    return attempts


def recording_of(attempt: Path, job: Job) -> Recording:
    """The recording of an attempt."""
    try:
        recording: Recording = files.converted(files.read_object(attempt / files.COMMAND).get("wanted"), Recording)
    except UsageError:
        return job.recording
    return recording


def ending_of(folder: Path) -> Ending | None:
    """The ending of the program of an attempt or discovery; None = nobody wrote it down."""
    try:
        ending: Ending = files.converted(files.read_json(folder / files.ENDING), Ending)
    except UsageError:
        return None
    return ending


def best_of(attempts: Iterable[Attempt]) -> Attempt | None:
    """The best attempt: by verdict, by waves, instructions and source lines of its best dispatch, then the latest."""

    def rank(attempt: Attempt) -> tuple[float, ...]:
        judgement = attempt.judgement
        best = judgement.dispatches[0] if judgement.dispatches else None
        amounts = (best.wave_count, best.instruction_count, best.mapped_share or 0.0) if best else (0, 0, 0.0)
        return (-_ORDER.index(judgement.verdict), *amounts, attempt.number)

    return max(attempts, key=rank, default=None)
