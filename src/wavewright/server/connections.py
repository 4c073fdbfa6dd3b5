"""Connections with limits: who sends half a request, or none, does not keep others from the page."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from wavewright.server.guard import HEADERS

_SLOW = (408, "Request Timeout", "The request did not arrive in time.")
_CROWDED = (503, "Service Unavailable", "There are too many unfinished requests.")
_GARBAGE = (400, "Bad Request", "This is not a request that this server understands.")


class Limits(NamedTuple):
    """Limits of a client before its request is complete."""

    header_seconds: float = 10  #: From the connection, or the first byte of a later request, to the end of its headers.
    body_seconds: float = 30  #: From there to the end of its body.
    half_requests: int = 64  #: Connections at once without a whole request; one more, and the oldest of them is closed.


def limited(limits: Limits) -> type[H11Protocol]:
    """The protocol of a server whose connections keep to limits.

    Examples
    --------
    >>> limited(Limits()).__name__
    'Limited'
    """
    unfinished: dict[Limited, None] = {}  # in the order of their age

    class Limited(H11Protocol):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._timer: asyncio.TimerHandle | None = None
            self._phase = ""

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
            self._look()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._look()

        def send_400_response(self, msg: str) -> None:
            self._end(*_GARBAGE)

        def _look(self) -> None:
            """Enter the phase that the request is in."""
            if self.transport.is_closing():
                self._enter("")
            elif self.conn.their_state is h11.SEND_BODY:
                self._enter("body")
            elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
                self._enter("header")
            elif self.conn.their_state is not h11.IDLE or self.cycle is not None:
                self._enter("")  # whole, or none has begun: uvicorn itself closes connections that stay idle

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
            self._timer = self.loop.call_later(seconds, self._end, *_SLOW)
            unfinished[self] = None
            if len(unfinished) > limits.half_requests:
                next(iter(unfinished))._end(*_CROWDED)

        def _end(self, status: int, reason: str, sentence: str) -> None:
            """Say a last sentence, unless an answer is on its way already, and close the connection."""
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
