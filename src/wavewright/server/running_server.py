"""The running server: a loopback port, a new token, a thread that answers, and limits for slow clients."""

from __future__ import annotations

import asyncio
import errno
import logging
import secrets
import socket
import time
from asyncio import CancelledError
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from wavewright.errors import UsageError, WavewrightError
from wavewright.model.document import Library
from wavewright.server.app import make_app
from wavewright.server.guard import HEADERS
from wavewright.server.uploads import Budget, Uploads

_TOKEN_BYTES = 32
_MOST_HEADER_BYTES = 64 << 10
_MOST_REQUESTS = 256  #: At the same time; others are refused (503).
_START_SECONDS = 30  #: Time limit for the start of the server.


def listen(port: int = 0) -> socket.socket:
    """A listening socket on loopback; port 0 = any free one. Raises `UsageError` when the port cannot be had."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            problem = f"port {port} is in use"
        elif error.errno == errno.EACCES:
            problem = f"port {port} is not ours to use"
        else:
            problem = f"cannot listen on port {port}: {error.strerror}"
        raise UsageError(problem, advice="leave --port out: any free port is taken then") from error


def _is_no_cancellation(record: logging.LogRecord) -> bool:
    """False for requests that are cancelled because the server stops: they are not errors."""
    return not (record.exc_info and isinstance(record.exc_info[1], CancelledError))


class RunningServer:
    """A server in its own thread, which runs until `stop` or the end of the process."""

    def __init__(
        self,
        library: Library,
        page: Path,
        listener: socket.socket,
        *,
        limits: Limits | None = None,
        uploads: Budget | None = None,
    ) -> None:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self.library = library
        self._uploads = Uploads(uploads, on_removal=library.close_below)
        self.port: int = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/{token}/"
        config = uvicorn.Config(
            make_app(library, token, page, self._uploads),
            http=limited(limits or Limits()),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,  # the address holds the token
            server_header=False,
            proxy_headers=False,
            h11_max_incomplete_event_size=_MOST_HEADER_BYTES,
            limit_concurrency=_MOST_REQUESTS,
            timeout_graceful_shutdown=1,
        )
        logging.getLogger("uvicorn.error").addFilter(_is_no_cancellation)
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
        self._await()

    def _await(self) -> None:
        end = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > end:
                raise WavewrightError("the server did not start")
            time.sleep(0.002)

    def wait(self) -> None:
        """Wait until the process is interrupted, or the server has ended."""
        while self._thread.is_alive():
            self._thread.join(timeout=3600)

    def stop(self) -> None:
        """Stop the server and remove the uploads."""
        self._server.should_exit = True
        self._thread.join(timeout=10)
        self._uploads.end()


_TOO_SLOW = (408, "Request Timeout", "The request did not arrive in time.")
_CROWDED = (503, "Service Unavailable", "There are too many unfinished requests.")
_GARBAGE = (400, "Bad Request", "This is not a request that this server understands.")


class Limits(NamedTuple):
    """Limits of connections with incomplete requests, which would keep other clients from the page."""

    header_seconds: float = 10  #: From the connection, or the first byte of a later request, to the end of its headers.
    body_seconds: float = 30  #: From there to the end of its body.
    half_requests: int = 64  #: Connections with an incomplete request; when there are more, the oldest is closed.


def limited(limits: Limits) -> type[H11Protocol]:
    """The HTTP protocol with limits for its connections."""
    unfinished: dict[Limited, None] = {}  # the oldest first

    class Limited(H11Protocol):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._timer: asyncio.TimerHandle | None = None
            self._phase = ""  # "header" or "body": the part that is not complete; empty = no request has begun

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._enter("header")

        def connection_lost(self, exc: Exception | None) -> None:
            self._enter("")
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._phase == "":  # the first byte of a later request
                self._enter("header")
            super().data_received(data)
            self._update_phase()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._update_phase()

        def send_400_response(self, msg: str) -> None:
            self._end(*_GARBAGE)

        def _update_phase(self) -> None:
            """Enter the phase of the current request."""
            if self.transport.is_closing():
                self._enter("")
            elif self.conn.their_state is h11.SEND_BODY:
                self._enter("body")
            elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
                self._enter("header")
            elif self.conn.their_state is not h11.IDLE or self.cycle is not None:
                self._enter("")  # complete, or none has begun: uvicorn itself closes idle connections

        def _enter(self, phase: str) -> None:
            if phase == self._phase:
                return
            self._phase = phase
            if self._timer:
                self._timer.cancel()
                self._timer = None
            if not phase:
                unfinished.pop(self, None)
                return
            seconds = limits.header_seconds if phase == "header" else limits.body_seconds
            self._timer = self.loop.call_later(seconds, self._end, *_TOO_SLOW)
            unfinished[self] = None
            if len(unfinished) > limits.half_requests:
                next(iter(unfinished))._end(*_CROWDED)

        def _end(self, status: int, reason: str, sentence: str) -> None:
            """Send an error, unless a response was started already, and close the connection."""
            self._enter("")
            if self.transport.is_closing():
                return
            if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
                headers = {
                    **HEADERS,
                    "content-type": "text/plain; charset=utf-8",
                    "content-length": str(len(sentence) + 1),
                    "connection": "close",
                }
                lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
                self.transport.write("\r\n".join([*lines, "", sentence + "\n"]).encode("ascii"))
            self.transport.close()

    return Limited
