"""The right to work on a job: a lock of a file in its folder, which goes with its process, however that ends."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wavewright.base.shown import shown
from wavewright.errors import BusyError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK = ".lock"
_WAIT_SECONDS = 10.0  #: A taker that is being stopped needs some time.
_WITHOUT_LOCKS = (errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK, errno.EINVAL)


class WorkedOnError(BusyError):
    """Another process works on the capture."""

    exit_code = 76


@contextmanager
def job_lock(folder: Path, *, wait_seconds: float = _WAIT_SECONDS) -> Iterator[None]:
    """Be the only process that works on a job.

    Raises
    ------
    WorkedOnError
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
                advice = "wait for it, or look at it with wavewright capture status"
                raise WorkedOnError("another process works on this capture", where=shown(str(folder)), advice=advice)
            time.sleep(0.05)
        yield
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
