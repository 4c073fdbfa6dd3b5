"""Programs on this machine: each leads a session of its own, is drained, stopped gently, and leaves nothing running.

Time is measured with the clock that never jumps. What ends a program is always the same sequence: SIGINT to its group,
at which the profiler writes its data, SIGTERM after the grace, SIGKILL at last.
"""

from __future__ import annotations

import errno
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from wavewright.base import stopping
from wavewright.base.shown import shown
from wavewright.base.words import shortened
from wavewright.capture.machines import guard
from wavewright.errors import OutputError

_TERM_SECONDS = 10.0  #: From SIGTERM to SIGKILL, or the grace where that is shorter.
_DEATH_SECONDS = 20.0  #: From SIGKILL to the end; a process that waits for a driver may never end.
_REMAINS_SECONDS = 5.0  #: What outlives the leader may write its data that long, or as long as the grace.
_DRAIN_SECONDS = 2.0  #: After everything has ended, for a pipe that a stranger keeps open.
_BEAT_SECONDS = 1.0  #: Between two calls of `each_second`.
_POLL_SECONDS = 0.05  #: Where the system cannot tell of an end.
_CHUNK_BYTES = 1 << 16
_TAIL_BYTES_MAX = 1 << 20  #: The end of a long output is worth more than its middle: there stands why it failed.
TIMEOUT, INTERRUPTED = "timeout", "interrupted"
#: Open descriptors that programs started here inherit, and so keep open after this process: locks of GPUs.
inherited_descriptors: set[int] = set()


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of the time of a program, and of what it prints."""

    seconds: float = 900.0  #: Then it is told to stop.
    grace_seconds: float = 120.0  #: From SIGINT, at which the profiler writes its data, to SIGTERM; then SIGKILL.
    output_bytes: int = 64 << 20  #: Kept of what it prints, per stream; the rest is counted and dropped.


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The ending of a program."""

    status: int | None  #: Exit status, negative for a signal; None = it could not be started.
    seconds: float
    stopped: str = ""  #: Why we stopped it: timeout, or interrupted; empty = it ended by itself.
    problem: str = ""  #: Why it could not be started; else empty.
    dropped_bytes: int = 0  #: Of its output, beyond the limit.
    left_behind: int = 0  #: Processes of its group that outlived it and had to be killed.


def run_program(
    words: Sequence[str],
    *,
    variables: Mapping[str, str],
    cwd: str,
    stdout: Path,
    stderr: Path,
    limits: Limits,
    each_second: Callable[[float], None] = lambda seconds: None,
) -> Ending:
    """Run a program with exactly these variables to its end; nothing of its group is left running.

    The variable WAVEWRIGHT_JOB is added where it is missing, by which its processes are recognised.
    """
    start = time.monotonic()
    mark = variables.get(guard.MARK) or uuid.uuid4().hex
    with ExitStack() as open_things:
        files = [open_things.enter_context(_created(path)) for path in (stdout, stderr)]
        try:
            program = open_things.enter_context(_started(words, {**variables, guard.MARK: mark}, cwd, mark, limits))
        except (OSError, ValueError) as error:
            return Ending(status=None, seconds=time.monotonic() - start, problem=_why_not(error, words, cwd))
        pipes = zip(program.pipes, files, strict=True)
        streams = [_Stream(source, file, limits.output_bytes) for source, file in pipes]
        stopped = program.attend(streams, start, each_second)
        status, problem, remains_count = program.finish(streams, stopped)
        for stream in streams:
            stream.close()
    with stopping.unstopped():  # when the program ended because ours is told to stop, that is the end of ours, too
        pass
    return Ending(
        status=status,
        seconds=time.monotonic() - start,
        stopped=stopped,
        problem=problem,
        dropped_bytes=sum(stream.dropped_bytes for stream in streams),
        left_behind=remains_count,
    )


def end_marked(mark: str) -> int:
    """End what is left of an earlier run whose supervisor was killed; how many processes that were."""
    alive = guard.processes_of(None, mark)
    if alive:
        guard.signal_all(alive, signal.SIGINT)
        guard.wait_for_none(None, mark, _REMAINS_SECONDS)
        guard.kill_all(None, mark)
    return len(alive)


