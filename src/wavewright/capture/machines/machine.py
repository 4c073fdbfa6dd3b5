"""A machine as a capture sees it: its files, variables and short commands. Nothing here changes anything on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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


class Machine(Protocol):
    """Everything that is asked about a machine, here or at the other end of a connection.

    Paths are absolute and those of the machine. A question about something that does not exist has an answer; only a
    lost connection is an error.
    """

    @property
    def name(self) -> str:
        """What messages call it: empty for this machine, else the host or container."""
        ...

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment in which programs would be started."""
        ...

    @property
    def identity(self) -> Identity:
        """Who runs here, and on what."""
        ...

    def read(self, path: str) -> bytes | None:
        """The first READ_BYTES_MAX bytes of a file; None = it cannot be read."""
        ...

    def text(self, path: str) -> str | None:
        """The same as text, without white space at both ends; bytes that are not UTF-8 are replaced."""
        ...

    def names(self, folder: str) -> tuple[str, ...]:
        """Sorted names of the entries of a folder; empty when it cannot be read."""
        ...

    def facts(self, path: str) -> FileFacts | None:
        """None = there is nothing, or it may not be seen."""
        ...

    def real_path(self, path: str) -> str:
        """The path with all links followed."""
        ...

    def refusal(self, path: str) -> str:
        """Why the file cannot be opened for reading and writing: the name of the error, as EACCES; empty = it can."""
        ...

    def free_bytes(self, path: str) -> int | None:
        """Free bytes of the file system of a path, or of its nearest parent that exists; None = unknown."""
        ...

    def program(self, name: str) -> str | None:
        """Absolute path of a program on PATH, or of a path to one; None = there is none."""
        ...

    def run(self, words: Sequence[str], *, seconds: float, variables: Mapping[str, str] | None = None) -> Completed:
        """Run a short command that changes nothing; it is killed, with all its children, after `seconds`.

        `variables` are set in addition to those of the machine.
        """
        ...

    def prefetch(self, patterns: Iterable[str]) -> None:
        """Say which files will be asked for (glob patterns), so that a distant machine sends them at once."""
        ...
