"""Temporary folders that go with their process: when it is done, when it is stopped, and after it was killed."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import tempfile
import time
import zlib
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wavewright.base import stopping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Names the machine: on some shared file systems a lock is not seen by the others.
_PREFIX = f".wavewright-{zlib.crc32(os.uname().nodename.encode()):08x}-"
_NAME = re.compile(re.escape(_PREFIX) + "[a-z0-9_]{8}")
_MODE = 0o700
_ATTEMPTS, _PAUSE_SECONDS = 40, 0.05


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """A new empty folder in `parent`, or where temporary files go, for as long as the block runs."""
    folder, end = make_scratch(parent)
    try:
        yield folder
    finally:
        end()


def make_scratch(parent: Path | None = None) -> tuple[Path, Callable[[], None]]:
    """A new empty folder, and what removes it. Folders beside it whose processes were killed are removed now.

    Raises `OSError` when the file system refuses.
    """
    place = Path(parent or tempfile.gettempdir())
    _remove_abandoned(place)
    while (folder_made := _made(place)) is None:
        pass
    folder, descriptor, forget = folder_made

    def end() -> None:
        _remove(folder)
        forget()
        with suppress(OSError):
            os.close(descriptor)

    return folder, end


def _made(place: Path) -> tuple[Path, int, Callable[[], None]] | None:
    """A new folder, its lock, and what forgets it; None when somebody took it for abandoned before it was locked."""
    with stopping.unstopped():
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        try:
            descriptor = _locked(folder)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return None if descriptor is None else (folder, descriptor, stopping.add(partial(_remove, folder)))


def _locked(folder: Path) -> int | None:
    """A descriptor that holds the folder's lock as long as this process lives; None when another process has it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.lstat(folder)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError as error:
        if error.errno in _WITHOUT_LOCKS:
            return descriptor
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


#: Here folders cannot be locked: then nobody finds them abandoned, either.
_WITHOUT_LOCKS = (errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.ENOLCK, errno.EINVAL)


def _remove_abandoned(place: Path) -> None:
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(folder: Path) -> None:
    """Ours, and held by no process that lives."""
    status = folder.lstat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o777 != _MODE:
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


def _remove(folder: Path) -> None:
    """Remove it even if a thread of polars, whose query failed, still creates a file in it."""
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return
        time.sleep(_PAUSE_SECONDS)
