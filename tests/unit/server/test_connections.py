"""Half requests, slow ones and garbage: one sentence and an end; the page stays there for others."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from tests.unit.server.conftest import Client
from wavewright.model.document import Library
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.server.running_server import Limits, RunningServer, limited, listen

NEVER = 3600.0
HALF = b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
WHOLE = b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
Serve = Callable[..., Client]


@pytest.fixture
def serve(built_page: Path, tmp_path: Path) -> Iterator[Serve]:
    """A server with limits of its own."""
    with ExitStack() as ending:

        def make(**limits: float) -> Client:
            library = Library()
            library.add("trace", str(tmp_path), lambda: ThreadTrace({}, TraceSource(path="nothing")))
            chosen = Limits(**({"header_seconds": NEVER, "body_seconds": NEVER} | limits))  # type: ignore[arg-type]
            serving = RunningServer(library, built_page, listen(), limits=chosen)
            ending.callback(serving.stop)
            return Client(serving)

        yield make


def _connected(client: Client, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", client.serving.port))
    connection.sendall(sent)
    return connection


def _all(connection: socket.socket) -> bytes:
    """What comes until the server closes the connection; it may do so while something of ours is unread."""
    received = b""
    with connection, suppress(ConnectionResetError):
        while piece := connection.recv(4096):
            received += piece
    return received


TARGETS = (
    b"OPTIONS * HTTP/1.1", b"GET * HTTP/1.1", b"GET x HTTP/1.1", b"CONNECT 127.0.0.1:80 HTTP/1.1",
    b"GET http://127.0.0.1/x HTTP/1.1", b"GET ?a HTTP/1.1", b"GET %2F HTTP/1.1", b"BREW /x HTTP/1.1",
    b"GET /%ff%00 HTTP/1.1", b"GET // HTTP/1.1", b"GET / HTTP/9.9", b"GET", b"\x00\xff\xfe", b"GET /\xff HTTP/1.1",
)  # fmt: skip


@pytest.mark.some_cases(5)
@pytest.mark.parametrize("line", TARGETS)
def test_odd_targets_get_a_sentence(serve: Serve, line: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    client = serve()
    reply = _all(_connected(client, line + b"\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"))
    assert reply.split()[1][:1] == b"4", reply
    body = reply.partition(b"\r\n\r\n")[2]
    assert body.strip().endswith((b".", b"}"))
    assert b"content-security-policy" in reply.lower()
    assert client.ask("").status == 200
    assert "Traceback" not in capfd.readouterr().err


def test_garbage_behind_a_request_ends_the_connection(serve: Serve, capfd: pytest.CaptureFixture[str]) -> None:
    client = serve()
    sent = f"GET {client.root} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n\x00\x00 \r\n\r\n".encode()
    assert _all(_connected(client, sent)).startswith(b"HTTP/1.1 ")
    assert client.ask("").status == 200
    assert "Traceback" not in capfd.readouterr().err


def test_who_sends_nothing_is_told(serve: Serve) -> None:
    reply = _all(_connected(serve(header_seconds=0.01), b""))
    assert reply.startswith(b"HTTP/1.1 408 ")
    assert reply.endswith(b"did not arrive in time.\n")


def _in_own_thread(check: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Where no other event loop can be running, as that of a browser is in the thread of the tests."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, check()).result()


class Clock:
    """An event loop whose timers go off when a test says so."""

    def __init__(self) -> None:
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.create_task = asyncio.get_running_loop().create_task

    def call_later(self, seconds: float, function: Callable[..., None], *args: object) -> SimpleNamespace:
        entry = (seconds, partial(function, *args))
        self.timers.append(entry)
        return SimpleNamespace(cancel=lambda: self.timers.remove(entry) if entry in self.timers else None)

    def go_off(self, seconds: float) -> None:
        """The only timer of that length."""
        (found,) = [entry for entry in self.timers if entry[0] == seconds]
        self.timers.remove(found)
        found[1]()


class Wire:
    """The server's end of a connection."""

    def __init__(self) -> None:
        self.sent = b""
        self.is_closed = False
        self.close = partial(setattr, self, "is_closed", True)
        self.pause_reading = self.resume_reading = lambda: None

    def get_extra_info(self, name: str) -> object:
        return ("127.0.0.1", 1) if name in ("sockname", "peername") else None

    def write(self, data: bytes) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return self.is_closed


