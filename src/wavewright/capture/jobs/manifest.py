"""What happened to a job, as lines of JSON that are only ever appended, and what state that is.

Every line is one event: `{"v":1,"time":"2026-11-16T16:02:44.120Z","job":"3f2a...","event":"started","attempt":1,...}`.
Lines count in their order; times are for people, because clocks jump. A line that was torn by a crash is ignored, and
events that are not known here are kept.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import json_bytes, shown
from wavewright.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FILE = "manifest.jsonl"
VERSION = 1
PLANNED, STARTED, ENDED, JUDGED, FINISHED, INTERRUPTED = (
    "planned",
    "started",
    "ended",
    "judged",
    "finished",
    "interrupted",
)
_FILE_BYTES_MAX = 64 << 20  #: Read of one manifest.
_LINE_BYTES_MAX = 1 << 20
_TEXT_MAX, _ITEMS_MAX, _DEPTH_MAX = (
    4_000,
    1_000,
    8,
)  #: Written: characters of a text, entries of a list, lists in lists.
LOCK = ".lock"
_LOCK_WAIT_SECONDS = 10.0  #: A taker that is being stopped needs some time.
_WITHOUT_LOCKS = (errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK, errno.EINVAL)


class JobState(StrEnum):
    """How far a job has come."""

    PLANNED = "planned"  #: Nothing was run.
    RUNNING = "running"  #: An attempt runs, or is being judged.
    INTERRUPTED = "interrupted"  #: The same, but nobody works on it.
    JUDGED = "judged"  #: The last attempt has a verdict; another may follow.
    FINISHED = "finished"


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of a manifest."""

    event: str
    job: str = ""
    time: str = ""  #: As 2026-11-16T16:02:44.120Z, by the clock of the machine.
    attempt: int | None = None  #: From 1.
    details: dict[str, Any] = field(default_factory=dict, hash=False)  #: The other keys.


class Manifest:
    """The events of one job, in its folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def append(self, job: str, event: str, *, attempt: int | None = None, **details: Any) -> Event:
        """Add one event with a single write that has reached the disk when this returns.

        Raises
        ------
        OutputError
            When the file system refuses.
        """
        happened = Event(
            event=event, job=job, time=_now(), attempt=attempt, details={key: _bounded(details[key]) for key in details}
        )
        try:
            _append(self.path, json_bytes(as_line(happened)) + b"\n")
        except OSError as error:
            raise OutputError(f"cannot write the manifest: {error.strerror}", where=shown(str(self.path))) from None
        return happened

    def events(self) -> tuple[Event, ...]:
        """Every event that can be read, in order; none when there is no manifest."""
        return read_events(self.path)[0]


def as_line(event: Event) -> dict[str, Any]:
    """An event as the object of its line.

    Examples
    --------
    >>> as_line(Event(event="started", job="a1", time="t", attempt=2, details={"pass": 1}))
    {'v': 1, 'time': 't', 'job': 'a1', 'event': 'started', 'attempt': 2, 'pass': 1}
    """
    numbered = {} if event.attempt is None else {"attempt": event.attempt}
    return {"v": VERSION, "time": event.time, "job": event.job, "event": event.event, **numbered, **event.details}


def read_events(path: Path) -> tuple[tuple[Event, ...], int]:
    """Every event of a file, and how many lines were none: torn, damaged, or too long."""
    import msgspec

    events, ignored = [], 0
    for line in _content(path).split(b"\n"):
        if not line.strip():
            continue
        try:
            event = _event(msgspec.json.decode(line)) if len(line) <= _LINE_BYTES_MAX else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            event = None
        if event is None:
            ignored += 1
        else:
            events.append(event)
    return tuple(events), ignored


def _content(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(_FILE_BYTES_MAX) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def _event(line: Any) -> Event | None:
    """An event from what a line holds; None when it is none."""
    if not isinstance(line, dict) or not isinstance(line.get("event"), str):
        return None
    attempt = line.get("attempt")
    return Event(
        event=line["event"],
        job=str(line.get("job", ""))[:_TEXT_MAX],
        time=str(line.get("time", ""))[:_TEXT_MAX],
        attempt=attempt if isinstance(attempt, int) and not isinstance(attempt, bool) else None,
        details={key: line[key] for key in line if key not in ("v", "time", "job", "event", "attempt")},
    )


def state_of(events: Iterable[Event], *, is_worked_on: bool) -> JobState:
    """How far a job has come by its events; whether somebody works on it tells `is_locked`.

    Examples
    --------
    >>> state_of([Event(event="planned"), Event(event="started", attempt=1)], is_worked_on=False)
    <JobState.INTERRUPTED: 'interrupted'>
    """
    state = JobState.PLANNED
    for event in events:
        state = _AFTER.get(event.event, state)
        if state is JobState.FINISHED:
            return state
    return JobState.INTERRUPTED if state is JobState.RUNNING and not is_worked_on else state


_AFTER = {
    PLANNED: JobState.PLANNED,
    STARTED: JobState.RUNNING,
    ENDED: JobState.RUNNING,
    JUDGED: JobState.JUDGED,
    INTERRUPTED: JobState.INTERRUPTED,
    FINISHED: JobState.FINISHED,
}


@contextmanager
def job_lock(folder: Path, *, wait_seconds: float = _LOCK_WAIT_SECONDS) -> Iterator[int]:
    """Be the only process that works on a job; a lock goes with its process, however that ends.

    Raises
    ------
    UsageError
        When another process works on it.
    OutputError
        When the file system refuses.
    """
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise OutputError(f"cannot write into the folder: {error.strerror}", where=shown(str(folder))) from None
    try:
        deadline = time.monotonic() + wait_seconds
        while not _is_ours(descriptor):
            if time.monotonic() >= deadline:
                raise UsageError(
                    "another process works on this capture",
                    where=shown(str(folder)),
                    advice="wait for it, or look at it with wavewright capture status",
                )
            time.sleep(0.05)
        yield descriptor
    finally:
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a process works on a job."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _is_ours(descriptor)
    finally:
        os.close(descriptor)


def _is_ours(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _WITHOUT_LOCKS:
            raise
    return True


def _append(path: Path, line: bytes) -> None:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600)  # what it tells of commands holds variables of the user
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if status.st_size and os.pread(descriptor, 1, status.st_size - 1) != b"\n":
            line = b"\n" + line  # what was torn ends here
        if os.write(descriptor, line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
        if not status.st_size:
            _sync_folder(path.parent)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _now() -> str:
    try:
        now = datetime.fromtimestamp(time.time(), UTC)
    except (OverflowError, ValueError, OSError):  # a clock far beyond the years that have a name
        return ""
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _bounded(value: Any, depth: int = 0) -> Any:
    """A value that makes no line too long: texts of programs and lists of dispatches are shortened."""
    if isinstance(value, str):
        return value if len(value) <= _TEXT_MAX else f"{value[:_TEXT_MAX]}…"
    if isinstance(value, dict):
        items = list(value.items())[:_ITEMS_MAX] if depth < _DEPTH_MAX else []
        return {str(key)[:_TEXT_MAX]: _bounded(item, depth + 1) for key, item in items}
    if isinstance(value, list | tuple | set | frozenset):
        return [_bounded(item, depth + 1) for item in list(value)[:_ITEMS_MAX]] if depth < _DEPTH_MAX else []
    return value
