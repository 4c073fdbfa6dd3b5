"""Packed bytes: all of them, piece by piece, and an error in words where they end."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.together import together
from wavewright.base import compression
from wavewright.base.compression import PIECE_BYTES, PackedError, UnpackedReader, unpacked_head, unpacked_pieces
from wavewright.errors import MissingToolError

PACK: dict[str, Callable[[bytes], bytes]] = {
    "zlib": zlib.compress,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": compression.zstd_library().compress,
}


@pytest.mark.parametrize("packing", PACK)
@settings(max_examples=30, deadline=None)
@given(data=st.binary(max_size=2000), repeats=st.integers(1, 2000), chunk=st.integers(1, 70_000))
def test_what_was_packed_comes_back(packing: str, data: bytes, repeats: int, chunk: int) -> None:
    content = data * repeats
    packed = PACK[packing](content)
    chunks = [packed[at : at + chunk] for at in range(0, len(packed), chunk)]
    pieces = list(unpacked_pieces(chunks, packing))
    assert b"".join(pieces) == content
    assert all(0 < len(piece) <= PIECE_BYTES for piece in pieces)


@together("packing", PACK)
def test_an_end_that_is_missing_is_an_error(packing: str) -> None:
    packed = PACK[packing](b"0123456789" * 500)
    for end in range(len(packed)):
        with pytest.raises(PackedError, match=packing):
            list(unpacked_pieces([packed[:end]], packing))


@together("packing", ["gzip", "xz", "bzip2", "zstd"])
def test_members_one_after_another(packing: str) -> None:
    packed = PACK[packing](b"a" * 9)
    assert b"".join(unpacked_pieces([packed * 3], packing)) == b"a" * 27
    assert b"".join(unpacked_pieces([packed * 3], packing, only_first=True)) == b"a" * 9
    assert b"".join(unpacked_pieces([packed, bytes(8), bytes(8)], packing)) == b"a" * 9
    with pytest.raises(PackedError):
        list(unpacked_pieces([packed + b"something else"], packing))


def test_members_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "_MAX_MEMBERS", 100)
    with pytest.raises(PackedError, match="more than 100 zstd streams"):
        list(unpacked_pieces([PACK["zstd"](b"") * 200], "zstd"))


def test_a_window_that_would_take_a_gigabyte_is_refused() -> None:
    zstd = compression.zstd_library()
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 30})
    packed = compressor.compress(b"a") + compressor.flush()
    with pytest.raises(PackedError, match="too much memory"):
        list(unpacked_pieces([packed], "zstd"))


def test_a_stream_and_a_head() -> None:
    content = bytes(range(256)) * 20_000
    stream = io.BufferedReader(UnpackedReader(io.BytesIO(PACK["zstd"](content)), "zstd"))
    assert stream.read(1000) == content[:1000]
    assert stream.read() == content[1000:]
    assert unpacked_head(PACK["zstd"](content)[:-7], "zstd", 99) == content[:99]
    assert unpacked_head(b"\x28\xb5\x2f\xfdgarbage", "zstd", 99) == b""


def test_without_a_library_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("backports.zstd", "compression.zstd", "compression"):
        monkeypatch.setitem(sys.modules, name, None)
    import backports

    monkeypatch.delattr(backports, "zstd", raising=False)
    with pytest.raises(MissingToolError, match=r"pip install backports\.zstd"):
        list(unpacked_pieces([b""], "zstd"))
