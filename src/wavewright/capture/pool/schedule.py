"""Many jobs on the GPUs of one machine: a process per job, the longest first, until all have their verdicts.

This process decides who starts next; it holds nothing that could be lost with it. Whether a job is being worked on and
whether a GPU is free say their locks, whether a job is done its files. So it may be killed at any moment: the jobs that
run go on to their end, and the next pool waits for them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from wavewright.base import stopping
from wavewright.base.words import counted
from wavewright.capture.gpus.choice import meant_gpus
from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.jobs.folder import WorkedOnError, is_locked
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.plan import Plan
from wavewright.capture.pool import folder as state
from wavewright.capture.pool.child import ELSEWHERE, ChildOptions, clear_remains, last_line, start_child
from wavewright.capture.pool.jobs_file import PoolJob, pool_jobs, read_jobs_file
from wavewright.errors import BusyError, MissingToolError, OutputError, WavewrightError

LIVES_MAX = 3  #: How often a job may lose the process that works on it, before the pool gives it up.
_CHILD_WAIT_SECONDS = 5.0  #: A child waits for its GPU that long: what ran there before may still be ending.
_POLL_SECONDS, _LOOK_SECONDS = 0.05, 0.5  #: Between two looks at our children, and at jobs that others work on.
_PAUSE_SECONDS_FIRST, _PAUSE_SECONDS_MAX = 1.0, 30.0  #: Before a GPU that others use is tried again.
_STOP_SECONDS = 15.0  #: Beyond the grace of a job, for a child to clear away.
#: Errors of one job that end the pool, by their statuses.
_ENDING = {kind.exit_code: kind for kind in (OutputError, MissingToolError)}


def longest_first(jobs: Sequence[PoolJob], folder: Path) -> list[PoolJob]:
    """The jobs in the order in which they start: the longest first, as far as times are known.

    A time is that of the jobs file, or that of the same job here; what is not known counts as the mean of the others.
    """
    times = {job.id: job.expected_seconds or state.seconds_of(state.job_folder(folder, job.id)) for job in jobs}
    measured = [seconds for seconds in times.values() if seconds is not None]
    mean = sum(measured) / len(measured) if measured else 0.0
    return sorted(jobs, key=lambda job: -(times[job.id] or mean))


@dataclass
class _Slot:
    """A GPU that this pool may use."""

    gpu: Gpu
    retry_at: float = 0.0  #: By the monotonic clock: others use it until then at least.
    pause_seconds: float = _PAUSE_SECONDS_FIRST
    refusal: str = ""  #: Who used it when it was tried last.


@dataclass
class Pool:
    """The GPUs of this machine, and jobs for them: plans, jobs, or the path of a jobs file; each job gets a process.

    Examples
    --------
    >>> from wavewright import capture
    >>> pool = capture.Pool([capture.discover(["./gemm", "512"]), capture.discover(["./gemm", "4096"])], gpus=[0, 1])
    >>> status = pool.run("gemm-pool", resume=True)  # doctest: +SKIP
    >>> [job.verdict for job in status.jobs]  # doctest: +SKIP
    """

    jobs: str | os.PathLike[str] | Iterable[PoolJob | Job | Plan]
    _: KW_ONLY
    #: Which may be used: auto, or numbers, addresses and ids with commas and ranges.
    gpus: str | Iterable[int] = "auto"
    wait_seconds: float = 0.0  #: How long all GPUs may be used by others while none of ours runs.
    is_shared: bool = False
    rocprofv3: str = ""
    tell: Callable[[str, dict[str, Any]], None] = lambda event, facts: None

    def run(self, folder: str | os.PathLike[str], *, resume: bool = False) -> state.PoolStatus:
        """Run all jobs that have no verdict yet.

        WavewrightError when nothing can be run: no GPU, none free in time, no profiler, a full disk.
        """
        from wavewright.capture.gpus.topology import gpus_of
        from wavewright.capture.machines.machine import Machine

        place = Path(folder)
        jobs = read_jobs_file(self.jobs) if isinstance(self.jobs, str | os.PathLike) else pool_jobs(self.jobs)
        state.prepare(place, jobs, is_resumed=resume)
        word = self.gpus if isinstance(self.gpus, str) else ",".join(map(str, self.gpus))
        slots = [_Slot(gpu) for gpu in meant_gpus(word, gpus_of(Machine()))]
        for job in jobs:
            if not state.is_finished(job, place):
                with suppress(WorkedOnError):
                    clear_remains(state.job_folder(place, job.id))
        schedule = _Schedule(self, place, jobs, slots)
        forget = stopping.add(schedule.stop)
        try:
            schedule.run()
        except BaseException:
            schedule.stop()
            raise
        finally:
            forget()
        return state.PoolStatus(str(place), tuple(state.job_status(job, place) for job in jobs))


@dataclass
class _Schedule:
    """One run of a pool."""

    pool: Pool
    folder: Path
    jobs: Sequence[PoolJob]
    slots: list[_Slot]
    pending: list[PoolJob] = field(default_factory=list)
    running: list[tuple[PoolJob, _Slot, subprocess.Popen[bytes]]] = field(default_factory=list)
    elsewhere: set[str] = field(default_factory=set)  #: Pending jobs on which others work.
    finished: set[str] = field(default_factory=set)
    given_up: set[str] = field(default_factory=set)
    losses: Counter[str] = field(default_factory=Counter)  #: Of the processes of a job.
    halt: WavewrightError | None = None  #: Why no more jobs are started.
    idle_since: float | None = None
    look_at: float = 0.0  #: When pending jobs are looked at again: not at once when none could start.
    is_stopping: bool = False

    def run(self) -> None:
        """Run jobs until none is left; WavewrightError when jobs are left and none can be started."""
        self.finished = {job.id for job in self.jobs if state.is_finished(job, self.folder)}
        self.pending = [job for job in longest_first(self.jobs, self.folder) if job.id not in self.finished]
        facts = {"jobs": len(self.jobs), "finished": len(self.finished), "gpus": len(self.slots)}
        self.pool.tell("pool", facts)
        while self.pending or self.running:
            if self.is_stopping and not self.running:
                return
            if not self.halt and not self.is_stopping and time.monotonic() >= self.look_at:
                self._start_all()
            if not self.running and self.pending and not self.elsewhere:
                if self.halt:
                    raise self.halt
                self._check_patience()
            else:
                self.idle_since = None
            time.sleep(_POLL_SECONDS)
            for child in list(self.running):
                job, slot, process = child
                if (status := process.poll()) is not None:
                    self.running.remove(child)
                    self.look_at = 0.0
                    self._take_back(job, slot, status)
        if self.halt:
            raise self.halt

    def stop(self) -> None:
        """Tell every child to stop gently and wait for them; called by another thread, or when an exception passes."""
        self.is_stopping = True
        running = list(self.running)
        grace = max((job.job.limits.grace_seconds for job, _, _ in running), default=0.0) + _STOP_SECONDS
        for number, seconds in ((signal.SIGINT, grace), (signal.SIGTERM, _STOP_SECONDS), (signal.SIGKILL, 5.0)):
            for _, _, process in running:
                with suppress(OSError):
                    if process.poll() is None:
                        process.send_signal(number)
            until = time.monotonic() + seconds
            signals = stopping.signal_count()
            while any(process.poll() is None for _, _, process in running):
                if time.monotonic() > until or stopping.signal_count() > signals:  # a second Ctrl-C takes the next step
                    break
                time.sleep(0.02)
            else:
                return

    def _start_all(self) -> None:
        now = time.monotonic()
        busy = {slot.gpu.device for _, slot, _ in self.running}
        for slot in sorted(self.slots, key=lambda slot: slot.gpu.memory_used_bytes or 0):
            if slot.gpu.device in busy or slot.retry_at > now:
                continue
            job = self._next()
            if job is None:
                self.look_at = now + _LOOK_SECONDS
                return
            self._start(job, slot)
            busy.add(slot.gpu.device)

    def _next(self) -> PoolJob | None:
        """The first job that may start, taken from those that wait."""
        self.elsewhere &= {job.id for job in self.pending}
        for job in list(self.pending):
            if state.is_finished(job, self.folder):  # by another pool
                self.pending.remove(job)
                self._finish(job)
            elif is_locked(state.job_folder(self.folder, job.id)):
                self._tell_elsewhere(job)
            else:
                self.pending.remove(job)
                self.elsewhere.discard(job.id)
                return job
        return None

    def _tell_elsewhere(self, job: PoolJob) -> None:
        if job.id not in self.elsewhere:
            self.elsewhere.add(job.id)
            self.pool.tell("elsewhere", {"job": job.id, "name": job.name})

    def _start(self, job: PoolJob, slot: _Slot) -> None:
        options = ChildOptions(
            folder=str(self.folder.absolute()),
            job=job.id,
            gpus=str(slot.gpu.index),
            wait_seconds=_CHILD_WAIT_SECONDS,
            is_shared=self.pool.is_shared,
            rocprofv3=self.pool.rocprofv3,
        )
        try:
            with stopping.unstopped():
                self.running.append((job, slot, start_child(options)))
        except OSError as error:
            self.pending.insert(0, job)
            self.halt = OutputError(f"cannot start a job: {error.strerror}", where=str(options.work))
            return
        self.pool.tell("started", {"job": job.id, "name": job.name, "gpu": slot.gpu.index})

    def _take_back(self, job: PoolJob, slot: _Slot, status: int) -> None:
        """Decide about a job whose child has ended."""
        facts = {"job": job.id, "name": job.name}
        work = state.work_folder(self.folder, job.id)
        if status != BusyError.exit_code:
            slot.pause_seconds, slot.refusal = _PAUSE_SECONDS_FIRST, ""
        if state.is_finished(job, self.folder):
            self._finish(job)
        elif self.is_stopping:
            self.given_up.add(job.id)
        elif status == BusyError.exit_code:
            self.pending.insert(0, job)
            slot.refusal = last_line(work)
            slot.retry_at = time.monotonic() + slot.pause_seconds
            slot.pause_seconds = min(2 * slot.pause_seconds, _PAUSE_SECONDS_MAX)
            self.pool.tell("busy", {"gpu": slot.gpu.index, "reason": slot.refusal})
        elif status == ELSEWHERE:
            self.pending.insert(0, job)
            self._tell_elsewhere(job)
        elif (problem := state.read_problem(work)) and problem.status in _ENDING:
            self.pending.insert(0, job)
            self.halt = _ENDING[problem.status](problem.what, where=problem.where, advice=problem.advice)
        elif problem:
            self.given_up.add(job.id)
            self.pool.tell("error", {**facts, "reason": problem.what})
        else:
            self.losses[job.id] += 1
            is_given_up = self.losses[job.id] >= LIVES_MAX
            self.pool.tell("lost", {**facts, "status": status, "is_given_up": is_given_up})
            if is_given_up:
                self.given_up.add(job.id)
            else:
                self.pending.insert(0, job)

    def _check_patience(self) -> None:
        """Nothing runs, and jobs wait: for GPUs that others use, or for jobs that were given up."""
        now = time.monotonic()
        if any(slot.retry_at <= now for slot in self.slots):
            return
        self.idle_since = self.idle_since or now
        if now - self.idle_since >= self.pool.wait_seconds:
            reasons = "; ".join(dict.fromkeys(slot.refusal for slot in self.slots if slot.refusal))
            what = f"{reasons or 'every GPU is used by others'} ({counted(len(self.pending), 'jobs')} left)"
            raise BusyError(what, advice="wait for them with --wait SECONDS, and go on with --resume")

    def _finish(self, job: PoolJob) -> None:
        self.finished.add(job.id)
        status = state.job_status(job, self.folder)
        done = {"done": len(self.finished) + len(self.given_up), "jobs": len(self.jobs)}
        values = {name: getattr(status, name) for name in ("verdict", "reason", "seconds", "gpu")}
        self.pool.tell(state.State.FINISHED.value, {"job": job.id, "name": job.name, **values, **done})
