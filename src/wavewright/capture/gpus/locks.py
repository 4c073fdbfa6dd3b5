"""One exclusive lock per GPU, shared by every user of a machine: a file with flock.

The file is `<folder>/<host>-<device>.lock`; the folder is WAVEWRIGHT_LOCK_DIR, else one in /tmp with mode 1777, and the
files have mode 0666. It is not below /run/user, which two users do not share. A lock is taken when it can be, never
by the content of the file; the content (one JSON object) only says who has it.

The descriptor is passed on to the program that runs on the GPU (`inherited_descriptors`): a program that outlives its
supervisor still has the GPU, until it ends or somebody ends it.

In a folder in which everybody may write, everybody may lay something: links are not followed, only regular files with
one name are used, at most a few kB of them are read, and what they say is shown as text. Anybody can keep a
lock for ever, as anybody can keep a GPU busy; that cannot be prevented, and the message names the owner.
"""

from __future__ import annotations

import errno
import fcntl
import getpass
import os
import re
import stat
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wavewright.base.shown import command_line
from wavewright.capture.machines.runner import inherited_descriptors
from wavewright.errors import OutputError, UsageError

FOLDER_VARIABLE = "WAVEWRIGHT_LOCK_DIR"
SHARED_FOLDER = "/tmp/wavewright-gpu-locks"  # noqa: S108 - meant to be shared, and checked before use
_FOLDER_MODE, _FILE_MODE = 0o1777, 0o666
_CONTENT_BYTES_MAX, _COMMAND_LETTERS_MAX = 4096, 300  #: Read of a lock file; of a command line, written into it.
#: Errors of flock that mean: this file system has no locks.
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
_OPENED_AGAIN_MAX = 20  #: Tries to open a lock file that others remove meanwhile.
_LOOKS_MAX, _LOOK_SECONDS = 3, 0.003  #: A lock is tried so often, with this pause: somebody may only look at it.
_ELSEWHERE = f"set {FOLDER_VARIABLE} to a folder that all users of the GPUs share"


@dataclass(frozen=True, kw_only=True)
class Holder:
    """The owner of a lock, as the lock file says; it may be out of date for an instant."""

    pid: int = 0  #: 0 = unknown.
    namespace: str = ""  #: Containers count their processes by themselves.
    user: str = ""
    command: str = ""

    def __str__(self) -> str:
        if not self.pid:
            return "somebody who left no name"
        owner = f"process {self.pid}" + (f" of {self.user}" if self.user else "")
        if self.namespace == _namespace() and not Path(f"/proc/{self.pid}").exists():
            owner += " (which is gone; a program that it started still runs)"
        return owner + (f": {self.command}" if self.command else "")


@dataclass(eq=False)
class Lock:
    """A lock of this process."""

    path: Path
    descriptor: int

    def release(self) -> None:
        """Give it back, also for programs that inherited it."""
        if self.descriptor not in inherited_descriptors:
            return
        inherited_descriptors.discard(self.descriptor)
        with suppress(OSError):
            os.ftruncate(self.descriptor, 0)
        with suppress(OSError):
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)
        os.close(self.descriptor)


def lock_folder(variables: Mapping[str, str]) -> Path:
    """The folder of the locks; it is made where it does not exist."""
    chosen = variables.get(FOLDER_VARIABLE, "")
    folder = Path(chosen or SHARED_FOLDER)
    try:
        if chosen:
            if not folder.is_dir():
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(_FOLDER_MODE)
            return folder
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            folder.chmod(_FOLDER_MODE)  # mkdir obeys the umask
        facts = folder.lstat()
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError("locks of GPUs need a folder here", where=str(folder), advice=_ELSEWHERE) from error
    except OSError as error:
        what = f"the folder for locks of GPUs cannot be made: {error.strerror}"
        raise OutputError(what, where=str(folder), advice=_ELSEWHERE) from error
    if not stat.S_ISDIR(facts.st_mode):
        raise UsageError("locks of GPUs need a folder here, and not a link", where=str(folder), advice=_ELSEWHERE)
    if facts.st_uid == os.geteuid() and stat.S_IMODE(facts.st_mode) != _FOLDER_MODE:
        folder.chmod(_FOLDER_MODE)
    elif facts.st_mode & 0o1007 != 0o1007:  # sticky, and everybody may write
        what = f"user {facts.st_uid} owns the folder of locks, and others may not write into it"
        advice = f"its owner or root: chmod {_FOLDER_MODE:o} {folder}; or {_ELSEWHERE}"
        raise UsageError(what, where=str(folder), advice=advice)
    return folder


