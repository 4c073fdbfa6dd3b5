"""The folder of a pool: its plan, and the states of its jobs. Nothing is asked of the processes that work on them.

FOLDER/
  plan.jsonl            what is to be done, one line per job, in the order of the jobs file
  jobs/<id>/            one folder per job, as that of a single capture
  workers/<id>/         what its process printed (log), why it could not be taken (error.json)
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from wavewright.base.files import read_regular
from wavewright.capture.jobs import folder as files
from wavewright.capture.jobs.result import ending_of
from wavewright.capture.judgement import KEPT, Verdict
from wavewright.capture.pool.jobs_file import PoolJob
from wavewright.errors import OutputError, UsageError

FILE = "plan.jsonl"
JOBS, WORKERS = "jobs", "workers"
ERROR_FILE, LOG = "error.json", "log"  #: Of the process that works on a job.


class State(StrEnum):
    """The state of a job of a pool."""

    WAITING = "waiting"  #: Nobody works on it.
    RUNNING = "running"  #: A process works on it.
    INTERRUPTED = "interrupted"  #: It was begun, and nobody works on it: the next pool goes on.
    FINISHED = "finished"  #: It has its verdict.
    ERROR = "error"  #: It could not be taken; a resumed pool tries again.


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The reason why a job could not be taken at all."""

    status: int
    what: str
    where: str = ""
    advice: str = ""


@dataclass(frozen=True, kw_only=True)
class JobStatus:
    """The state of one job, and what became of it."""

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
        """True when it has finished, and is as it should be."""
        return self.state is State.FINISHED and self.verdict == Verdict.GOOD

    @property
    def is_kept(self) -> bool:
        """True when its data are worth reading, with or without a caution."""
        return self.state is State.FINISHED and self.verdict in KEPT


@dataclass(frozen=True)
class PoolStatus:
    """The states of all jobs."""

    folder: str
    jobs: tuple[JobStatus, ...]

    def count(self, *states: State) -> int:
        """Jobs that are in one of some states."""
        return sum(job.state in states for job in self.jobs)

    @property
    def verdicts(self) -> dict[str, int]:
        """Verdicts with how often each was given, the most frequent first."""
        return dict(Counter(job.verdict for job in self.jobs if job.state is State.FINISHED).most_common())

    @property
    def exit_code(self) -> int:
        """0 = every job is good, 1 = some are not, or are not done."""
        return 0 if all(job.is_good for job in self.jobs) else 1


def status_of(folder: Path) -> PoolStatus:
    """The states of the jobs of a pool, or of the one of a single capture."""
    if (folder / FILE).is_file():
        return PoolStatus(str(folder), tuple(job_status(job, folder) for job in read_plan(folder)))
    if (folder / files.JOB).is_file():
        values = files.read_object(folder / files.JOB)
        recording = values.get("wanted")
        kind = str(recording.get("kind", "")) if isinstance(recording, dict) else ""
        return PoolStatus(str(folder), (_status(folder, str(values.get("id", "")), folder.resolve().name, kind),))
    what = "there is neither a pool nor a capture here" if folder.is_dir() else "there is no such folder"
    raise UsageError(what, where=str(folder), advice="give the FOLDER of `wavewright capture ... -o FOLDER`")


def job_status(job: PoolJob, folder: Path) -> JobStatus:
    """The state of one job of a pool."""
    problem = read_problem(work_folder(folder, job.id))
    return _status(job_folder(folder, job.id), job.id, job.name, job.job.kind, problem)


