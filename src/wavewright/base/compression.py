"""Packed bytes, unpacked piece by piece within bounds: zlib, gzip, xz, bzip2 and Zstandard.

The size that a file declares is never trusted: output comes in pieces of at most `PIECE_BYTES`, and callers that
collect them stop at a limit of their own. Only the window of Zstandard is allocated as a frame declares it, up to
`MAX_WINDOW_LOG`.
"""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from wavewright.errors import MissingToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from _typeshed import WriteableBuffer

PIECE_BYTES = 1 << 20  #: Unpacked bytes that are held at once, besides what the caller collects.
#: Largest window of a Zstandard frame, as a power of two: the default of `zstd -d`; clang writes no larger ones.
MAX_WINDOW_LOG = 27
MAX_XZ_BYTES = 1 << 28  #: Memory that xz may use; `xz -9` needs 65 MB.

ZSTD_MAGIC, XZ_MAGIC, GZIP_MAGIC, BZIP2_MAGIC = b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"\x1f\x8b", b"BZh"
#: How the names of packed files end.
PACKED_SUFFIXES = (".zst", ".xz", ".gz", ".bz2")
_MAGIC_BYTES = 8
_BY_MAGIC = {ZSTD_MAGIC: "zstd", XZ_MAGIC: "xz", GZIP_MAGIC: "gzip", BZIP2_MAGIC: "bzip2"}
#: Members or frames of one file: 16 GiB in blocks of 64 KiB, the size that bgzip writes.
_MAX_MEMBERS = 1 << 18
_CHUNK_BYTES = 1 << 16  # small, because bytes behind the end of a member are copied


class PackedError(ValueError):
    """Packed bytes are damaged or end early; the message says which."""