def lock_path(folder: Path, host: str, key: str) -> Path:
    """The lock file of a device."""
    host, key = (re.sub(r"[^A-Za-z0-9:._-]", "_", text).lstrip(".")[:100] or "_" for text in (host, key))
    return folder / f"{host}-{key}.lock"


def try_lock(path: Path, *, command: str = "") -> Lock | None:
    """Take a lock; None = somebody has it, perhaps this process."""
    looks = 0
    for _ in range(_OPENED_AGAIN_MAX):
        descriptor, is_writable = _open(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(OSError):
                if os.path.samestat(os.fstat(descriptor), path.lstat()):
                    break
            os.close(descriptor)  # somebody removed the file meanwhile: another one counts
        except OSError as error:
            os.close(descriptor)
            if error.errno in _NO_LOCKS:
                what = f"this file system has no locks ({error.strerror})"
                raise UsageError(what, where=str(path), advice="choose a local folder: " + _ELSEWHERE) from error
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            looks += 1
            if looks == _LOOKS_MAX:
                return None
            time.sleep(_LOOK_SECONDS)  # it may be somebody who only looks (`holder_of`)
    else:
        raise OutputError("the lock file is removed again and again", where=str(path), advice=_ELSEWHERE)
    if is_writable:
        _write_holder(descriptor, command or command_line(sys.argv))
    inherited_descriptors.add(descriptor)
    return Lock(path, descriptor)


def _open(path: Path) -> tuple[int, bool]:
    """The lock file, and whether it can be written.

    The kernel refuses O_CREAT for files of others in a folder with mode 1777 (fs.protected_regular), so it is used only
    when there is no file.
    """
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    for extra, is_writable in ((os.O_RDWR, True), (os.O_RDWR | os.O_CREAT | os.O_EXCL, True), (os.O_RDONLY, False)):
        try:
            descriptor = os.open(path, flags | extra, _FILE_MODE)
        except (FileNotFoundError, FileExistsError, PermissionError) as error:
            refusal = error
            continue
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENOTDIR):
                raise _planted(path) from error
            what = f"cannot open the lock: {error.strerror}"
            raise OutputError(what, where=str(path), advice=_ELSEWHERE) from error
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink > 1:
            os.close(descriptor)
            raise _planted(path)
        if facts.st_uid == os.geteuid() and stat.S_IMODE(facts.st_mode) != _FILE_MODE:
            os.fchmod(descriptor, _FILE_MODE)  # open obeys the umask
        return descriptor, is_writable
    if isinstance(refusal, FileNotFoundError) and path.parent.is_dir():  # made and removed between two of our steps
        return _open(path)
    raise OutputError(f"cannot open the lock: {refusal.strerror}", where=str(path), advice=_ELSEWHERE) from refusal


def _planted(path: Path) -> UsageError:
    what = "this is not a lock file of wavewright but a link, a folder, a pipe, or a file with a second name"
    return UsageError(what, where=str(path), advice="find out who put it there, and remove it; or " + _ELSEWHERE)


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - not a path
    except OSError:
        return ""


def _write_holder(descriptor: int, command: str) -> None:
    """Say who has the lock; it counts also when that cannot be written."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    holder = Holder(pid=os.getpid(), namespace=_namespace(), user=user, command=command[:_COMMAND_LETTERS_MAX])
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(holder) + b"\n", 0)


def holder_of(path: Path) -> Holder | None:
    """The owner of the lock at this moment; None = nobody. Looking takes an instant, which `try_lock` waits for."""
    if not path.parent.is_dir() or not os.path.lexists(path):
        return None
    descriptor, _ = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # undone by close
    except OSError:
        try:
            return msgspec.json.decode(os.pread(descriptor, _CONTENT_BYTES_MAX, 0), type=Holder)
        except (OSError, msgspec.DecodeError, ValueError):
            return Holder()
    else:
        return None
    finally:
        os.close(descriptor)
