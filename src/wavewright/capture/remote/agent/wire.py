"""Messages between the two ends."""
# ruff: noqa: UP006, UP035

import json
import os
import struct
import threading
import time
from contextlib import suppress
from typing import Any, Dict, Tuple

PROTOCOL = 1
REQUEST_BYTES_MAX = 16 << 20
CHUNK_BYTES_MAX = 1 << 20  # of a file, in one answer
HEADER = struct.Struct(">II")


class LostError(Exception):
    """The connection is lost, or the system wants this process to end."""


def encoded(text: str) -> bytes:
    """A name as the file system has it, whatever the locale."""
    return text.encode("utf-8", "surrogateescape")


def decoded(name: bytes) -> str:
    """A name of the file system as text."""
    return name.decode("utf-8", "surrogateescape")


class Connection:
    """Frames on standard input and output."""

    def __init__(self, source: Any, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._lock = threading.Lock()
        self.heard = time.monotonic()

    def receive(self) -> Tuple[Dict[str, Any], bytes]:
        """The next request with its bytes; raises Lost at the end of the stream."""
        head = self._exactly(HEADER.size)
        json_bytes, more_bytes = HEADER.unpack(head)
        if json_bytes + more_bytes > REQUEST_BYTES_MAX:
            raise LostError(f"a request of {json_bytes + more_bytes} bytes")
        request = json.loads(self._exactly(json_bytes).decode("utf-8"))
        return request, self._exactly(more_bytes)

    def send(self, message: Dict[str, Any], more: bytes = b"") -> None:
        """Send an answer; what cannot be sent is dropped, because `receive` notices the end."""
        text = json.dumps(message).encode("ascii")
        rest = memoryview(HEADER.pack(len(text), len(more)) + text + more)
        with self._lock, suppress(OSError):
            while rest:
                rest = rest[os.write(self._sink, rest) :]

    def _exactly(self, count: int) -> bytes:
        parts = []
        while count:
            part = self._source.read(count)
            if not part:
                raise LostError("end of the connection")
            self.heard = time.monotonic()
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
