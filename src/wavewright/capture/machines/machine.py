"""This machine, or a folder that stands for one: its files, variables and short commands. Nothing here changes it."""

# Paths are texts, those of the machine; names of files need not be UTF-8.
# ruff: noqa: PTH100, PTH113, PTH114, PTH115, PTH116, PTH120, PTH208
from __future__ import annotations

import errno
import os
import platform
import selectors
import signal
import stat
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING

from wavewright.base import stopping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_CHUNK_BYTES = 1 << 16
_LINKS_MAX = 40  #: As the kernel's: more links in one path are a loop.
_POLL_SECONDS = 0.05  #: How long output of children is waited for after the program itself has ended.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_READ_WRITE = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


#: Most bytes that are read of one file, and kept of what a command prints.
READ_BYTES_MAX = 4 << 20


@dataclass(frozen=True)
class FileFacts:
    """What the file system says about a path, links followed."""

    kind: str  #: file, folder, device (a character device) or other.
    mode: int  #: Permission bits.
    uid: int
    gid: int
    size_bytes: int
    modified_ns: int


@dataclass(frozen=True)
class Completed:
    """How a short command ended."""

    status: int | None  #: Exit status, negative for a signal; None = it did not start or did not end in time.
    stdout: str
    stderr: str
    problem: str = ""  #: Why there is no status; else empty.


@dataclass(frozen=True)
class Identity:
    """Who runs here, and on what."""

    hostname: str
    system: str  #: As `uname -s`: Linux.
    kernel: str  #: As `uname -r`.
    processor: str  #: As `uname -m`.
    uid: int
    gids: tuple[int, ...]  #: All groups of the process, the effective one included.
    group_names: Mapping[int, str]  #: Names of those groups that have one on the machine, by number.
    python: str  #: Version of the Python that looks.


