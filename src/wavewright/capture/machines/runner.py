"""How programs are run: as the leader of a process group of their own, watched, stopped gently, and cleared away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long a program may take, and how much it may say."""

    seconds: float = 900.0  #: Then it is told to stop.
    grace_seconds: float = 120.0  #: From SIGINT, at which the profiler writes its data, to SIGTERM; then SIGKILL.
    output_bytes: int = 64 << 20  #: Kept of what it prints, per stream; the rest is counted and dropped.


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a program ended."""

    status: int | None  #: Exit status, negative for a signal; None = it could not be started.
    seconds: float
    stopped: str = ""  #: Why we stopped it: timeout, or interrupted; empty = it ended by itself.
    problem: str = ""  #: Why it could not be started; else empty.
    dropped_bytes: int = 0  #: Of its output, beyond the limit.
    left_behind: int = 0  #: Processes of its group that outlived it and had to be killed.


class Runner(Protocol):
    """Runs programs on one machine."""

    def folder(self, local: Path) -> str:
        """The folder of that machine in which a program leaves what will end up in `local`; it is created."""
        ...

    def run(
        self,
        words: Sequence[str],
        *,
        variables: Mapping[str, str],
        cwd: str,
        stdout: Path,
        stderr: Path,
        limits: Limits,
        each_second: Callable[[float], None] = lambda seconds: None,
    ) -> Ending:
        """Run a program with exactly these variables to its end; nothing of its group is left running.

        What it prints goes into the local files `stdout` and `stderr`. `each_second` is called about once a second.
        """
        ...

    def bring(self, local: Path) -> None:
        """Bring what programs left in `folder(local)` into `local`, checked by hash; what is there already stays.

        Raises
        ------
        WavewrightError
            When the connection is lost; calling it again goes on where it stopped.
        """
        ...

    def write(self, local: Path, name: str, content: bytes) -> str:
        """Write a small file that a program needs into `folder(local)`; `name` may hold folders. Its path there."""
        ...

    def ending(self, local: Path) -> Ending | None:
        """How the last program of `folder(local)` ended whose connection was lost meanwhile; None = unknown."""
        ...

    def clear(self, mark: str) -> int:
        """End what is left of a run whose taker was killed, by its variable WAVEWRIGHT_JOB; how many processes."""
        ...