class _Program:
    """A program that was started, its guard, and how it is stopped; safe to be stopped from another thread."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str, limits: Limits) -> None:
        self._process = process
        self._mark = mark
        self._limits = limits
        self._reaping = threading.Lock()
        self._is_reaped = False
        self._interrupted = False
        assert process.stdout and process.stderr  # noqa: S101 - both are pipes
        self.pipes = (process.stdout, process.stderr)

    def attend(self, streams: Sequence[_Stream], start: float, tick: Callable[[float], None]) -> str:
        """Drain its streams until it has ended or resists every signal; why it was stopped."""
        stopped = ""
        steps = deque([(start + self._limits.seconds, signal.SIGINT)])  # moments at which to send a signal
        beat = start + _BEAT_SECONDS
        with selectors.DefaultSelector() as selector, _ending_of(self._process.pid) as descriptor:
            for stream in streams:
                selector.register(stream.source, selectors.EVENT_READ, stream)
            if descriptor is not None:
                selector.register(descriptor, selectors.EVENT_READ, None)
            while not self._is_over():
                now = time.monotonic()
                if steps and now >= steps[0][0]:
                    _, number = steps.popleft()
                    if not stopped:
                        stopped, term = TIMEOUT, now + self._limits.grace_seconds
                        kill = term + min(_TERM_SECONDS, self._limits.grace_seconds)
                        steps = deque([(term, signal.SIGTERM), (kill, signal.SIGKILL)])
                    self.send(number)
                    if not steps:
                        break
                if now >= beat:
                    beat = now + _BEAT_SECONDS
                    tick(now - start)
                patience = min([beat, *(step[0] for step in list(steps)[:1])]) - now
                _read_some(selector, max(0.0, patience if descriptor is not None else min(patience, _POLL_SECONDS)))
            if stopped and not self._is_over():  # after SIGKILL
                self._wait(_DEATH_SECONDS)
        return INTERRUPTED if self._interrupted else stopped

    def finish(self, streams: Sequence[_Stream], stopped: str) -> tuple[int | None, str, int]:
        """Clear away what outlived it and read what is left in the pipes; status, problem, and how many were left."""
        us = frozenset({self._process.pid})  # a zombie, which keeps the number of the group ours until it is reaped
        is_stuck = not self._is_over()
        count = len(self._remains(us))
        if count:
            patience = 0.0 if stopped else min(_REMAINS_SECONDS, self._limits.grace_seconds)
            for number in (signal.SIGINT, signal.SIGTERM) if patience else ():  # SIGINT is ignored by `sh -c 'x &'`
                guard.signal_all(self._remains(us), number)
                _drain(streams, patience / 2, until=lambda: not self._remains(us))
            guard.kill_all(self._process.pid, self._mark, spared=us)
        _drain(streams, _DRAIN_SECONDS, until=lambda: self._is_silent(streams, us))
        problem = ""
        if is_stuck:
            problem = f"process {self._process.pid} does not end, not even by SIGKILL: it waits for the driver"
            status = None
        else:
            with self._reaping:
                self._is_reaped = True
                status = self._process.wait()
        return status, problem, count + is_stuck

    def _is_silent(self, streams: Sequence[_Stream], us: frozenset[int]) -> bool:
        """True when nobody can write to the pipes: somebody of ours who still can was missed, and is killed."""
        if all(stream.is_at_end for stream in streams):
            return True
        guard.signal_all(self._remains(us), signal.SIGKILL)
        return False

    def _remains(self, us: frozenset[int]) -> set[int]:
        return guard.processes_of(self._process.pid, self._mark) - us

    def send(self, number: int) -> None:
        """A signal to the group; from SIGTERM on also to those of its processes that left the group."""
        with self._reaping:
            if self._is_reaped:
                return
            with suppress(OSError):
                os.killpg(self._process.pid, number)
            if number != signal.SIGINT:  # a launcher hands SIGINT on; twice means to many that they must not write
                guard.signal_all(guard.processes_of(None, self._mark), number)

    def stop(self) -> None:
        """Stop it gently and wait for that: called by another thread, or when an exception passes through."""
        self._interrupted = True
        grace = self._limits.grace_seconds
        patience = {signal.SIGINT: grace, signal.SIGTERM: min(_TERM_SECONDS, grace), signal.SIGKILL: _DEATH_SECONDS}
        for place, (number, seconds) in enumerate(patience.items()):
            self.send(number)
            with suppress(KeyboardInterrupt):  # the next Ctrl-C takes the next step at once, here and by `stopping`
                if self._wait(seconds, signals_max=place + 1):
                    break
        guard.kill_all(None if self._is_reaped else self._process.pid, self._mark)

    def _wait(self, seconds: float, *, signals_max: int = sys.maxsize) -> bool:
        """True when it has ended within the time, and before we were told to stop more often than that."""
        deadline = time.monotonic() + seconds
        while not self._is_over():
            if time.monotonic() >= deadline or stopping.signal_count() > signals_max:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def _is_over(self) -> bool:
        with self._reaping:
            if self._is_reaped:
                return True
            try:
                return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
            except ChildProcessError:  # somebody else waits for every child of this process
                return True


class _Stream:
    """The output of a program: the first part and the end go into a file, the rest is counted."""

    def __init__(self, source: IO[bytes], file: BinaryIO, limit_bytes: int) -> None:
        self.source = source
        os.set_blocking(source.fileno(), False)
        self._file = file
        self._tail_max = min(_TAIL_BYTES_MAX, limit_bytes // 4)
        self._room = limit_bytes - self._tail_max
        self._tail = bytearray()
        self.dropped_bytes = 0
        self.is_at_end = False

    def read(self) -> bool:
        """Read what is there; False at the end."""
        try:
            piece = os.read(self.source.fileno(), _CHUNK_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            piece = b""
        self.is_at_end = not piece
        head = piece[: self._room]
        self._room -= len(head)
        self._write(head)
        self._tail += piece[len(head) :]
        if (surplus := len(self._tail) - self._tail_max) > 0:
            self.dropped_bytes += surplus
            del self._tail[:surplus]
        return not self.is_at_end

    def _write(self, piece: bytes) -> None:
        """Write a piece; a full disk costs the rest of the output, but not the run."""
        try:
            self._file.write(piece)
            self._file.flush()
        except OSError:
            self._room = self._tail_max = 0
            self.dropped_bytes += len(piece)

    def close(self) -> None:
        """Write the end."""
        if self.dropped_bytes and self._tail:
            self._write(f"\n[wavewright: {self.dropped_bytes:,} bytes are left out here]\n".encode())
        self._write(bytes(self._tail))


@contextmanager
def _started(
    words: Sequence[str], variables: Mapping[str, str], cwd: str, mark: str, limits: Limits
) -> Iterator[_Program]:
    """A running program with its guard; when an exception passes through, it is stopped gently first."""
    with stopping.unstopped():
        process = subprocess.Popen(
            list(words),
            env=dict(variables),
            cwd=cwd or None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=tuple(inherited_descriptors),
            preexec_fn=_interruptible if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else None,
        )
        program = _Program(process, mark, limits)
        guards: list[_Guard] = []

        def stop() -> None:
            program.stop()
            for watcher in guards:
                watcher.end(b".")

        forget = stopping.add(stop)
    last_word = b""  # for the guard: empty = end what is left, a dot = nothing is left
    try:
        guards += _guards(process.pid, mark)
        yield program
        last_word = b"."
    except BaseException:
        program.stop()
        last_word = b"."
        raise
    finally:
        for watcher in guards:
            watcher.end(last_word)
        forget()
        for pipe in program.pipes:
            pipe.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(0)


def _interruptible() -> None:
    """In the child: a shell that starts us in the background has SIGINT ignored, and the profiler's end needs it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class _Guard:
    """The process that ends a group when this one is killed."""

    def __init__(self, process: subprocess.Popen[bytes], pipe: int) -> None:
        self._process = process
        self._pipe = pipe
        self._ending = threading.Lock()
        self._is_ended = False

    def end(self, word: bytes) -> None:
        """Tell it a word, by which it leaves, or nothing, by which it ends the group; and wait for it."""
        with self._ending:
            if self._is_ended:
                return
            self._is_ended = True
            with suppress(OSError):
                os.write(self._pipe, word)
            os.close(self._pipe)
            self._process.wait()