async def _answer(_: Any, __: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


class Lines:
    """Connections of one server, with a clock that a test moves."""

    def __init__(self, limits: Limits) -> None:
        self.protocol = limited(limits)
        self.config = uvicorn.Config(_answer, http=self.protocol, ws="none", log_config=None, log_level="error")
        self.state = ServerState()

    def connect(self) -> tuple[Any, Clock, Wire]:
        clock, wire = Clock(), Wire()
        made: Any = self.protocol(self.config, self.state, {}, clock)  # type: ignore[arg-type]
        made.connection_made(wire)
        return made, clock, wire


LIMITS = Limits(header_seconds=11, body_seconds=33, half_requests=4)


@pytest.mark.parametrize("sent", [(), (b"GET",), (HALF,), (HALF, b"a", b"b")])
def test_headers_that_do_not_end_are_ended(sent: tuple[bytes, ...]) -> None:
    """However often something comes: the clock runs from the connection on."""

    async def check() -> None:
        connection, clock, wire = Lines(LIMITS).connect()
        for piece in sent:
            connection.data_received(piece)
        assert not wire.is_closed
        clock.go_off(11)
        assert wire.is_closed
        assert wire.sent.startswith(b"HTTP/1.1 408 ")

    _in_own_thread(check)


def test_a_body_that_does_not_end_is_ended() -> None:
    async def check() -> None:
        connection, clock, wire = Lines(LIMITS).connect()
        connection.data_received(b"PUT /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{")
        connection.data_received(b"{")
        assert [seconds for seconds, _ in clock.timers] == [33]
        clock.go_off(33)
        assert wire.is_closed
        assert wire.sent.startswith(b"HTTP/1.1 408 ")

    _in_own_thread(check)


def test_a_whole_request_has_all_the_time_and_the_next_one_has_limits_again() -> None:
    async def check() -> None:
        connection, clock, wire = Lines(LIMITS).connect()
        connection.data_received(WHOLE)
        assert clock.timers == []
        while not connection.cycle.response_complete:
            await asyncio.sleep(0)
        assert [seconds for seconds, _ in clock.timers] == [5]  # uvicorn's own, for connections that stay idle
        connection.data_received(HALF)
        clock.go_off(11)
        assert wire.is_closed
        assert wire.sent.count(b"HTTP/1.1 408 ") == 1

    _in_own_thread(check)


def test_the_oldest_half_request_makes_room() -> None:
    async def check() -> None:
        lines = Lines(LIMITS)
        whole, _, kept = lines.connect()
        whole.data_received(WHOLE)  # does not count any more
        half = [lines.connect() for _ in range(4)]
        assert not any(wire.is_closed for _, _, wire in half)
        lines.connect()
        assert [wire.is_closed for _, _, wire in half] == [True, False, False, False]
        assert half[0][2].sent.startswith(b"HTTP/1.1 503 ")
        half[1][0].connection_lost(None)  # leaves a place
        lines.connect()
        assert [wire.is_closed for _, _, wire in half] == [True, True, False, False]
        assert not kept.is_closed

    _in_own_thread(check)


@pytest.mark.slow  # on a loaded machine, hundreds of connections at once can take long
def test_hundreds_of_half_requests_do_not_keep_others_from_the_page(serve: Serve) -> None:
    client = serve()
    with ExitStack() as closing:
        for _ in range(300):
            closing.enter_context(_connected(client, HALF))
        assert client.ask("").status == 200
        assert client.ask("api/documents").status == 200


def test_who_is_refused_does_not_keep_a_place(serve: Serve) -> None:
    connection = _connected(serve(), b"GET /wrong/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert b"connection: close" in _all(connection).lower()
