"""Who works on a job of a pool: one process, on any machine that sees the folder.

On one machine flock decides: it goes with its process, however that ends. On a shared disk, flock may not be seen by
other machines (Lustre with localflock), may outlive a machine that was switched off, or may not exist. So whoever has
the lock also writes who it is and how often it has done so, every few seconds. A record of another machine counts
until it has not changed for a minute, measured by the clock of the one who looks, which never jumps.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from wavewright.capture.machines.processes import ProcessName, process_name, this_process
from wavewright.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILE, STOP_FILE = "worker", "stop"
BEAT_SECONDS = 5.0
STALE_SECONDS = 60.0
_SHOWN_SECONDS = 300.0  #: Clocks of machines may differ by some minutes.
_LOOK_SECONDS = 0.5
_SETTLE_SECONDS = 1.0  #: Without locks: after which of two records one is left.
_CONTENT_BYTES_MAX = 4096
_LOOKS_MAX, _INSTANT_SECONDS = 3, 0.003
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


@dataclass(frozen=True, kw_only=True)
class Record:
    """What the file says: who works on the job."""

    process: str = ""  #: A `ProcessName`.
    host: str = ""
    beat: int = 0  #: Grows as long as it works.
    gpu: str = ""  #: The GPU that it has, or waits for.

    @property
    def name(self) -> ProcessName | None:
        """The process; None = unknown."""
        return process_name(self.process)


@dataclass(eq=False)
class Lease:
    """The right to work on a job; `record` can be changed, and is written at once and every few seconds."""

    path: Path
    descriptor: int
    record: Record
    on_end: Callable[[], None]  #: Called when another machine took the job over, or a file tells to stop.
    _over: threading.Event = field(default_factory=threading.Event)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Write now, and from now on."""
        self._write()
        threading.Thread(target=self._beat, name="lease", daemon=True).start()

    def tell(self, gpu: str) -> None:
        """Say which GPU it works on."""
        with self._writing:
            self.record = replace(self.record, gpu=gpu)
        self._write()

    def release(self) -> None:
        """Let others work on the job."""
        self._over.set()
        with self._writing:
            if read_record(self.path).process == self.record.process:  # else it is of another one now
                with suppress(OSError):
                    os.ftruncate(self.descriptor, 0)
            with suppress(OSError):
                fcntl.flock(self.descriptor, fcntl.LOCK_UN)
            with suppress(OSError):
                os.close(self.descriptor)

    def _beat(self) -> None:
        while not self._over.wait(BEAT_SECONDS):
            is_lost = read_record(self.path).process not in ("", self.record.process)
            if is_lost or self.path.with_name(STOP_FILE).exists():
                self.on_end()
                return
            self._write()

    def _write(self) -> None:
        with self._writing:
            if self._over.is_set():
                return
            self.record = replace(self.record, beat=self.record.beat + 1)
            with suppress(OSError):  # a full disk: the lock still counts on this machine
                content = msgspec.json.encode(self.record).ljust(_CONTENT_BYTES_MAX // 8) + b"\n"
                os.pwrite(self.descriptor, content, 0)
                os.ftruncate(self.descriptor, len(content))


def take_lease(
    folder: Path, host: str, *, on_end: Callable[[], None], stale_seconds: float = STALE_SECONDS
) -> Lease | None:
    """The right to work on the job of a folder; None = another process does.

    Where a process of another machine left its record, this waits until that is certainly dead.

    Raises
    ------
    OutputError
        When the file system refuses.
    """
    path = folder / FILE
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise OutputError(f"cannot write into the folder of the job: {error.strerror}", where=str(folder)) from error
    try:
        has_locks = _try_flock(descriptor)
    except OSError as error:
        os.close(descriptor)
        if error.errno == errno.EWOULDBLOCK:
            return None
        raise
    lease = Lease(path, descriptor, Record(process=str(this_process()), host=host), on_end)
    if not _is_dead(path, has_locks=has_locks, stale_seconds=stale_seconds):
        os.close(descriptor)
        return None
    with suppress(OSError):
        path.with_name(STOP_FILE).unlink()
    lease.start()
    if not has_locks:
        time.sleep(_SETTLE_SECONDS)
        if read_record(path).process != lease.record.process:
            lease._over.set()
            os.close(descriptor)
            return None
    return lease


def _try_flock(descriptor: int) -> bool:
    """Take the lock; whether the file system has locks at all.

    Raises
    ------
    OSError
        When another process has it.
    """
    for number in range(_LOOKS_MAX):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return False
            if number + 1 == _LOOKS_MAX:
                raise
            time.sleep(_INSTANT_SECONDS)  # it may be somebody who only looks (`worker_of`)
        else:
            break
    return True


def _is_dead(path: Path, *, has_locks: bool, stale_seconds: float) -> bool:
    """Whether whoever left the record works no more."""
    first = read_record(path)
    name = first.name
    if name is None:
        return True
    if name.boot == this_process().boot and (has_locks or (name.is_here and not name.is_alive)):
        return True
    begin = time.monotonic()
    while time.monotonic() - begin < stale_seconds:
        time.sleep(min(_LOOK_SECONDS, stale_seconds))
        now = read_record(path)
        if not now.process:
            return True
        if now != first:
            return False
    return True


def read_record(path: Path) -> Record:
    """Who works on a job, as the file says; an empty record when it does not."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return Record()
    try:
        return msgspec.json.decode(os.read(descriptor, _CONTENT_BYTES_MAX), type=Record)
    except (OSError, msgspec.DecodeError, ValueError):
        return Record()
    finally:
        os.close(descriptor)


@dataclass
class Watch:
    """Whether records of other machines still change, by the clock of the one who looks."""

    stale_seconds: float = STALE_SECONDS
    _seen: dict[Path, tuple[Record, float]] = field(default_factory=dict)

    def worker(self, folder: Path) -> Record | None:
        """As `worker_of`, but None when the record is of another machine and has not changed for a minute."""
        record = worker_of(folder)
        if record is None or (record.name and record.name.boot == this_process().boot):
            self._seen.pop(folder, None)
            return record
        before, since = self._seen.get(folder, (None, 0.0))
        if record != before:
            self._seen[folder] = (record, time.monotonic())
            return record
        return record if time.monotonic() - since < self.stale_seconds else None


def worker_of(folder: Path) -> Record | None:
    """Who works on the job of a folder now; None = nobody on this machine, and no trace of another machine."""
    path = folder / FILE
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno == errno.EWOULDBLOCK:
            return read_record(path)
    finally:
        os.close(descriptor)
    record = read_record(path)
    name = record.name
    return record if name is not None and name.boot != this_process().boot else None


def stop_worker(folder: Path) -> None:
    """Tell whoever works on the job of a folder to stop gently: at once here, within seconds on another machine."""
    record = worker_of(folder)
    name = record.name if record else None
    if name is None:
        return
    if name.is_here:
        with suppress(OSError):
            os.kill(name.pid, signal.SIGINT)
    else:
        with suppress(OSError):
            (folder / STOP_FILE).touch()


def is_fresh(folder: Path) -> bool:
    """Whether the record of a worker was written in the last minutes, by clocks on the wall: to show, not to act."""
    record = read_record(folder / FILE)
    if record.name is not None and record.name.boot == this_process().boot:
        return True
    try:
        return time.time() - (folder / FILE).stat().st_mtime < _SHOWN_SECONDS
    except OSError:
        return False
