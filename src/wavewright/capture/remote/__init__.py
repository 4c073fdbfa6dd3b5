"""Captures on other machines and in containers: only ssh, or a container engine, and a Python 3.6 there are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from wavewright.capture.remote.connection import Connection, address
from wavewright.capture.remote.machine import RemoteMachine
from wavewright.capture.remote.runner import RemoteRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Connected", "connect"]


class Connected(NamedTuple):
    """A machine and a runner at the other end of a connection; as a context it ends the connection."""

    machine: RemoteMachine
    runner: RemoteRunner

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; what still runs there is stopped as after Ctrl-C."""
        self.machine.close()


def connect(
    host: str | None = None,
    container: str | None = None,
    *,
    progress: Callable[[int, int], None] = lambda done_bytes, total_bytes: None,
    say: Callable[[str], None] = lambda sentence: None,
    variables: Mapping[str, str] | None = None,
) -> Connected:
    """A machine and a runner at the other end of a connection; it is open until it is closed, or this process ends.

    Parameters
    ----------
    host
        As for ssh: user@machine, or a name from ~/.ssh/config; None = this machine.
    container
        Name or id of a container that runs, on that host: NAME (docker, podman, apptainer are tried), or with its
        engine before it, as podman:NAME; None = none.
    progress
        Called with bytes that are here and bytes in total while data are brought.
    say
        Called with a sentence about data that stay there, because they are refused or do not fit here.
    variables
        The environment of ssh and of the container engine; None = that of this process.

    Raises
    ------
    UsageError
        When a name cannot be one, or there is neither host nor container.
    MissingToolError
        When ssh, the container engine or Python is missing.
    UnreachableError
        When there is no connection.
    """
    connection = Connection(address(host, container), variables)
    return Connected(RemoteMachine(connection), RemoteRunner(connection, progress=progress, say=say))
