"""The jobs of a pool on a Dask cluster: each worker has one GPU and sees the folder of the pool at the same path.

A worker starts a process for a job and waits for it. Should the worker die, that process goes on; Dask gives the job to
another worker, which waits until nobody works on the job, and finds it finished or goes on with it. Who works on a job
says a lock of its folder, which all machines must see.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wavewright.base import stopping
from wavewright.base.words import some_of
from wavewright.capture.jobs.folder import is_locked
from wavewright.capture.pool import folder as state
from wavewright.capture.pool.child import ELSEWHERE, ChildOptions, last_line, start_child
from wavewright.capture.pool.jobs_file import PoolJob
from wavewright.capture.pool.schedule import LIVES_MAX, longest_first
from wavewright.cluster.executor import NotSeenError
from wavewright.errors import BusyError, MissingToolError, OutputError

_STOP = "stop"  #: A file of the pool: workers tell the processes of their jobs to stop.
GPU = {"GPU": 1.0}  #: The resource that a worker must have: one job at a time.
_LOOK_SECONDS = 0.2  #: Between two looks at a child, or at a job on which others work.
_PAUSE_SECONDS_MAX = 30.0  #: Longest pause before a GPU that others use is tried again.
_NAMES_MAX = 4  #: Of jobs, in a sentence.


@dataclass(frozen=True)
class WorkerTask:
    """The task of a worker for the id of a job; it can be pickled."""

    options: ChildOptions

    def __call__(self, job_id: str) -> state.Problem | None:
        """Finish a job; None = it has its verdict, else why it has not.

        NotSeenError where the folder of the pool is not, or may not be written.
        """
        folder = Path(self.options.folder)
        gpus = visible_gpus(os.environ) or self.options.gpus
        options = replace(self.options, job=job_id, gpus=gpus)
        if not os.access(folder / state.FILE, os.R_OK):
            raise NotSeenError(str(folder))
        try:
            options.work.mkdir(parents=True, exist_ok=True)
            (options.work / state.LOG).open("ab").close()
        except OSError as error:
            raise NotSeenError(str(folder)) from error
        try:
            return _finished(options, folder)
        except OSError as error:
            what = f"the folder of the pool cannot be used: {error.strerror}"
            return state.Problem(status=OutputError.exit_code, what=what, where=str(folder))


def _finished(options: ChildOptions, folder: Path) -> state.Problem | None:
    job = state.planned_job(folder, options.job)
    loss_count, pause_seconds, start = 0, _LOOK_SECONDS, time.monotonic()
    while not state.is_finished(job, folder):
        if is_locked(state.job_folder(folder, job.id)):
            time.sleep(_LOOK_SECONDS)
            continue
        status = _status_of(start_child(options), folder / _STOP)
        if state.is_finished(job, folder):
            break
        if status == ELSEWHERE:
            time.sleep(_LOOK_SECONDS)
        elif status == BusyError.exit_code:
            if time.monotonic() - start > options.wait_seconds:
                return state.Problem(status=status, what=last_line(options.work))
            time.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, _PAUSE_SECONDS_MAX)
        elif problem := state.read_problem(options.work):
            return problem
        else:
            loss_count += 1
            if loss_count >= LIVES_MAX or status > 128:  # by a signal: told to stop
                return state.Problem(status=status, what=f"the process of {job.name!r} ended with status {status}")
    return None


def _status_of(process: subprocess.Popen[bytes], stop: Path) -> int:
    """The status of a child, which is told to stop when the pool is."""
    while process.poll() is None and not stop.exists():
        time.sleep(_LOOK_SECONDS)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    return process.wait()


def visible_gpus(variables: Mapping[str, str]) -> str:
    """The GPUs that the environment leaves visible, as a word of `--gpus`; empty = all."""
    return variables.get("ROCR_VISIBLE_DEVICES", "").strip()


def run_on_dask(
    folder: Path,
    jobs: Sequence[PoolJob],
    options: ChildOptions,
    *,
    scheduler: str,
    wait_seconds: float = 60.0,
    tell: Callable[[str, dict[str, Any]], None] = lambda event, facts: None,
) -> state.PoolStatus:
    """Run the jobs of the plan that is in the folder."""
    from wavewright.cluster.dask import DaskExecutor

    executor = DaskExecutor(
        scheduler,
        wait_seconds=wait_seconds,
        say=lambda text: tell("note", {"text": text}),
        resources=GPU,
        retries=LIVES_MAX,
    )
    total = len(jobs)
    unfinished = [job for job in jobs if not state.is_finished(job, folder)]
    tell("pool", {"jobs": total, "finished": total - len(unfinished), "gpus": 0})

    def done() -> None:
        """Tell how many jobs are finished, when one more is; workers that are lost leave theirs unfinished."""
        count = len(unfinished)
        unfinished[:] = [job for job in unfinished if not state.is_finished(job, folder)]
        if len(unfinished) < count:
            tell("progress", {"done": total - len(unfinished), "jobs": total})

    def stop() -> None:
        (folder / _STOP).touch()

    (folder / _STOP).unlink(missing_ok=True)
    forget = stopping.add(stop)
    problems: list[state.Problem] = []
    losses: dict[str, list[str]] = {}  # Why jobs have no verdict -> their names.
    try:
        waiting = longest_first(unfinished, folder)
        outcomes = executor.run(WorkerTask(options), [job.id for job in waiting], done) if waiting else []
        for job, outcome in zip(waiting, outcomes, strict=True):
            if outcome.lost and not state.is_finished(job, folder):  # its process outlives a worker
                losses.setdefault(outcome.lost, []).append(job.name)
            elif outcome.value is not None:
                problems.append(outcome.value)
    except BaseException:
        stop()
        raise
    finally:
        forget()
    for reason, names in losses.items():
        tell("note", {"text": f"{some_of(names, _NAMES_MAX)}: {reason}; --resume goes on"})
    for kind in (OutputError, MissingToolError, BusyError):  # the error that stands for all jobs, where one does
        for problem in problems:
            if problem.status == kind.exit_code:
                raise kind(problem.what, where=problem.where, advice=problem.advice)
    return state.PoolStatus(str(folder), tuple(state.job_status(job, folder) for job in jobs))