def _status(path: Path, identifier: str, name: str, kind: str, problem: Problem | None = None) -> JobStatus:
    place = files.JobFolder(path)
    attempts = [folder for folder in place.numbered(files.ATTEMPTS).values() if (folder / files.COMMAND).is_file()]
    state = State.INTERRUPTED if attempts else State.WAITING
    if place.is_finished:
        state = State.FINISHED
    elif files.is_locked(path):
        state = State.RUNNING
    elif problem:
        state = State.ERROR
    judgement = files.read_object(path / files.RESULT / files.JUDGEMENT)
    reasons = judgement.get("reasons")
    reason = str(reasons[0]) if isinstance(reasons, list) and reasons else ""
    gpu = files.read_object(attempts[-1] / files.COMMAND).get("gpu") if attempts else None
    return JobStatus(
        id=identifier,
        name=name,
        kind=kind,
        folder=str(path),
        state=state,
        verdict=str(judgement.get("verdict") or "")[:40],
        reason=problem.what if problem and state is State.ERROR else reason,
        attempt_count=len(attempts),
        seconds=seconds_of(path),
        gpu=str(gpu.get("index", ""))[:40] if isinstance(gpu, dict) else "",
    )


def is_finished(job: PoolJob, folder: Path) -> bool:
    """True when a job has its verdict."""
    return files.JobFolder(job_folder(folder, job.id)).is_finished


def seconds_of(path: Path) -> float | None:
    """The time of the programs of all attempts; None = unknown. Measured by a clock that never jumps."""
    endings = [ending_of(folder) for folder in files.JobFolder(path).numbered(files.ATTEMPTS).values()]
    times = [ending.seconds for ending in endings if ending is not None and 0 <= ending.seconds < 1e9]
    return sum(times) if times else None


def read_problem(work: Path) -> Problem | None:
    """The problem in the folder of whoever works on a job; None = nothing is said."""
    try:
        return msgspec.json.decode((work / ERROR_FILE).read_bytes(), type=Problem)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None


# --- the plan ---


def job_folder(folder: Path, job_id: str) -> Path:
    """The folder of one job."""
    return folder / JOBS / job_id


def work_folder(folder: Path, job_id: str) -> Path:
    """The folder of the process that works on a job."""
    return folder / WORKERS / job_id


def prepare(folder: Path, jobs: Sequence[PoolJob], *, is_resumed: bool) -> None:
    """Write the plan into the folder of a pool; UsageError when the folder is to be none, or not to be gone on with."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise UsageError(f"cannot use the folder: {error.strerror}", where=str(folder)) from error
    if names and FILE not in names:
        raise UsageError("this folder exists and is not that of a pool", where=str(folder), advice="choose another: -o")
    if names and not is_resumed:
        raise UsageError("this pool exists", where=str(folder), advice="go on with it: --resume; or choose another: -o")
    files.refuse_links(folder, not_below=[files.ATTEMPTS, files.DISCOVERIES])  # what is in these, each job looks at
    try:
        for name in (JOBS, WORKERS):
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder: {error.strerror}", where=str(folder)) from error
    files.write_once(folder / FILE, b"".join(msgspec.json.encode(job) + b"\n" for job in jobs))


def read_plan(folder: Path) -> tuple[PoolJob, ...]:
    """The jobs of the pool of a folder; UsageError when there is no plan, or one that is not understood."""
    return tuple(_job(line, folder) for line in _lines(folder))


def planned_job(folder: Path, job_id: str) -> PoolJob:
    """One job of the plan, without reading the others."""
    head = f'{{"id":"{job_id}"'.encode()
    for line in _lines(folder):
        if line.startswith(head):
            return _job(line, folder)
    raise UsageError(f"the plan has no job {job_id[:40]!r}", where=str(folder / FILE))


def _lines(folder: Path) -> list[bytes]:
    try:
        return read_regular(folder / FILE).splitlines()
    except OSError as error:
        what = "this is not the folder of a pool: it has no plan"
        advice = "wavewright capture pool JOBS.toml -o FOLDER makes one"
        raise UsageError(what, where=str(folder), advice=advice) from error


def _job(line: bytes, folder: Path) -> PoolJob:
    try:
        return msgspec.json.decode(line, type=PoolJob)
    except (msgspec.MsgspecError, ValueError) as error:
        what = f"the plan has a line that is not understood ({type(error).__name__})"
        advice = "write it again: wavewright capture pool JOBS.toml --resume -o FOLDER"
        raise UsageError(what, where=str(folder / FILE), advice=advice) from error
