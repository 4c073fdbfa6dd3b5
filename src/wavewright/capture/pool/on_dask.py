"""The jobs of a pool on a Dask cluster: each worker has one GPU and sees the folder of the pool at the same path.

A worker starts a process for a job and waits for it. Should the worker die, that process goes on; Dask gives the job to
another worker, which waits until nobody works on the job any more, and finds it finished or goes on with it. Who works
on a job says a lock of its folder, which all machines must see.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base import stopping
from wavewright.capture.jobs.lock import is_locked
from wavewright.capture.pool.child import ELSEWHERE, LOG, Errand, Problem, read_problem
from wavewright.capture.pool.plan import FILE, job_folder, planned_job, work_folder
from wavewright.capture.pool.schedule import LIVES_MAX, last_line, longest_first, start_child
from wavewright.capture.pool.status import PoolStatus, is_finished, job_status
from wavewright.cluster.executor import NotSeenError
from wavewright.errors import BusyError, MissingToolError, OutputError, UsageError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence

    from wavewright.capture.pool.jobs_file import PoolJob

_STOP = "stop"  #: A file of the pool: workers tell the processes of their jobs to stop.
GPU = {"GPU": 1.0}  #: The resource that a worker must have: one job at a time.
_LOOK_SECONDS = 0.2
_PAUSE_SECONDS_MAX = 30.0
_NAMES_MAX = 4  #: Of jobs, in a sentence.


@dataclass(frozen=True)
class Errands:
    """What a worker does with the id of a job; it can be pickled."""

    errand: Errand

    def __call__(self, job_id: str) -> Problem | None:
        """Finish a job; None = it has its verdict, else why it has not.

        Raises
        ------
        NotSeenError
            Where the folder of the pool is not, or may not be written.
        """
        folder = Path(self.errand.folder)
        work = work_folder(folder, job_id)
        if not os.access(folder / FILE, os.R_OK):
            raise NotSeenError(str(folder))
        try:
            work.mkdir(parents=True, exist_ok=True)
            (work / LOG).open("ab").close()
        except OSError as error:
            raise NotSeenError(str(folder)) from error
        try:
            return self._finished(folder, work, job_id)
        except OSError as error:
            what = f"the folder of the pool cannot be used: {error.strerror}"
            return Problem(status=OutputError.exit_code, what=what, where=str(folder))

    def _finished(self, folder: Path, work: Path, job_id: str) -> Problem | None:
        errand = replace(self.errand, job=job_id, gpus=_own_gpus(self.errand.gpus))
        job = planned_job(folder, job_id)
        lost_count, seconds, begin = 0, _LOOK_SECONDS, time.monotonic()
        while not is_finished(job, folder):
            if is_locked(job_folder(folder, job_id)):
                time.sleep(_LOOK_SECONDS)
                continue
            with (work / LOG).open("ab") as log:
                process = start_child(errand, log.fileno())
            status = _waited_for(process, folder / _STOP)
            if is_finished(job, folder):
                break
            if status == ELSEWHERE:
                time.sleep(_LOOK_SECONDS)
            elif status == BusyError.exit_code:
                if time.monotonic() - begin > errand.wait_seconds:
                    return Problem(status=status, what=last_line(work / LOG))
                time.sleep(seconds)
                seconds = min(2 * seconds, _PAUSE_SECONDS_MAX)
            elif problem := read_problem(work):
                return problem
            else:
                lost_count += 1
                if lost_count >= LIVES_MAX or status > 128:  # told to stop
                    return Problem(status=status, what=f"the process of {job.name!r} ended with status {status}")
        return None


def _waited_for(process: subprocess.Popen[bytes], stop: Path) -> int:
    """The status of a child, which is told to stop when the pool is."""
    while process.poll() is None and not stop.exists():
        time.sleep(_LOOK_SECONDS)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    return process.wait()


def _own_gpus(word: str) -> str:
    """The GPUs of this worker: those that whoever started it left visible."""
    from wavewright.capture.machines.machine import Machine

    return visible_gpus(Machine().variables) or word


def visible_gpus(variables: Mapping[str, str]) -> str:
    """The GPUs that the environment leaves visible, as a word of `--gpus`; empty = all.

    Examples
    --------
    >>> visible_gpus({"ROCR_VISIBLE_DEVICES": "2,3"}), visible_gpus({})
    ('2,3', '')
    """
    return variables.get("ROCR_VISIBLE_DEVICES", "").strip()


def run_on_dask(
    folder: Path,
    jobs: Sequence[PoolJob],
    errand: Errand,
    *,
    scheduler: str | None,
    workers: int | None = None,
    wait_seconds: float = 60.0,
    earlier: Path | None = None,
    tell: Callable[[str, dict[str, Any]], None] = lambda event, facts: None,
) -> PoolStatus:
    """Run the jobs of the plan that is in the folder; jobs that come after others wait for all that come before.

    Raises
    ------
    MissingToolError
        When Dask, a profiler or a GPU is missing.
    UsageError
        When the scheduler cannot be reached, or no worker has a GPU.
    BusyError
        When every GPU was used by others for too long.
    """
    from wavewright.cluster.dask import DaskExecutor

    executor = DaskExecutor(
        scheduler,
        workers=workers,
        wait_seconds=wait_seconds,
        say=lambda text: tell("note", {"text": text}),
        resources=GPU,
        retries=LIVES_MAX,
    )
    total = len(jobs)
    unfinished = [job for job in jobs if not is_finished(job, folder)]
    tell("pool", {"jobs": total, "finished": total - len(unfinished), "gpus": workers or 0})

    def done() -> None:
        """Tell how many jobs are finished, when one more is; workers that are lost leave theirs unfinished."""
        count = len(unfinished)
        unfinished[:] = [job for job in unfinished if not is_finished(job, folder)]
        if len(unfinished) < count:
            tell("progress", {"done": total - len(unfinished), "jobs": total})

    def stop() -> None:
        (folder / _STOP).touch()

    (folder / _STOP).unlink(missing_ok=True)

    forget = stopping.add(stop)
    problems: list[Problem] = []
    lost: dict[str, list[str]] = {}  # Why jobs have no verdict -> their names.
    try:
        for level in _levels(jobs):
            left = [job for job in longest_first(level, folder, earlier) if not is_finished(job, folder)]
            try:
                outcomes = executor.run(Errands(errand), [job.id for job in left], done) if left else []
            except UsageError as error:
                if not lost:
                    raise
                lost.setdefault(error.what, []).extend(job.name for job in left)
                break  # the cluster was lost on the way: what is done is told
            for job, outcome in zip(left, outcomes, strict=True):
                if outcome.lost and not is_finished(job, folder):  # its process outlives a worker
                    lost.setdefault(outcome.lost, []).append(job.name)
                elif outcome.value is not None:
                    problems.append(outcome.value)
    except BaseException:
        stop()
        raise
    finally:
        forget()
    for reason, names in lost.items():
        more = f" and {len(names) - _NAMES_MAX:,} more" if len(names) > _NAMES_MAX else ""
        tell("note", {"text": f"{', '.join(names[:_NAMES_MAX])}{more}: {reason}; --resume goes on"})
    _raise_for(problems)
    return PoolStatus(str(folder), tuple(job_status(job, folder) for job in jobs))


def _levels(jobs: Sequence[PoolJob]) -> list[list[PoolJob]]:
    """Jobs by how many others come before them, one after the other."""
    depths: dict[str, int] = {}
    for job in jobs:  # the plan has each behind those that it comes after
        depths[job.id] = 1 + max((depths.get(other, 0) for other in job.after), default=0)
    return [[job for job in jobs if depths[job.id] == depth] for depth in sorted(set(depths.values()))]


def _raise_for(problems: Sequence[Problem]) -> None:
    """The error that stands for all jobs, where one does."""
    for kind in (OutputError, MissingToolError, BusyError):
        for problem in problems:
            if problem.status == kind.exit_code:
                raise kind(problem.what, where=problem.where, advice=problem.advice)
