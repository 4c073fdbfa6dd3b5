"""Bytes that are read where they are needed: of a file, of a part of one, and of what a part unpacks to.

Libraries with code objects have gigabytes; what is looked at are headers, and the one code object that somebody wants.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from typing import Protocol

from wavewright.base.compression import PackedError, unpacked_pieces
from wavewright.base.files import open_regular

#: A packed source of at most this size is unpacked whole and cached until the next; of a larger one, only what is read.
KEPT_BYTES = 256 << 20
_CHUNK_BYTES = 1 << 18


class ByteSource(Protocol):
    """Some bytes; `size` is how many there are, or are claimed to be."""

    @property
    def size(self) -> int:
        """Number of bytes."""

    def read_at(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes from `offset` on; fewer where the source ends.

        Raises `OSError` when the file cannot be read; `PackedError` when they cannot be unpacked.
        """


class MemoryBytes:
    """Bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read_at(self, offset: int, size: int) -> bytes:
        """See `ByteSource`."""
        return self._data[offset : offset + size]


class FileBytes:
    """A regular file. It is not mapped: a mapped file that is cut while it is read ends the process."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with open_regular(path) as stream:
            self._descriptor = os.dup(stream.fileno())
        self.size = os.fstat(self._descriptor).st_size
        weakref.finalize(self, os.close, self._descriptor)

    def read_at(self, offset: int, size: int) -> bytes:
        """See `ByteSource`."""
        pieces = []
        byte_count = min(size, self.size - offset)
        while byte_count > 0 and (piece := os.pread(self._descriptor, byte_count, offset)):
            pieces.append(piece)
            offset, byte_count = offset + len(piece), byte_count - len(piece)
        return b"".join(pieces)


class Part:
    """A part of a source; what it claims and the source does not have is not part of it."""

    def __init__(self, source: ByteSource, offset: int, size: int) -> None:
        self.source, self.offset = source, min(offset, source.size)
        self.size = max(0, min(size, source.size - self.offset))

    def read_at(self, offset: int, size: int) -> bytes:
        """See `ByteSource`."""
        return self.source.read_at(self.offset + offset, max(0, min(size, self.size - offset)))


class Shelf:
    """Cache of one unpacked source: reading all of its parts one after the other unpacks it once."""

    def __init__(self) -> None:
        self._owner: Unpacked | None = None
        self._data = b""

    def bytes_of(self, source: Unpacked) -> bytes:
        """All bytes of a source."""
        if self._owner is not source:
            self._owner, self._data = None, b""
            self._data = source.unpacked()
            self._owner = source
        return self._data


class Unpacked:
    """The unpacked bytes of a packed part: `size` of them, as it claims; more or fewer are an error."""

    def __init__(self, source: ByteSource, packing: str, size: int, shelf: Shelf) -> None:
        self.packed, self.packing, self.size = source, packing, size
        self._shelf = shelf

    def head(self, size: int) -> bytes:
        """The first bytes, without unpacking more than them; fewer where it ends."""
        return self._between(0, size)

    def read_at(self, offset: int, size: int) -> bytes:
        """See `ByteSource`."""
        if self.size <= KEPT_BYTES:
            return self._shelf.bytes_of(self)[offset : offset + size]
        piece = self._between(offset, min(size, self.size - offset))
        if len(piece) < min(size, self.size - offset):
            raise PackedError(f"the {self.packing} data end before the {self.size:,} bytes that they claim to hold")
        return piece

    def unpacked(self) -> bytes:
        """All of it. Raises `PackedError` when it is damaged, or more or less than it claims."""
        data = self._between(0, self.size + 1)
        if len(data) != self.size:
            amount = f"more than {self.size:,}" if len(data) > self.size else f"{len(data):,} of {self.size:,}"
            raise PackedError(f"the {self.packing} data hold {amount} bytes that they claim")
        return data

    def _between(self, offset: int, size: int) -> bytes:
        pieces = []
        at, end = 0, offset + size
        for piece in unpacked_pieces(self._chunks(), self.packing, only_first=True):
            if at + len(piece) > offset:
                pieces.append(piece[max(0, offset - at) : end - at])
            at += len(piece)
            if at >= end:
                break
        return b"".join(pieces)

    def _chunks(self) -> Iterator[bytes]:
        for at in range(0, self.packed.size, _CHUNK_BYTES):
            yield self.packed.read_at(at, _CHUNK_BYTES)