def _guards(group: int, mark: str) -> list[_Guard]:
    """The guard of a group; none where there is no room for one more process."""
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, str(group), mark],
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
            pass_fds=tuple(inherited_descriptors),
        )
    except OSError:
        os.close(writing)
        return []
    finally:
        os.close(reading)
    return [_Guard(process, writing)]


@contextmanager
def _ending_of(process: int) -> Iterator[int | None]:
    """A descriptor that becomes readable when a process ends; None where the system has none."""
    try:
        descriptor = os.pidfd_open(process)
    except (OSError, AttributeError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read_some(selector: selectors.BaseSelector, seconds: float) -> None:
    for key, _ in selector.select(seconds):
        stream: _Stream | None = key.data
        if stream is not None and not stream.read():
            selector.unregister(key.fileobj)


def _drain(streams: Sequence[_Stream], seconds: float, *, until: Callable[[], bool]) -> None:
    """Read for a bounded time, until something is true."""
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            if not stream.is_at_end:
                selector.register(stream.source, selectors.EVENT_READ, stream)
        while time.monotonic() < deadline and not until():
            _read_some(selector, _POLL_SECONDS)


@contextmanager
def _created(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("wb")
    except OSError as error:
        raise OutputError(f"cannot write what the program prints: {error.strerror}", where=shown(str(path))) from None
    with suppress(OSError), file:  # closing may find the disk full; that was counted when it was written
        yield file


def _why_not(error: Exception, words: Sequence[str], cwd: str) -> str:
    """The reason why a program could not be started, in words."""
    name = shortened(shown(words[0] if words else ""))
    if not isinstance(error, OSError):
        return f"the program {name!r} cannot be started: {error}"
    if cwd and not Path(cwd).is_dir():
        return f"the folder {shortened(shown(cwd))!r} in which {name!r} is to run does not exist"
    sentence = _REASONS.get(error.errno or 0, f"the program {{}} cannot be started: {error.strerror}")
    return sentence.format(repr(name))


_REASONS = {
    errno.ENOENT: "the program {} does not exist",
    errno.EACCES: "the program {} is not executable",
    errno.ENOEXEC: "{} is not a program that this machine can run; does its first line lack '#!'?",
    errno.E2BIG: "the arguments and variables of {} are longer than the system allows",
}
