"""Processes that belong to one run of a program: those of its group, its session, and those that carry its mark.

This file is also a program of its own, which imports nothing of wavewright: the guard. It waits at a pipe beside every
run. When whoever took the capture is killed with a signal that nobody can handle, the pipe closes, and the guard ends
what would otherwise go on using the GPU.

usage: guard.py GROUP MARK < PIPE
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

MARK = "WAVEWRIGHT_JOB"  #: Variable that every process of a run inherits, also one that starts a session of its own.
_ENVIRONMENT_BYTES_MAX = 4 << 20  #: Of a file in /proc.
_PAUSE_SECONDS = 0.02  #: Between two looks at the processes.
_LOOKS_MAX = 20  #: A process that starts another and ends while the list is read is met in its child.
_PATIENCE_SECONDS = 5.0  #: How long a killed process may take to vanish; one that waits for a driver takes forever.
_GENTLE_SECONDS = 2.0  #: How long the guard waits between SIGINT and SIGKILL: the data are lost anyway.


def processes_of(group: int | None, mark: str) -> set[int]:
    """Numbers of the processes that live in a group or in the session of that number, or that carry a mark."""
    needle = f"{MARK}={mark}".encode()
    looked_at = {str(os.getpid())}
    members = set()
    for _ in range(_LOOKS_MAX):
        names = process_names() - looked_at
        if not names:
            break
        for name in names:
            with suppress(OSError, ValueError, IndexError):  # it ended in between, or belongs to another user
                state, its_group, its_session = _status(name)
                if state not in "ZX" and (
                    (group is not None and group in (its_group, its_session)) or needle in environment_of(name)
                ):
                    members.add(int(name))
        looked_at |= names
    return members


def process_names() -> set[str]:
    """Numbers of all processes, as text."""
    with suppress(OSError):
        return {name for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208 - thousands, every 20 ms
    return set()


def _status(name: str) -> tuple[str, int, int]:
    """State, group and session; the name before them may hold anything, also brackets and spaces."""
    words = content_of(f"/proc/{name}/stat").rpartition(b")")[2].split()
    return words[0].decode(), int(words[2]), int(words[3])


def environment_of(name: str) -> list[bytes]:
    """Variables with which a process was started; OSError when they may not be seen."""
    return content_of(f"/proc/{name}/environ").split(b"\0")


def content_of(path: str) -> bytes:
    """Without pathlib: a guard starts beside every run, and shall be there soon."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = b""
        while len(content) < _ENVIRONMENT_BYTES_MAX and (piece := os.read(descriptor, 1 << 16)):
            content += piece
        return content
    finally:
        os.close(descriptor)


def signal_all(processes: set[int], number: int) -> None:
    """Send a signal to each; those that ended meanwhile do not matter."""
    for process in processes:
        with suppress(OSError):
            os.kill(process, number)


def kill_all(group: int | None, mark: str, *, spared: frozenset[int] = frozenset()) -> tuple[int, set[int]]:
    """Kill what lives, again and again until nothing is left: a process may start another before it is killed.

    How many were killed, and those that did not vanish within some seconds.
    """
    seen: set[int] = set()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (alive := processes_of(group, mark) - spared) and time.monotonic() < deadline:
        seen |= alive
        signal_all(alive, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)
    return len(seen - alive), alive


def wait_for_none(group: int | None, mark: str, seconds: float, *, spared: frozenset[int] = frozenset()) -> set[int]:
    """Wait until none is left, or the time is over; what is left then."""
    deadline = time.monotonic() + seconds
    while (alive := processes_of(group, mark) - spared) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    return alive


def guard(group: int, mark: str, pipe: int = 0) -> None:
    """Wait until the pipe says that all is well, or closes without a word."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        with suppress(InterruptedError):
            if os.read(pipe, 1):
                return
            break
    signal_all(processes_of(group, mark), signal.SIGINT)
    wait_for_none(group, mark, _GENTLE_SECONDS)
    kill_all(group, mark)


if __name__ == "__main__":
    guard(int(sys.argv[1]), sys.argv[2])
