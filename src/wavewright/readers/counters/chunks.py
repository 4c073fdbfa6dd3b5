"""A CSV file in chunks of complete lines, so that a large one is never in memory at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from wavewright.base.compression import PackedError, opened_unpacked
from wavewright.base.files import open_regular
from wavewright.errors import NotATraceError, UsageError

MAX_BYTES = 1 << 31  #: Of one file, unpacked.
_CHUNK_BYTES = 4 << 20
_MAX_LINE = 32 << 20
#: Packed once more: polars would unpack zstd and zlib itself, without a bound.
_OTHER_PACKED = (b"\x28\xb5\x2f\xfd", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")


def chunks(file: Path, size: int = _CHUNK_BYTES) -> Iterator[bytes]:
    """Chunks of about `size` bytes that end at a line end outside of quotes; the last may be cut.

    Raises
    ------
    UsageError
        When it cannot be read.
    NotATraceError
        When it is not text, damaged where it is packed, or too long.
    """
    try:
        with open_regular(file) as stream:
            yield from _cut(opened_unpacked(stream), file, size)
    except PackedError as error:
        raise NotATraceError("a damaged packed file", where=str(file), advice="copy it again") from error
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(file)) from error


def _cut(stream: BinaryIO, file: Path, size: int) -> Iterator[bytes]:
    total, partial_line = 0, b""
    while text := stream.read(size):
        if not total and (b"\0" in text[:4096] or text.startswith(_OTHER_PACKED)):
            problem = "not a table of counters"
            raise NotATraceError(problem, where=str(file), advice="give the CSV files that the profiler wrote")
        total += len(text)
        if total > MAX_BYTES:
            problem = f"more than {MAX_BYTES >> 30} GiB of CSV"
            raise NotATraceError(problem, where=str(file), advice="filter the rows of one kernel first")
        partial_line += text
        end = _last_line_end(partial_line)
        if end:
            yield partial_line[:end]
            partial_line = partial_line[end:]
        elif len(partial_line) > _MAX_LINE:
            problem = f"a line of more than {_MAX_LINE >> 20} MiB: a quote that never closes, or no table"
            raise NotATraceError(problem, where=str(file), advice="copy the file again")
    if partial_line:
        yield partial_line


def _last_line_end(text: bytes) -> int:
    """Offset of the end of the last complete line; 0 = there is none."""
    end = text.rfind(b"\n") + 1
    while end and text.count(b'"', 0, end) % 2:  # inside quotes: those that open there are the last
        end = text.rfind(b"\n", 0, text.rfind(b'"', 0, end)) + 1
    return end
