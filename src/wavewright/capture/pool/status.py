"""How far the jobs of a pool are, from their folders alone: nothing is asked of the processes that work on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from wavewright.capture.jobs.folder import COMMAND, FINISHED, JOB, JUDGEMENT, RESULT, JobFolder
from wavewright.capture.jobs.lock import is_locked
from wavewright.capture.jobs.record import ending_of
from wavewright.capture.jobs.stored import read_json
from wavewright.capture.judgement import Verdict
from wavewright.capture.pool.child import read_problem
from wavewright.capture.pool.plan import is_pool, job_folder, read_plan, work_folder
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

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
    if (folder / JOB).is_file():
        return PoolStatus(str(folder), (_single(folder),))
    what = "there is neither a pool nor a capture here" if folder.is_dir() else "there is no such folder"
    raise UsageError(what, where=str(folder), advice="give the FOLDER of `wavewright capture ... -o FOLDER`")


def job_status(job: PoolJob, folder: Path) -> JobStatus:
    """How far one job of a pool is."""
    return _status(job_folder(folder, job.id), job.id, job.name, job.kind, work_folder(folder, job.id))


def _single(folder: Path) -> JobStatus:
    values = _values(folder / JOB)
    wanted = values.get("wanted")
    kind = str(wanted.get("kind", "")) if isinstance(wanted, dict) else ""
    return _status(folder, str(values.get("id", "")), folder.resolve().name, kind, None)


def _status(place: Path, identifier: str, name: str, kind: str, work: Path | None) -> JobStatus:
    attempts = [folder for folder in JobFolder(place).attempt_folders().values() if (folder / COMMAND).is_file()]
    state = State.WAITING if not attempts else State.INTERRUPTED
    if (place / FINISHED).is_file():
        state = State.FINISHED
    elif is_locked(place):
        state = State.RUNNING
    problem = read_problem(work) if work and state in (State.WAITING, State.INTERRUPTED) else None
    judged = _values(place / RESULT / JUDGEMENT)
    reasons = judged.get("reasons")
    gpu = _values(attempts[-1] / COMMAND).get("gpu") if attempts else None
    return JobStatus(
        id=identifier,
        name=name,
        kind=kind,
        folder=str(place),
        state=State.ERROR if problem else state,
        verdict=str(judged.get("verdict") or "")[:40],
        reason=problem.what if problem else str(reasons[0]) if isinstance(reasons, list) and reasons else "",
        attempt_count=len(attempts),
        seconds=seconds_of(place),
        gpu=str(gpu.get("index", ""))[:40] if isinstance(gpu, dict) else "",
    )


def is_finished(job: PoolJob, folder: Path) -> bool:
    """Whether a job has its verdict."""
    return (job_folder(folder, job.id) / FINISHED).is_file()


def seconds_of(place: Path) -> float | None:
    """What the programs of all attempts took; None = unknown. Measured by a clock that never jumps."""
    endings = [ending_of(folder) for folder in JobFolder(place).attempt_folders().values()]
    times = [ending.seconds for ending in endings if ending is not None and 0 <= ending.seconds < 1e9]
    return sum(times) if times else None


def _values(path: Path) -> dict[str, Any]:
    values = read_json(path)
    return values if isinstance(values, dict) else {}