class _Decompressor(Protocol):
    """Interface that `lzma`, `bz2` and `compression.zstd` have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def packing_of(head: bytes) -> str:
    """Name of the packing of a file that starts with `head`; empty = not packed, or in an unknown way.

    >>> packing_of(b"\\x28\\xb5\\x2f\\xfd"), packing_of(b"BZh9"), packing_of(b"{}")
    ('zstd', 'bzip2', '')
    """
    return next((packing for magic, packing in _BY_MAGIC.items() if head.startswith(magic)), "")


def without_packing(name: str) -> str:
    """The name of a file without the suffix of its packing.

    >>> without_packing("7_results.db.zst"), without_packing("7_results.db")
    ('7_results.db', '7_results.db')
    """
    return next((name.removesuffix(end) for end in PACKED_SUFFIXES if name.endswith(end)), name)


def zstd_library() -> Any:
    """The module `compression.zstd` of Python 3.14, or `backports.zstd`, which is the same for Pythons before.

    Raises `MissingToolError` when there is neither.
    """
    try:
        from compression import zstd  # type: ignore[import-not-found]
    except ImportError:
        try:
            from backports import zstd
        except ImportError as error:
            problem = "Zstandard data needs the package backports.zstd"
            raise MissingToolError(problem, advice="pip install backports.zstd") from error
    return zstd


def unpacked_pieces(chunks: Iterable[bytes], packing: str, *, only_first: bool = False) -> Iterator[bytes]:
    """Unpack chunks of a packed stream: pieces of at most `PIECE_BYTES`, none of them empty.

    Files of several members (gzip, xz, bzip2) or frames (Zstandard) one after another are unpacked to the end, or with
    `only_first` to the end of the first; what follows it is not looked at. Raises `PackedError` when the bytes are
    damaged or end early; what came before was yielded; `MissingToolError` when there is no library for Zstandard.

    >>> import bz2
    >>> b"".join(unpacked_pieces([bz2.compress(b"a" * 9)], "bzip2"))
    b'aaaaaaaaa'
    """
    begin, errors = _decompressors(packing)
    decompressor, is_begun, member_count = begin(), False, 0
    for chunk in chunks:
        remainder = chunk
        while remainder or (is_begun and not decompressor.needs_input):
            if member_count and not is_begun and not remainder.strip(b"\0"):
                break  # gzip and xz files may be filled up with zeros
            try:
                piece = decompressor.decompress(remainder, PIECE_BYTES)
            except errors as error:
                raise PackedError(f"the {packing} data are damaged ({_in_words(error)})") from error
            if not piece and not remainder and not decompressor.eof:
                break  # this chunk gives no more output
            is_begun, remainder = True, b""
            if decompressor.eof:
                remainder = decompressor.unused_data
                decompressor, is_begun, member_count = begin(), False, member_count + 1
            if piece:
                yield piece
            if member_count and only_first:
                return
            if member_count > _MAX_MEMBERS:
                raise PackedError(f"more than {_MAX_MEMBERS:,} {packing} streams one after another")
    if is_begun or not member_count:
        raise PackedError(f"the {packing} data end early")


def unpacked_stream(stream: BinaryIO, packing: str) -> Iterator[bytes]:
    """Unpack a file from where it stands; see `unpacked_pieces`."""
    return unpacked_pieces(iter(lambda: stream.read(_CHUNK_BYTES), b""), packing)


class UnpackedReader(io.RawIOBase):
    """A packed file as a stream that can only be read forwards.

    Raises `PackedError` when read, if the bytes are damaged or end early.
    """

    def __init__(self, stream: BinaryIO, packing: str) -> None:
        super().__init__()
        self._pieces = unpacked_stream(stream, packing)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill the start of `buffer`; return the number of bytes, 0 = end of the stream."""
        room = memoryview(buffer).cast("B")
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        size = min(len(room), len(self._rest))
        room[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def opened_unpacked(stream: BinaryIO) -> BinaryIO:
    """A stream of the content of a file, unpacked if its first bytes are those of a packing.

    An unpacked stream can only be read forwards; it raises `PackedError` where the data are damaged or end early.

    >>> import bz2
    >>> opened_unpacked(io.BytesIO(bz2.compress(b"text"))).read(), opened_unpacked(io.BytesIO(b"text")).read()
    (b'text', b'text')
    """
    packing = packing_of(stream.read(_MAGIC_BYTES))
    stream.seek(0)
    return cast("BinaryIO", io.BufferedReader(UnpackedReader(stream, packing))) if packing else stream


def unpacked_head(head: bytes, packing: str, limit: int) -> bytes:
    """Up to `limit` unpacked bytes of the start of a packed file; fewer where `head` ends or is damaged.

    >>> import zlib
    >>> unpacked_head(zlib.compress(b"a" * 9)[:-4], "zlib", 3)
    b'aaa'
    """
    pieces, length = [], 0
    try:
        for piece in unpacked_pieces([head], packing):
            pieces.append(piece)
            length += len(piece)
            if length >= limit:
                break
    except (PackedError, MissingToolError):
        pass
    return b"".join(pieces)[:limit]


def _decompressors(packing: str) -> tuple[Callable[[], _Decompressor], tuple[type[Exception], ...]]:
    """Factory of a decompressor, and the errors it raises on damaged data."""
    if packing == "zstd":
        zstd = zstd_library()
        options = {zstd.DecompressionParameter.window_log_max: MAX_WINDOW_LOG}
        return lambda: zstd.ZstdDecompressor(options=options), (zstd.ZstdError,)
    if packing == "xz":
        return lambda: lzma.LZMADecompressor(memlimit=MAX_XZ_BYTES), (lzma.LZMAError,)
    if packing == "bzip2":
        return bz2.BZ2Decompressor, (OSError, ValueError)
    window_bits = 15 + (16 if packing == "gzip" else 0)  # zlib's code for the largest window, and for a header of gzip
    return lambda: _Zlib(window_bits), (zlib.error,)


class _Zlib:
    """`zlib.decompressobj` with the interface of the other decompressors."""

    def __init__(self, window_bits: int) -> None:
        self._stream = zlib.decompressobj(wbits=window_bits)
        self._is_full = False

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not (self._stream.eof or self._is_full or self._stream.unconsumed_tail)

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        piece = self._stream.decompress(self._stream.unconsumed_tail + data, max(max_length, 0))
        self._is_full = len(piece) == max_length  # zlib may hold more output
        return piece


def _in_words(error: Exception) -> str:
    return str(error).removesuffix(".") or type(error).__name__
