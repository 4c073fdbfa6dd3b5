"""Text files of runs as bytes: plain or gzip, never more than a bound."""

from __future__ import annotations

import gzip
import os
import zlib
from typing import TYPE_CHECKING, BinaryIO

from wavescope.base.files import open_regular
from wavescope.errors import NotATraceError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

GZIP = b"\x1f\x8b"
SQLITE = b"SQLite format 3\0"
MAX_BYTES = 1 << 33  #: Of one file, unpacked.
_PIECE = 1 << 20


def text_bytes(file: Path, limit: int | None = None) -> bytes:
    """The content of a file, unpacked where it is a gzip file (of any number of members).

    Raises
    ------
    UsageError
        When it cannot be read.
    NotATraceError
        When it is empty, a damaged gzip file, or longer than `limit` (None = `MAX_BYTES`) bytes.
    """
    return _content(file, MAX_BYTES if limit is None else limit, is_json=False)


def json_text(file: Path) -> bytes:
    """The same of a file of JSON: reading stops at the first byte of zeros, which no JSON has.

    A file system that ran full, or a copy that was cut, leaves gigabytes of them.

    Raises
    ------
    UsageError
        When it cannot be read.
    NotATraceError
        When it is empty, a damaged gzip file, too long, or has such a byte.
    """
    return _content(file, MAX_BYTES, is_json=True)


def _content(file: Path, limit: int, *, is_json: bool) -> bytes:
    try:
        with open_regular(file) as stream:
            is_packed = stream.read(len(GZIP)) == GZIP
            if os.fstat(stream.fileno()).st_size > limit:
                raise _too_long(file, limit)
            stream.seek(0)
            if is_json and not is_packed:
                _refuse_zeros(stream, file)
            data = _unpacked(stream, file, limit, is_json=is_json) if is_packed else stream.read()
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(file)) from error
    if not data or data.isspace():
        raise NotATraceError("this file is empty", where=str(file), advice="record again")
    return data


def _refuse_zeros(stream: BinaryIO, file: Path) -> None:
    """Look through a file before it is held in memory; what was read is then in the cache of the system."""
    offset = 0
    while piece := stream.read(_PIECE):
        if 0 in piece:
            raise _zeros(file, offset + piece.index(0))
        offset += len(piece)
    stream.seek(0)


def _zeros(file: Path, offset: int) -> NotATraceError:
    what = f"not JSON from byte {offset:,} on, where zeros start: it was not written or copied whole"
    return NotATraceError(what, where=str(file), advice="copy it again, or record again")


def head_of(head: bytes, limit: int = 1 << 16) -> bytes:
    """The start of a gzip file's content from the start of the file; other bytes as they are.

    Examples
    --------
    >>> head_of(b"plain")
    b'plain'
    """
    if not head.startswith(GZIP):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, limit)
    except zlib.error:
        return b""


def _unpacked(stream: BinaryIO, file: Path, limit: int, *, is_json: bool) -> bytes:
    pieces: list[bytes] = []
    length = 0
    try:
        with gzip.open(stream) as packed:
            while piece := packed.read(_PIECE):
                if is_json and 0 in piece:
                    raise _zeros(file, length + piece.index(0))
                pieces.append(piece)
                length += len(piece)
                if length > limit:
                    raise _too_long(file, limit)
    except (EOFError, OSError, zlib.error) as error:
        raise _damaged(file) from error
    return b"".join(pieces)


def _damaged(file: Path) -> NotATraceError:
    what = "a damaged gzip file"
    return NotATraceError(what, where=str(file), advice="copy it again")


def _too_long(file: Path, limit: int) -> NotATraceError:
    what = f"more than {limit / (1 << 30):.0f} GiB of text"
    return NotATraceError(what, where=str(file), advice="record a shorter run, or a ROCpd database (-f rocpd)")
