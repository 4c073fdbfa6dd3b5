"""A running server: a free port of loopback, a fresh token, and a thread that answers."""

from __future__ import annotations

import errno
import logging
import secrets
import socket
import time
from asyncio import CancelledError
from pathlib import Path
from threading import Thread

import uvicorn

from wavewright.errors import UsageError, WavewrightError
from wavewright.model.document import Library
from wavewright.server.app import make_app
from wavewright.server.connections import Limits, limited
from wavewright.server.uploads import Budget, Uploads

_TOKEN_BYTES = 32
_MOST_HEADER_BYTES = 64 << 10
_MOST_REQUESTS = 256
_START_SECONDS = 30


def listen(port: int = 0) -> socket.socket:
    """A listening socket on loopback; port 0 = any free one.

    Raises
    ------
    UsageError
        When the port cannot be had.
    """
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
    """False for answers that end because the server does: they are not errors."""
    return not (record.exc_info and isinstance(record.exc_info[1], CancelledError))


class RunningServer:
    """A server in a thread of its own, from its making until `stop` or the end of the process."""

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
        """Answer until the process is interrupted, or the server has ended."""
        while self._thread.is_alive():
            self._thread.join(timeout=3600)

    def stop(self) -> None:
        """Answer no more."""
        self._server.should_exit = True
        self._thread.join(timeout=10)
        self._uploads.end()
