"""This machine: its files, variables and short commands. Nothing here changes it."""

# Paths are texts, those of the machine; names of files need not be UTF-8.
# ruff: noqa: PTH100, PTH113, PTH116, PTH120, PTH208
from __future__ import annotations

import errno
import grp
import os
import signal
import stat
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import IO

from wavewright.base import stopping
from wavewright.base.bounds import integer_of

_CHUNK_BYTES = 1 << 16
_DRAIN_SECONDS = 2.0  #: After everything has ended, for a pipe that a stranger keeps open.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_READ_WRITE = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFCHR: "device"}
#: Most bytes that are read of one file, and kept of what a command prints.
READ_BYTES_MAX = 4 << 20


@dataclass(frozen=True)
class FileFacts:
    """Facts of the file system about a path, links followed."""

    kind: str  #: file, folder, device (a character device) or other.
    mode: int  #: Permission bits.
    uid: int
    gid: int
    size_bytes: int


@dataclass(frozen=True)
class Completed:
    """The ending of a short command."""

    status: int | None  #: Exit status, negative for a signal; None = it did not start or did not end in time.
    stdout: str
    stderr: str
    problem: str = ""  #: Why there is no status; else empty.


@dataclass(frozen=True)
class Identity:
    """The user of the machine, and its system."""

    hostname: str
    system: str  #: As `uname -s`: Linux.
    kernel: str  #: As `uname -r`.
    processor: str  #: As `uname -m`.
    uid: int
    gids: tuple[int, ...]  #: All groups of the process, the effective one included.
    group_names: Mapping[int, str]  #: Names of those groups that have one on the machine, by number.


class Machine:
    """Answers about the machine on which this program runs."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        #: The environment in which programs would be started; None = that of this process.
        self.variables: Mapping[str, str] = dict(os.environ if variables is None else variables)

    @cached_property
    def identity(self) -> Identity:
        """The user of the machine, and its system."""
        system = os.uname()
        gids = tuple(sorted({*os.getgroups(), os.getegid()}))
        names = group_names(self.text("/etc/group") or "")
        for gid in gids:  # also from directories such as LDAP
            with suppress(KeyError):
                names[gid] = grp.getgrgid(gid).gr_name
        return Identity(
            hostname=system.nodename,
            system=system.sysname,
            kernel=system.release,
            processor=system.machine,
            uid=os.geteuid(),
            gids=gids,
            group_names={gid: names[gid] for gid in gids if gid in names},
        )

    def read(self, path: str) -> bytes | None:
        """The first READ_BYTES_MAX bytes of a file; None = it cannot be read, or is a device or a pipe."""
        try:
            descriptor = os.open(self.place(path), _READ)
        except (OSError, ValueError):
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            with os.fdopen(descriptor, "rb", closefd=False) as stream:
                return stream.read(READ_BYTES_MAX)
        except OSError:  # files of sysfs and proc may refuse to be read after they were opened
            return None
        finally:
            os.close(descriptor)

    def text(self, path: str) -> str | None:
        """The text of a file, without white space at both ends; bytes that are not UTF-8 are replaced."""
        content = self.read(path)
        return None if content is None else content.decode("utf-8", "replace").strip()

    def names(self, folder: str) -> tuple[str, ...]:
        """Sorted names of the entries of a folder; empty when it cannot be read."""
        try:
            return tuple(sorted(os.listdir(self.place(folder))))
        except (OSError, ValueError):
            return ()

    def facts(self, path: str) -> FileFacts | None:
        """Facts about a path; None = there is nothing, or it may not be seen."""
        try:
            status = os.stat(self.place(path))
        except (OSError, ValueError):
            return None
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "other")
        return FileFacts(kind, stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, status.st_size)

    def real_path(self, path: str) -> str:
        """The path with all links followed."""
        with suppress(OSError, ValueError):
            return os.path.realpath(path)
        return path

    def refusal(self, path: str) -> str:
        """The error, as EACCES, with which a file cannot be opened for reading and writing; empty = it can."""
        try:
            os.close(os.open(self.place(path), _READ_WRITE))
        except OSError as error:
            return errno.errorcode.get(error.errno or 0, "EIO")
        except ValueError:  # a NUL in the path
            return "EINVAL"
        return ""

    def free_bytes(self, path: str) -> int | None:
        """Free bytes of the file system of a path, or of its nearest parent that exists; None = unknown."""
        try:
            place = self.place(path)
            while place not in ("/", "") and not os.path.lexists(place):
                place = os.path.dirname(place)
            system = os.statvfs(place)
        except (OSError, ValueError):
            return None
        return system.f_bavail * system.f_frsize

    def program(self, name: str) -> str | None:
        """Absolute path of a program on PATH, or of a path to one; None = there is none."""
        if "/" in name:
            return os.path.abspath(name) if self._is_program(name) else None
        for folder in self.variables.get("PATH", _DEFAULT_PATH).split(":"):
            path = f"{folder.rstrip('/')}/{name}"
            if folder.startswith("/") and name and self._is_program(path):
                return path
        return None

    def run(self, words: Sequence[str], *, seconds: float) -> Completed:
        """Run a short command that changes nothing; it is killed, with all its children, after `seconds`."""
        path = self.program(words[0]) if words else None
        if path is None:
            return Completed(None, "", "", f"there is no program {words[0] if words else ''!r}")
        try:
            with stopping.unstopped():
                process = subprocess.Popen(
                    [self.place(path), *words[1:]],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=dict(self.variables),
                    cwd=self.place("/"),  # a folder of ours may hold programs and modules of others
                    start_new_session=True,  # so that its children can be ended with it
                )
                forget = stopping.add(process.kill)
        except (OSError, ValueError) as error:
            return Completed(None, "", "", f"cannot be started: {getattr(error, 'strerror', None) or error}")
        assert process.stdout and process.stderr  # noqa: S101 - both are pipes
        printed = {process.stdout: bytearray(), process.stderr: bytearray()}
        readers = [threading.Thread(target=_drain, args=pipe, daemon=True) for pipe in printed.items()]
        for reader in readers:
            reader.start()
        problem = ""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            problem = f"no end after {seconds:g} s"
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # with its children, which keep the pipes open
            process.wait()
            for reader, stream in zip(readers, printed, strict=True):
                reader.join(_DRAIN_SECONDS)
                stream.close()
            forget()
        stdout, stderr = (bytes(content).decode("utf-8", "replace") for content in printed.values())
        return Completed(None if problem else process.returncode, stdout, stderr, problem)

    def _is_program(self, path: str) -> bool:
        try:
            place = self.place(path)
            return os.path.isfile(place) and os.access(place, os.X_OK)
        except (OSError, ValueError):
            return False

    def place(self, path: str) -> str:
        """The path under which a path of the machine is opened here: the same, unless a subclass moves its root."""
        return path


def group_names(text: str) -> dict[int, str]:
    """Names of groups by number, from the text of /etc/group; the first of several names counts."""
    names: dict[int, str] = {}
    for line in text.splitlines():
        fields = line.split(":")
        number = integer_of(fields[2], below=1 << 32) if len(fields) >= 3 else None
        if number is not None:
            names.setdefault(number, fields[0])
    return names


def _drain(stream: IO[bytes], content: bytearray) -> None:
    """Read to the end, and keep the first READ_BYTES_MAX bytes."""
    with suppress(OSError, ValueError):
        while chunk := os.read(stream.fileno(), _CHUNK_BYTES):
            content += chunk[: READ_BYTES_MAX - len(content)]