class Machine:
    """Answers about the machine on which this program runs.

    Parameters
    ----------
    root
        Folder that is taken for `/`, links with absolute targets included. Programs are those below it; what they do
        themselves is not confined.
    variables
        The environment; None = that of this process, or none at all with another root.
    identity
        Who runs here; None = this process, with names of groups from `etc/group` below another root.
    name
        What messages call it; empty = this machine.
    """

    def __init__(
        self,
        root: str = "/",
        variables: Mapping[str, str] | None = None,
        identity: Identity | None = None,
        *,
        name: str = "",
    ) -> None:
        self._root = os.path.realpath(root)
        self._is_here = self._root == "/"
        self._variables = dict(os.environ if variables is None and self._is_here else variables or {})
        self._identity = identity
        self._name = name

    @property
    def name(self) -> str:
        """What messages call it: empty for this machine."""
        return self._name

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment in which programs would be started."""
        return self._variables

    @cached_property
    def identity(self) -> Identity:
        """Who runs here, and on what."""
        return self._identity or self._this_process()

    def read(self, path: str) -> bytes | None:
        """The first READ_BYTES_MAX bytes of a file; None = it cannot be read, or is a device or a pipe."""
        try:
            descriptor = os.open(self._place(path), _READ)
        except (OSError, ValueError):
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            content = bytearray()
            while len(content) < READ_BYTES_MAX:
                chunk = os.read(descriptor, min(_CHUNK_BYTES, READ_BYTES_MAX - len(content)))
                if not chunk:
                    break
                content += chunk
            return bytes(content)
        except OSError:  # files of sysfs and proc may refuse to be read after they were opened
            return None
        finally:
            os.close(descriptor)

    def text(self, path: str) -> str | None:
        """The same as text, without white space at both ends; bytes that are not UTF-8 are replaced."""
        content = self.read(path)
        return None if content is None else content.decode("utf-8", "replace").strip()

    def names(self, folder: str) -> tuple[str, ...]:
        """Sorted names of the entries of a folder; empty when it cannot be read."""
        try:
            return tuple(sorted(os.listdir(self._place(folder))))
        except (OSError, ValueError):
            return ()

    def facts(self, path: str) -> FileFacts | None:
        """None = there is nothing, or it may not be seen."""
        try:
            status = os.stat(self._place(path))
        except (OSError, ValueError):
            return None
        mode = status.st_mode
        kinds = (("file", stat.S_ISREG), ("folder", stat.S_ISDIR), ("device", stat.S_ISCHR))
        kind = next((kind for kind, is_kind in kinds if is_kind(mode)), "other")
        return FileFacts(
            kind=kind,
            mode=stat.S_IMODE(mode),
            uid=status.st_uid,
            gid=status.st_gid,
            size_bytes=status.st_size,
            modified_ns=status.st_mtime_ns,
        )

    def real_path(self, path: str) -> str:
        """The path with all links followed."""
        if self._is_here:
            with suppress(OSError, ValueError):
                return os.path.realpath(path)
            return path
        with suppress(OSError, ValueError):
            return self._followed(path)
        return path

    def refusal(self, path: str) -> str:
        """Why the file cannot be opened for reading and writing: the name of the error, as EACCES; empty = it can."""
        try:
            os.close(os.open(self._place(path), _READ_WRITE))
        except OSError as error:
            return errno.errorcode.get(error.errno or 0, "EIO")
        except ValueError:  # a NUL in the path
            return "EINVAL"
        return ""

    def free_bytes(self, path: str) -> int | None:
        """Free bytes of the file system of a path, or of its nearest parent that exists; None = unknown."""
        try:
            place = self._place(path)
            while True:
                try:
                    system = os.statvfs(place)
                except FileNotFoundError:
                    if place in ("/", ""):
                        return None
                    place = os.path.dirname(place)
                else:
                    return system.f_bavail * system.f_frsize
        except (OSError, ValueError):
            return None

    def program(self, name: str) -> str | None:
        """Absolute path of a program on PATH, or of a path to one; None = there is none."""
        if "/" in name:
            return self._absolute(name) if self._is_program(name) else None
        for folder in self._variables.get("PATH", _DEFAULT_PATH).split(":"):
            path = f"{folder.rstrip('/')}/{name}"
            if folder.startswith("/") and name and self._is_program(path):
                return path
        return None

    def run(self, words: Sequence[str], *, seconds: float, variables: Mapping[str, str] | None = None) -> Completed:
        """Run a short command that changes nothing; it is killed, with all its children, after `seconds`."""
        path = self.program(words[0]) if words else None
        if path is None:
            return Completed(None, "", "", f"there is no program {words[0] if words else ''!r}")
        environment = {**self._variables, **(variables or {})}
        try:
            with stopping.unstopped():
                process = subprocess.Popen(
                    [self._place(path), *words[1:]],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=environment,
                    cwd=self._root,  # a folder of ours may hold programs and modules of others
                    start_new_session=True,  # so that its children can be ended with it
                )
                forget = stopping.add(process.kill)
        except (OSError, ValueError) as error:
            return Completed(None, "", "", f"cannot be started: {getattr(error, 'strerror', None) or error}")
        try:
            stdout, stderr, is_late = _output_of(process, seconds)
        finally:
            _end(process)
            forget()
        problem = f"no end after {seconds:g} s" if is_late else ""
        return Completed(None if is_late else process.returncode, stdout, stderr, problem)

    def _absolute(self, path: str) -> str:
        return os.path.abspath(path) if self._is_here else os.path.normpath(f"/{path.lstrip('/')}")

    def _is_program(self, path: str) -> bool:
        try:
            place = self._place(path)
            return os.path.isfile(place) and os.access(place, os.X_OK)
        except (OSError, ValueError):
            return False

    def _place(self, path: str) -> str:
        """Where a path of the machine really is."""
        if self._is_here:
            return path
        return self._root + self._followed(path)

    def _followed(self, path: str) -> str:
        """The path with all links followed as if the root were `/`."""
        rest = path.split("/")[::-1]
        parts: list[str] = []
        links = 0
        while rest:
            part = rest.pop()
            if part in ("", "."):
                continue
            if part == "..":
                del parts[-1:]
                continue
            place = "/".join((self._root, *parts, part))
            if os.path.islink(place):
                links += 1
                if links > _LINKS_MAX:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                target = os.readlink(place)
                if target.startswith("/"):
                    parts.clear()
                rest.extend(target.split("/")[::-1])
            else:
                parts.append(part)
        return "/" + "/".join(parts)

    def _this_process(self) -> Identity:
        system = os.uname()
        gids = tuple(sorted({*os.getgroups(), os.getegid()}))
        names = group_names(self.text("/etc/group") or "")
        if self._is_here:
            names |= _names_here(gids)
        return Identity(
            hostname=system.nodename,
            system=system.sysname,
            kernel=system.release,
            processor=system.machine,
            uid=os.geteuid(),
            gids=gids,
            group_names={gid: names[gid] for gid in gids if gid in names},
            python=platform.python_version(),
        )


def group_names(text: str) -> dict[int, str]:
    """Names of groups by number, from the text of /etc/group; the first of several names counts.

    Examples
    --------
    >>> group_names("root:x:0:\\nrender:x:109:user\\nbroken")
    {0: 'root', 109: 'render'}
    """
    names: dict[int, str] = {}
    for line in text.splitlines():
        fields = line.split(":")
        if len(fields) >= 3 and fields[2].isascii() and fields[2].isdigit() and len(fields[2]) < 11:
            names.setdefault(int(fields[2]), fields[0])
    return names


def _names_here(gids: Iterable[int]) -> dict[int, str]:
    """Names of groups that this system knows, also from directories such as LDAP."""
    import grp

    names: dict[int, str] = {}
    for gid in gids:
        with suppress(KeyError):
            names[gid] = grp.getgrgid(gid).gr_name
    return names


def _output_of(process: subprocess.Popen[bytes], seconds: float) -> tuple[str, str, bool]:
    """What a program prints within `seconds`, of each stream at most READ_BYTES_MAX, and whether it took longer."""
    assert process.stdout and process.stderr  # noqa: S101 - both are pipes
    printed: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    end = time.monotonic() + seconds
    is_late = False
    with selectors.DefaultSelector() as selector:
        for stream, content in printed.items():
            selector.register(stream, selectors.EVENT_READ, content)
        while selector.get_map():
            has_ended = process.poll() is not None
            ready = selector.select(_POLL_SECONDS if has_ended else max(0.0, min(1.0, end - time.monotonic())))
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK_BYTES)
                if not chunk:
                    selector.unregister(key.fileobj)
                content = key.data
                content += chunk[: READ_BYTES_MAX - len(content)]
            if not ready and has_ended:  # children that outlive it keep the pipes open
                break
            if time.monotonic() >= end:
                is_late = True
                break
    if not is_late:
        try:
            process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            is_late = True
    stdout, stderr = (bytes(content).decode("utf-8", "replace") for content in printed.values())
    return stdout, stderr, is_late


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and its children."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()
    process.wait()
