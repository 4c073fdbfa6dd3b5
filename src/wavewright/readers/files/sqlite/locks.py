"""The locks with which SQLite's readers and writers tell each other what they do, taken without SQLite.

Byte ranges of the file, as https://www.sqlite.org/lockingv3.html names them: whoever reads holds SHARED, and while
somebody does, nobody changes the file. Locks of open file descriptions are used: those of processes would be given up
by closing any other descriptor of the file.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

#: Offset and length of the locked bytes of the database file.
_PENDING, _RESERVED, _SHARED = (0x40000000, 1), (0x40000001, 1), (0x40000002, 510)
_CHECKPOINT = (121, 1)  #: In the -shm file: held by whoever moves pages of the log into the database.
_FLOCK = "hhqqi4x"  #: struct flock of 64-bit Linux: type, whence, start, length, process.
_BUSY = (errno.EAGAIN, errno.EACCES)
_PAUSE_SECONDS = 0.005


class BusyError(Exception):
    """Another process writes the file."""


@contextmanager
def shared_lock(descriptor: int, seconds: float) -> Iterator[None]:
    """Nobody changes the database file inside the block; where the file system has no locks, this does nothing.

    Raises `BusyError` when somebody writes it for longer than `seconds`.
    """
    deadline = time.monotonic() + seconds
    with ExitStack() as stack:
        with _held(descriptor, _PENDING, deadline):  # a writer who waits for its turn comes first
            stack.enter_context(_held(descriptor, _SHARED, deadline))
        yield


@contextmanager
def checkpoint_lock(descriptor: int, seconds: float) -> Iterator[None]:
    """Inside the block no page of the log is moved into the database; `descriptor` is of its -shm file.

    Raises `BusyError` when somebody moves pages for longer than `seconds`.
    """
    with _held(descriptor, _CHECKPOINT, time.monotonic() + seconds):
        yield


def is_reserved(descriptor: int) -> bool:
    """True if somebody prepares a change: then the journal is of a change that is not in the file yet."""
    try:
        return _asked("F_OFD_GETLK", descriptor, "F_WRLCK", _RESERVED) != fcntl.F_UNLCK
    except OSError:
        return False


@contextmanager
def _held(descriptor: int, place: tuple[int, int], deadline: float) -> Iterator[None]:
    while not _take_shared(descriptor, place):
        if time.monotonic() >= deadline:
            raise BusyError
        time.sleep(_PAUSE_SECONDS)
    try:
        yield
    finally:
        with suppress(OSError):  # there are no locks to give up
            _asked("F_OFD_SETLK", descriptor, "F_UNLCK", place)


def _take_shared(descriptor: int, place: tuple[int, int]) -> bool:
    """True if a read lock was taken, or there are no locks to take."""
    try:
        _asked("F_OFD_SETLK", descriptor, "F_RDLCK", place)
    except OSError as error:
        return error.errno not in _BUSY
    return True


def _asked(command: str, descriptor: int, kind: str, place: tuple[int, int]) -> int:
    """Do something with a lock; the kind of lock that the system answers with."""
    if sys.platform != "linux":  # others have no such locks, or lay the request out differently
        raise OSError(errno.EINVAL, "no locks of open file descriptions")
    request = struct.pack(_FLOCK, getattr(fcntl, kind), os.SEEK_SET, *place, 0)
    lock_type: int = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, getattr(fcntl, command), request))[0]
    return lock_type
