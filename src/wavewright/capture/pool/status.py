"""How far the jobs of a pool are, from their folders alone: nothing is asked of the processes that work on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from wavewright.capture.jobs.folder import JOB
from wavewright.capture.jobs.manifest import ENDED, FINISHED, JUDGED, STARTED, JobState, Manifest, is_locked, state_of
from wavewright.capture.jobs.stored import read_json
from wavewright.capture.judgement import Verdict
from wavewright.capture.pool.child import read_problem
from wavewright.capture.pool.lease import is_fresh, worker_of
from wavewright.capture.pool.plan import is_pool, job_folder, read_plan, work_folder
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from wavewright.capture.jobs.manifest import Event
    from wavewright.capture.pool.jobs_file import PoolJob

_KEPT = (Verdict.GOOD, Verdict.LOSSY, Verdict.TRUNCATED, Verdict.INCOMPLETE)


class State(StrEnum):
    """How far a job of a pool is."""

    WAITING = "waiting"  #: Nobody works on it.
    RUNNING = "running"  #: A process works on it.
    INTERRUPTED = "interrupted"  #: It was begun, and nobody works on it: the next pool goes on.
    FINISHED = "finished"  #: It has its verdict.
    ERROR = "error"  #: It could not be taken; a resumed pool tries again.


@dataclass(frozen=True, kw_only=True)
class JobStatus:
    """How far one job is."""

    id: str
    name: str
    kind: str
    folder: str
    state: State
    verdict: str = ""  #: Of `Verdict`; empty = none yet.
    reason: str = ""  #: Of the verdict, or why it could not be taken.
    attempt_count: int = 0
    seconds: float | None = None  #: What all attempts took; None = unknown.
    gpu: str = ""  #: Number of the GPU that it has or had; empty = unknown.
    worker: str = ""  #: Machine and number of the process that works on it.

    @property
    def is_good(self) -> bool:
        """Whether it has finished, and is as wanted."""
        return self.state is State.FINISHED and self.verdict == Verdict.GOOD

    @property
    def is_kept(self) -> bool:
        """Whether its data are worth reading, with or without a caution."""
        return self.state is State.FINISHED and self.verdict in _KEPT


@dataclass(frozen=True)
class PoolStatus:
    """How far all jobs are."""

    folder: str
    jobs: tuple[JobStatus, ...]

    def count(self, *states: State) -> int:
        """How many jobs are in one of some states."""
        return sum(job.state in states for job in self.jobs)

    @property
    def verdicts(self) -> dict[str, int]:
        """How often each verdict was given, the most frequent first."""
        return dict(Counter(job.verdict for job in self.jobs if job.state is State.FINISHED).most_common())

    @property
    def exit_code(self) -> int:
        """0 = every job is good, 1 = some are not, or are not done."""
        return 0 if all(job.is_good for job in self.jobs) else 1


def status_of(folder: Path) -> PoolStatus:
    """How far the jobs of a pool, or the one of a single capture, are.

    Raises
    ------
    UsageError
        When the folder is neither.
    """
    if is_pool(folder):
        return PoolStatus(str(folder), tuple(job_status(job, folder) for job in read_plan(folder)))
    if Manifest(folder).path.is_file():
        return PoolStatus(str(folder), (_single(folder),))
    what = "there is neither a pool nor a capture here" if folder.is_dir() else "there is no such folder"
    raise UsageError(what, where=str(folder), advice="give the FOLDER of `wavewright capture ... -o FOLDER`")


def job_status(job: PoolJob, folder: Path) -> JobStatus:
    """How far one job of a pool is."""
    place = job_folder(folder, job.id)
    events = Manifest(place).events()
    work = work_folder(folder, job.id)
    worker = worker_of(work)
    if worker is not None and not is_fresh(work):
        worker = None
    state = _state(events, is_worked_on=worker is not None)
    problem = read_problem(work) if state in (State.WAITING, State.INTERRUPTED) else None
    process = worker.name if worker else None
    return JobStatus(
        id=job.id,
        name=job.name,
        kind=job.kind,
        folder=str(place),
        state=State.ERROR if problem else state,
        verdict=_last(events, "verdict"),
        reason=problem.what if problem else _reason(events),
        attempt_count=attempt_count(events),
        seconds=seconds_of(events),
        gpu=worker.gpu if worker else _gpu(events),
        worker=f"{worker.host}:{process.pid}" if worker and process else "",
    )


def _single(folder: Path) -> JobStatus:
    events = Manifest(folder).events()
    return JobStatus(
        id=events[0].job if events else "",
        name=folder.resolve().name,
        kind=_kind(folder),
        folder=str(folder),
        state=_state(events, is_worked_on=is_locked(folder)),
        verdict=_last(events, "verdict"),
        reason=_reason(events),
        attempt_count=attempt_count(events),
        seconds=seconds_of(events),
        gpu=_gpu(events),
    )


def _state(events: Sequence[Event], *, is_worked_on: bool) -> State:
    state = state_of(events, is_worked_on=is_worked_on)
    if state is JobState.FINISHED:
        return State.FINISHED
    if is_worked_on:
        return State.RUNNING
    return State.WAITING if attempt_count(events) == 0 else State.INTERRUPTED


def is_finished(job: PoolJob, folder: Path) -> bool:
    """Whether a job has its verdict."""
    events = Manifest(job_folder(folder, job.id)).events()
    return state_of(events, is_worked_on=True) is JobState.FINISHED


def attempt_count(events: Iterable[Event]) -> int:
    """How many attempts were begun."""
    return len({event.attempt for event in events if event.event == STARTED})


def seconds_of(events: Iterable[Event]) -> float | None:
    """What the programs of all attempts took; None = unknown. Measured by a clock that never jumps."""
    times = [event.details.get("seconds") for event in events if event.event == ENDED]
    numbers = [float(time) for time in times if isinstance(time, int | float) and 0 <= time < 1e9]
    return sum(numbers) if numbers else None


def _last(events: Sequence[Event], key: str) -> str:
    """The verdict of the job, or of its last attempt that has one."""
    for kind in (FINISHED, JUDGED):
        for event in reversed(events):
            if event.event == kind and isinstance(event.details.get(key), str):
                return str(event.details[key])
    return ""


def _reason(events: Sequence[Event]) -> str:
    for kind in (FINISHED, JUDGED):
        for event in reversed(events):
            reasons = event.details.get("reasons")
            if event.event == kind and isinstance(reasons, list) and reasons:
                return str(reasons[0])
    return ""


def _kind(folder: Path) -> str:
    """The kind of a single capture, as its folder says; empty = it does not."""
    values = read_json(folder / JOB)
    wanted = values.get("wanted") if isinstance(values, dict) else None
    kind = wanted.get("kind") if isinstance(wanted, dict) else None
    return kind if isinstance(kind, str) else ""


def _gpu(events: Sequence[Event]) -> str:
    for event in reversed(events):
        gpu = event.details.get("gpu_index", event.details.get("gpu"))
        if isinstance(gpu, int | str) and not isinstance(gpu, bool):
            return str(gpu)[:40]
    return ""
