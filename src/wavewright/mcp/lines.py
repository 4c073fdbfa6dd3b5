"""Lines of the protocol: read from a descriptor with a limit of their length, written whole."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 1 << 20  #: Of one line: no question is longer.
_AT_ONCE = 1 << 16


def read_lines(descriptor: int, most: int = MOST_BYTES) -> Iterator[bytes | None]:
    """The lines until the end of the input; None = a line that was too long, which was skipped."""
    rest, is_skipping = b"", False
    while chunk := os.read(descriptor, _AT_ONCE):
        *whole, tail = chunk.split(b"\n")
        for piece in whole:
            line, rest = rest + piece, b""
            if is_skipping or len(line) > most:
                is_skipping = False
                yield None
            elif line.strip():
                yield line
        if not is_skipping:
            rest += tail
        if len(rest) > most:
            rest, is_skipping = b"", True
    if is_skipping:
        yield None
    elif rest.strip():
        yield rest


class Writer:
    """Writes messages to a descriptor, each on one line and whole, whichever thread has them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self.is_closed = False  #: Whether the reader is gone.

    def write(self, message: dict[str, Any]) -> None:
        """Write one message; nothing once the reader is gone."""
        content = memoryview(as_line(message))
        with self._lock:
            try:
                while content and not self.is_closed:
                    content = content[os.write(self._descriptor, content) :]
            except OSError:
                self.is_closed = True


def as_line(message: Any) -> bytes:
    """A message as a line of JSON; bytes of names that are not UTF-8 get escapes.

    Examples
    --------
    >>> as_line({"id": 1})
    b'{"id":1}\\n'
    """
    text = json.dumps(message, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        from wavewright.base.shown import ESCAPES

        return json.dumps(_shown(message), separators=(",", ":"), ensure_ascii=False).encode("utf-8", ESCAPES) + b"\n"


def _shown(value: Any) -> Any:
    from wavewright.base.shown import shown

    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {_shown(key): _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list | tuple) else value
