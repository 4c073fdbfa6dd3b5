"""Two ways to talk to `wavewright mcp`: line by line, as no client would, and with the official client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

Given = TypeVar("Given")
ENVIRONMENT = {"WAVEWRIGHT_CACHE": "", "WAVEWRIGHT_CONFIG": "", "POLARS_MAX_THREADS": "1"}


class Talk:
    """A server in a process of its own, and its standard streams."""

    def __init__(self, *roots: Path, environment: dict[str, str] | None = None) -> None:
        options = [word for root in roots for word in ("--root", str(root))]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wavewright", "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **ENVIRONMENT, **(environment or {})},
        )
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, params: dict[str, Any] | None = None, key: int | str | None = None) -> int | str:
        self._count += 1
        key = self._count if key is None else key
        message = {"jsonrpc": "2.0", "id": key, "method": method, "params": params or {}}
        self.send(json.dumps(message).encode())
        return key

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server ended"
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to a request, which is the next message."""
        key = self.request(method, params)
        message = self.receive()
        assert message["id"] == key
        return message

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call."""
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def end(self) -> tuple[bytes, bytes]:
        """What is left after the input has ended."""
        return self.process.communicate()


def parameters(*roots: Path) -> StdioServerParameters:
    options = [word for root in roots for word in ("--root", str(root))]
    return StdioServerParameters(
        command=sys.executable, args=["-m", "wavewright", "mcp", *options], env={**os.environ, **ENVIRONMENT}
    )


class Asking(Protocol):
    """Does something with a client that is connected, and gives what that gives."""

    def __call__(self, work: Callable[[Client], Awaitable[Given]]) -> Given: ...


@contextmanager
def connected(root: Path, mode: str = "auto") -> Iterator[Asking]:
    """The official client, connected to a server about `root`.

    It has a thread of its own, where no other event loop is, as that of a browser in the main one.
    """
    client = Client(parameters(root), mode=mode)  # type: ignore[arg-type]
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client) as ready:
        yield lambda work: portal.call(work, ready)


def with_client(root: Path, work: Callable[[Client], Awaitable[Given]], mode: str = "auto") -> Given:
    """What `work` gives, with a client that nobody else asks."""
    with connected(root, mode) as ask:
        return ask(work)


def fields_of(result: CallToolResult) -> dict[str, Any]:
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text
