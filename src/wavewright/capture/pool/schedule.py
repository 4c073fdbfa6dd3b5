"""Many jobs on the GPUs of one machine: a process per job, the longest first, until all have their verdicts.

This process decides who starts next; it holds nothing that could be lost with it. Whether a job is being worked on and
whether a GPU is free say their locks, whether a job is done its files. So it may be killed at any moment: the jobs that
run go on to their end, and the next pool waits for them.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from wavewright.base import stopping
from wavewright.base.words import counted
from wavewright.capture.gpus.choice import meant_gpus
from wavewright.capture.jobs.folder import ATTEMPTS, DISCOVERIES, FINISHED, refuse_links
from wavewright.capture.jobs.lock import WorkedOnError, is_locked
from wavewright.capture.pool.child import ELSEWHERE, LOG, Errand, clear_left_overs, read_problem
from wavewright.capture.pool.jobs_file import pool_jobs, read_jobs_file
from wavewright.capture.pool.plan import is_pool, job_folder, read_plan, work_folder, write_plan
from wavewright.capture.pool.status import PoolStatus, State, is_finished, job_status, seconds_of, status_of
from wavewright.errors import BusyError, MissingToolError, OutputError, UsageError, WavewrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.jobs.job import Job
    from wavewright.capture.jobs.plan import Plan
    from wavewright.capture.pool.jobs_file import PoolJob

LIVES_MAX = 3  #: How often a job may lose the process that works on it, before the pool gives it up.
_CHILD_WAIT_SECONDS = 5.0  #: A child waits for its GPU that long: what ran there before may still be ending.
_LOOK_SECONDS = 0.5  #: Between two looks at jobs that others work on.
_PAUSE_SECONDS_FIRST, _PAUSE_SECONDS_MAX = 1.0, 30.0  #: Before a GPU that others use is tried again.
_STOP_SECONDS = 15.0  #: Beyond the grace of a job, for a child to clear away.


def prepare(folder: Path, jobs: Sequence[PoolJob], *, is_resumed: bool) -> None:
    """Write the plan into the folder of a pool.

    Raises
    ------
    UsageError
        When the folder exists and is not to be gone on with, or is none.
    OutputError
        When the file system refuses.
    """
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise UsageError(f"cannot use the folder: {error.strerror}", where=str(folder)) from error
    if names and not is_pool(folder):
        raise UsageError("this folder exists and is not that of a pool", where=str(folder), advice="choose another: -o")
    if names and not is_resumed:
        raise UsageError("this pool exists", where=str(folder), advice="go on with it: --resume; or choose another: -o")
    refuse_links(folder, not_below=[ATTEMPTS, DISCOVERIES])  # what is in these, each job looks at
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder: {error.strerror}", where=str(folder)) from error
    write_plan(folder, jobs)


def longest_first(jobs: Sequence[PoolJob], folder: Path, earlier: Path | None = None) -> list[PoolJob]:
    """The jobs in the order in which they start: the longest first, as far as times are known.

    A time is that of the jobs file, that of the same job here, or that of a job of the same name and kind in another
    pool. What is not known is taken for the mean of the others.
    """
    before: dict[tuple[str, str], float] = {}
    if earlier is not None:
        for past in status_of(earlier).jobs:
            if past.seconds is not None:
                before[past.name, past.kind] = past.seconds
    times: dict[str, float | None] = {}
    for job in jobs:
        here = seconds_of(job_folder(folder, job.id))
        times[job.id] = job.expected_seconds or here or before.get((job.name, job.kind))
    measured = [seconds for seconds in times.values() if seconds is not None]
    mean = sum(measured) / len(measured) if measured else 0.0
    places = {job.id: number for number, job in enumerate(jobs)}
    return sorted(jobs, key=lambda job: (-(mean if times[job.id] is None else times[job.id] or 0.0), places[job.id]))


@dataclass
class _Slot:
    """A GPU that this pool may use."""

    gpu: Gpu
    retry_at: float = 0.0  #: By the monotonic clock: others use it until then at least.
    pause_seconds: float = _PAUSE_SECONDS_FIRST
    refusal: str = ""  #: Who used it when it was tried last.


@dataclass(eq=False)
class _Running:
    """A child at work."""

    job: PoolJob
    slot: _Slot
    process: subprocess.Popen[bytes]
    begin: float


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

    #: Empty = those of the plan that is in the folder.
    jobs: str | os.PathLike[str] | Iterable[PoolJob | Job | Plan] = ()
    _: KW_ONLY
    gpus: str | Iterable[int] = (
        "auto"  #: Which may be used: auto, or numbers, addresses and ids with commas and ranges.
    )
    wait_seconds: float = 0.0  #: How long all GPUs may be used by others while none of ours runs.
    is_shared: bool = False
    rocprofv3: str = ""
    earlier: Path | None = None  #: Another pool that knows how long jobs take.
    tell: Callable[[str, dict[str, Any]], None] = lambda event, facts: None
    _children: dict[int, _Running] = field(default_factory=dict)
    _is_stopping: bool = False

    def run(self, folder: str | os.PathLike[str], *, resume: bool = False) -> PoolStatus:
        """Run all jobs that have no verdict yet.

        Raises
        ------
        WavewrightError
            When nothing can be run: no GPU, none free in time, no profiler, a full disk. What is done stays.
        """
        place = Path(folder)
        jobs = self._pool_jobs()
        if jobs:
            prepare(place, jobs, is_resumed=resume)
        else:
            jobs = read_plan(place)
        return self.run_planned(place, jobs)

    def _pool_jobs(self) -> tuple[PoolJob, ...]:
        if isinstance(self.jobs, str | os.PathLike):
            return read_jobs_file(self.jobs)
        return pool_jobs(self.jobs)

    def run_planned(self, folder: Path, jobs: Sequence[PoolJob]) -> PoolStatus:
        """Run some jobs of the plan that is in the folder.

        Raises
        ------
        WavewrightError
            As `run`.
        """
        from wavewright.capture.gpus.topology import gpus_of
        from wavewright.capture.machines.machine import Machine

        word = self.gpus if isinstance(self.gpus, str) else ",".join(map(str, self.gpus))
        slots = [_Slot(gpu) for gpu in meant_gpus(word, gpus_of(Machine()))]
        for job in jobs:
            if not is_finished(job, folder):
                with suppress(WorkedOnError):
                    clear_left_overs(job_folder(folder, job.id))
        self._is_stopping = False
        forget = stopping.add(self.stop)
        try:
            _Schedule(self, folder, jobs, slots).run()
        except BaseException:
            self.stop()
            raise
        finally:
            forget()
        return PoolStatus(str(folder), tuple(job_status(job, folder) for job in jobs))

    def stop(self) -> None:
        """Tell every child to stop gently and wait for them; called by another thread, or when an exception passes."""
        self._is_stopping = True
        running = list(self._children.values())
        grace = max((child.job.job.limits.grace_seconds for child in running), default=0.0) + _STOP_SECONDS
        for number, seconds in ((signal.SIGINT, grace), (signal.SIGTERM, _STOP_SECONDS), (signal.SIGKILL, 5.0)):
            for child in running:
                with suppress(OSError):
                    if child.process.poll() is None:
                        child.process.send_signal(number)
            until = time.monotonic() + seconds
            signals = stopping.signal_count()
            while any(child.process.poll() is None for child in running):
                if time.monotonic() > until or stopping.signal_count() > signals:  # a second Ctrl-C takes the next step
                    break
                time.sleep(0.02)
            else:
                return


class _Schedule:
    """One run of a pool."""

    def __init__(self, pool: Pool, folder: Path, jobs: Sequence[PoolJob], slots: list[_Slot]) -> None:
        self._pool, self._folder, self._slots = pool, folder, slots
        self._tell = pool.tell
        self._finished = {job.id for job in jobs if is_finished(job, folder)}
        order = longest_first(jobs, folder, pool.earlier)
        self._pending = [job for job in order if job.id not in self._finished]
        self._elsewhere: dict[str, PoolJob] = {}  # Others work on them.
        self._given_up: set[str] = set()
        self._lost: Counter[str] = Counter()
        self._halt: WavewrightError | None = None  # Why no more jobs are started.
        self._idle_since: float | None = None
        self._looked = 0.0
        self._total = len(jobs)
        self._ids = {job.id for job in jobs}

    def run(self) -> None:
        """Until nothing is left to do.

        Raises
        ------
        WavewrightError
            When jobs are left and none can be started.
        """
        self._tell("pool", {"jobs": self._total, "finished": len(self._finished), "gpus": len(self._slots)})
        children = self._pool._children
        with selectors.DefaultSelector() as selector:
            while self._pending or self._elsewhere or children:
                if self._pool._is_stopping and not children:
                    return
                self._look_elsewhere()
                if not self._halt and not self._pool._is_stopping:
                    self._start_all(selector)
                if not children and not self._elsewhere and self._pending:
                    if self._halt:
                        raise self._halt
                    self._check_patience()
                elif children:
                    self._idle_since = None
                self._wait(selector)
            if self._halt:
                raise self._halt

    def _start_all(self, selector: selectors.BaseSelector) -> None:
        now = time.monotonic()
        children = self._pool._children.values()
        taken = {child.slot.gpu.device for child in children}
        for slot in sorted(self._slots, key=lambda slot: slot.gpu.memory_used_bytes or 0):
            if slot.gpu.device in taken or slot.retry_at > now:
                continue
            job = self._next()
            if job is None:
                return
            self._start(job, slot, selector)
            taken.add(slot.gpu.device)

    def _next(self) -> PoolJob | None:
        """The first job that may start, taken from those that wait."""
        for number, job in enumerate(self._pending):
            if all(self._is_over(other) for other in job.after):
                return self._pending.pop(number)
        return None

    def _is_over(self, job_id: str) -> bool:
        """Whether a job that another comes after has ended, here or in another pool."""
        if job_id in self._finished or job_id in self._given_up:
            return True
        if job_id in self._ids:
            return False
        if (job_folder(self._folder, job_id) / FINISHED).is_file():
            self._finished.add(job_id)
            return True
        return read_problem(work_folder(self._folder, job_id)) is not None

    def _start(self, job: PoolJob, slot: _Slot, selector: selectors.BaseSelector) -> None:
        place = work_folder(self._folder, job.id)
        if is_finished(job, self._folder):  # by another pool
            self._finished.add(job.id)
            self._tell_end(job)
            return
        if is_locked(job_folder(self._folder, job.id)):
            self._elsewhere[job.id] = job
            self._tell("elsewhere", {"job": job.id, "name": job.name})
            return
        pool = self._pool
        errand = Errand(
            folder=str(self._folder.absolute()),
            job=job.id,
            gpus=str(slot.gpu.index),
            wait_seconds=_CHILD_WAIT_SECONDS,
            is_shared=pool.is_shared,
            rocprofv3=pool.rocprofv3,
        )
        try:
            place.mkdir(parents=True, exist_ok=True)
            with ExitStack() as stack:
                log = stack.enter_context((place / LOG).open("ab"))
                stack.enter_context(stopping.unstopped())
                process = start_child(errand, log.fileno())
                pool._children[process.pid] = _Running(job, slot, process, time.monotonic())
        except OSError as error:
            self._pending.insert(0, job)
            self._halt = OutputError(f"cannot start a job: {error.strerror}", where=str(place))
            return
        with suppress(OSError):
            descriptor = os.pidfd_open(process.pid)
            selector.register(descriptor, selectors.EVENT_READ, descriptor)
        self._tell("started", {"job": job.id, "name": job.name, "gpu": slot.gpu.index})

    def _wait(self, selector: selectors.BaseSelector) -> None:
        """Until a child ends, or it is time to look again."""
        if selector.get_map():
            for key, _ in selector.select(_LOOK_SECONDS):
                selector.unregister(key.fileobj)
                os.close(key.data)
        else:
            time.sleep(0.05)
        children = self._pool._children
        for pid, child in list(children.items()):
            status = child.process.poll()
            if status is not None:
                del children[pid]
                self._take_back(child, status)

    def _take_back(self, child: _Running, status: int) -> None:
        """What became of a job whose child has ended."""
        job, slot = child.job, child.slot
        if status != BusyError.exit_code:
            slot.pause_seconds, slot.refusal = _PAUSE_SECONDS_FIRST, ""
        if is_finished(job, self._folder):
            self._finished.add(job.id)
            self._tell_end(job)
        elif self._pool._is_stopping:
            self._given_up.add(job.id)
        elif status == BusyError.exit_code:
            self._pending.insert(0, job)
            slot.refusal = last_line(work_folder(self._folder, job.id) / LOG)
            slot.retry_at = time.monotonic() + slot.pause_seconds
            slot.pause_seconds = min(2 * slot.pause_seconds, _PAUSE_SECONDS_MAX)
            self._tell("busy", {"gpu": slot.gpu.index, "reason": slot.refusal})
        elif status == ELSEWHERE:
            self._elsewhere[job.id] = job
            self._tell("elsewhere", {"job": job.id, "name": job.name})
        else:
            self._take_back_unfinished(job, status)

    def _take_back_unfinished(self, job: PoolJob, status: int) -> None:
        problem = read_problem(work_folder(self._folder, job.id))
        if problem and problem.status in (OutputError.exit_code, MissingToolError.exit_code):
            kind = OutputError if problem.status == OutputError.exit_code else MissingToolError
            self._halt = kind(problem.what, where=problem.where, advice=problem.advice)
            self._pending.insert(0, job)
        elif problem:
            self._given_up.add(job.id)
            self._tell("error", {"job": job.id, "name": job.name, "reason": problem.what})
        else:
            self._lost[job.id] += 1
            is_given_up = self._lost[job.id] >= LIVES_MAX
            facts = {"job": job.id, "name": job.name, "status": status, "is_given_up": is_given_up}
            self._tell("lost", facts)
            if is_given_up:
                self._given_up.add(job.id)
            else:
                self._elsewhere[job.id] = job  # what it started may still be ending

    def _look_elsewhere(self) -> None:
        """Jobs of others that have ended: with a verdict, or without, then they are ours."""
        if not self._elsewhere or time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        for job in list(self._elsewhere.values()):
            if is_finished(job, self._folder):
                del self._elsewhere[job.id]
                self._finished.add(job.id)
                self._tell_end(job)
            elif not is_locked(job_folder(self._folder, job.id)):
                del self._elsewhere[job.id]
                self._pending.insert(0, job)

    def _check_patience(self) -> None:
        """Nothing runs, and jobs wait: for GPUs that others use, or for jobs that were given up."""
        now = time.monotonic()
        is_ready = any(all(self._is_over(other) for other in job.after) for job in self._pending)
        if is_ready and any(slot.retry_at <= now for slot in self._slots):
            return
        self._idle_since = self._idle_since or now
        if now - self._idle_since >= self._pool.wait_seconds:
            reasons = "; ".join(dict.fromkeys(slot.refusal for slot in self._slots if slot.refusal))
            reasons = reasons or ("every GPU is used by others" if is_ready else "other jobs must finish before")
            what = f"{reasons} ({counted(len(self._pending), 'jobs')} left)"
            raise BusyError(what, advice="wait for them with --wait SECONDS, and go on with --resume")

    def _tell_end(self, job: PoolJob) -> None:
        status = job_status(job, self._folder)
        done = len(self._finished) + len(self._given_up)
        facts = {
            "job": job.id,
            "name": job.name,
            "verdict": status.verdict,
            "reason": status.reason,
            "seconds": status.seconds,
            "gpu": status.gpu,
            "done": done,
            "jobs": self._total,
        }
        self._tell(State.FINISHED.value, facts)


def start_child(errand: Errand, log: int) -> subprocess.Popen[bytes]:
    """Start a process for one job; it leads a session, so that a signal for the pool does not reach it first."""
    words = [sys.executable, "-m", "wavewright.capture.pool.child", msgspec.json.encode(errand).decode()]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


def last_line(path: Path) -> str:
    """What a child printed last; empty = nothing."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - 4096))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1][:1000] if lines else ""
