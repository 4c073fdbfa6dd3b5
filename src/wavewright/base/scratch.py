"""Temporary folders that are removed when their process ends or is stopped, or by a later process if it was killed."""

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

#: Contains the machine, because locks on some shared file systems are not visible to other machines.
_PREFIX = f".wavewright-{zlib.crc32(os.uname().nodename.encode()):08x}-"
_NAME = re.compile(re.escape(_PREFIX) + "[a-z0-9_]{8}")
_MODE = 0o700
_ATTEMPTS, _PAUSE_SECONDS = 40, 0.05  #: Of removals, 2 s in all.
#: The file system has no locks for folders; then no process considers a folder abandoned.
_WITHOUT_LOCKS = (errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.ENOLCK, errno.EINVAL)


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """A new empty folder in `parent`, or in the folder of temporary files, removed at the end of the block."""
    folder, end = make_scratch(parent)
    try:
        yield folder
    finally:
        end()


def make_scratch(parent: Path | None = None) -> tuple[Path, Callable[[], None]]:
    """A new empty folder, and a function that removes it. Also removes folders beside it that killed processes left.

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
    """A new folder, its lock, and a function that unregisters it; None if another process removed the folder."""
    with stopping.unstopped():
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        try:
            descriptor = _locked(folder)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return None if descriptor is None else (folder, descriptor, stopping.add(partial(_remove, folder)))


def _locked(folder: Path) -> int | None:
    """A descriptor that holds the lock of the folder until this process ends; None if another process has the lock."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Another process may have removed the folder, and made one of the same name, before it was locked.
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


def _remove_abandoned(place: Path) -> None:
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(folder: Path) -> None:
    """Remove a folder of this user that no living process has locked."""
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
    """Remove a folder, with retries: threads of a failed Polars query may still create files in it."""
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return
        time.sleep(_PAUSE_SECONDS)
