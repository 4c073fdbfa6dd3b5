"""Captures on other machines and in containers: only ssh, or a container engine, and a Python 3.6 there are needed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from wavescope.capture.remote.connection import Connection, address
from wavescope.capture.remote.machine import RemoteMachine
from wavescope.capture.remote.runner import RemoteRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wavescope.capture.machine import Machine

__all__ = ["connect"]


@contextmanager
def connect(
    host: str | None = None,
    container: str | None = None,
    *,
    progress: Callable[[int, int], None] = lambda done_bytes, total_bytes: None,
    variables: Mapping[str, str] | None = None,
) -> Iterator[tuple[Machine, RemoteRunner]]:
    """A machine and a runner at the other end of a connection, for as long as the block runs.

    Parameters
    ----------
    host
        As for ssh: user@machine, or a name from ~/.ssh/config; None = this machine.
    container
        Name or id of a container that runs, on that host: NAME (docker, podman, apptainer are tried), or with its
        engine before it, as podman:NAME; None = none.
    progress
        Called with bytes that are here and bytes in total while data are brought.
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
    with Connection(address(host, container), variables) as connection:
        machine = RemoteMachine(connection)
        runner = RemoteRunner(connection, progress=progress)
        yield machine, runner
        runner.close()
