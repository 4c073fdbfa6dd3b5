"""Text files of runs as bytes: plain or packed, never more than a bound."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from wavewright.base.compression import PackedError, packing_of, unpacked_head, unpacked_stream
from wavewright.base.files import open_regular
from wavewright.errors import NotATraceError, UsageError

SQLITE = b"SQLite format 3\0"
MAX_BYTES = 1 << 33  #: Of one file, unpacked.
SMALL_BYTES = 256 << 20  #: Up to this much is unpacked however well it was packed; beyond it the ratio counts.
MAX_RATIO = 200  #: Unpacked to packed bytes; JSON of a long loop reaches about 60.
_PIECE = 1 << 20
_MAGIC_BYTES = 8
#: What decoding of hostile JSON raises.
UNREADABLE_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
T = TypeVar("T")


def text_bytes(file: Path, limit: int | None = None, *, is_json: bool = False) -> bytes:
    """The content of a file, unpacked where it is packed (gzip, Zstandard, xz or bzip2, of any number of members).

    No JSON has a zero byte, but a full disk or a cut copy leaves gigabytes of them: with `is_json`, reading stops at
    the first. Raises `UsageError` when the file cannot be read; `NotATraceError` when it is empty, damaged where it is
    packed, longer than `limit` (None = `MAX_BYTES`) bytes, or JSON with such a byte.
    """
    limit = MAX_BYTES if limit is None else limit
    try:
        with open_regular(file) as stream:
            packing = packing_of(stream.read(_MAGIC_BYTES))
            if os.fstat(stream.fileno()).st_size > limit:
                raise _too_long(file, limit)
            stream.seek(0)
            if is_json and not packing:
                _refuse_zeros(stream, file)
            data = _unpacked(stream, file, limit, packing, is_json=is_json) if packing else stream.read()
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(file)) from error
    if not data or data.isspace():
        raise NotATraceError("this file is empty", where=str(file), advice="record again")
    return data


def json_of(
    file: Path,
    kind: type[T],
    *,
    problem: str = "not JSON that can be read",
    advice: str = "check that the copy is complete",
) -> T:
    """The content of a file of JSON as a type.

    Raises `UsageError` when it cannot be read; `NotATraceError` when it is not that: `problem` and `advice` say so.
    """
    try:
        return msgspec.json.decode(text_bytes(file, is_json=True), type=kind)
    except UNREADABLE_JSON as error:
        raise NotATraceError(f"{problem} ({str(error)[:200]})", where=str(file), advice=advice) from error


def records_of(records: Sequence[msgspec.Raw], kind: type[T]) -> list[T]:
    """The records that are of a type, decoded together where all are."""
    with suppress(*UNREADABLE_JSON):
        return msgspec.json.decode(b"[" + b",".join(records) + b"]", type=list[kind])  # type: ignore[valid-type]
    sound = []
    for record in records:
        with suppress(*UNREADABLE_JSON):
            sound.append(msgspec.json.decode(record, type=kind))
    return sound


def most_unpacked(packed_bytes: int, limit: int) -> int:
    """Bytes that this number of packed ones may unpack to, at most `limit`."""
    return min(limit, max(SMALL_BYTES, MAX_RATIO * packed_bytes))


def _refuse_zeros(stream: BinaryIO, file: Path) -> None:
    """Look through a file before it is held in memory; what was read is then in the cache of the system."""
    offset = 0
    while piece := stream.read(_PIECE):
        if 0 in piece:
            raise _zeros(file, offset + piece.index(0))
        offset += len(piece)
    stream.seek(0)


def _zeros(file: Path, offset: int) -> NotATraceError:
    problem = f"not JSON from byte {offset:,} on, where zeros start: it was not written or copied whole"
    return NotATraceError(problem, where=str(file), advice="copy it again, or record again")


def head_of(head: bytes, limit: int = 1 << 16) -> bytes:
    """The start of a packed file's content from the start of the file; other bytes as they are.

    >>> head_of(b"plain")
    b'plain'
    """
    packing = packing_of(head)
    return unpacked_head(head, packing, limit) if packing else head


def _unpacked(stream: BinaryIO, file: Path, limit: int, packing: str, *, is_json: bool) -> bytes:
    limit = most_unpacked(os.fstat(stream.fileno()).st_size, limit)
    content = bytearray()
    try:
        for piece in unpacked_stream(stream, packing):
            if is_json and 0 in piece:
                raise _zeros(file, len(content) + piece.index(0))
            content += piece
            if len(content) > limit:
                raise _too_long(file, limit)
    except (PackedError, OSError) as error:
        raise NotATraceError(f"a damaged {packing} file", where=str(file), advice="copy it again") from error
    return bytes(content)


def _too_long(file: Path, limit: int) -> NotATraceError:
    problem = f"more than {limit >> 20:,} MiB of text"
    return NotATraceError(problem, where=str(file), advice="record a shorter run, or a ROCpd database (-f rocpd)")
