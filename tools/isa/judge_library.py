"""Machine code of libraries: the code objects inside any file, and their distinct instructions.

This search knows nothing of `wavewright.codeobj`, which it may judge: it looks for the first bytes of ELF files of AMD
GPUs and of compressed bundles wherever they are.
"""

from __future__ import annotations

import struct
import subprocess
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tools.isa.judge_llvm import WINDOW_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ELF, _COMPRESSED = b"\x7fELF\x02\x01\x01\x40", b"CCOB"
#: Columns that tell instructions apart: their bytes and their size in three numbers.
KEY = ("first", "second", "third")
_KEY_BYTES = 8 * len(KEY)
_AMDGPU = 224
_EXECUTABLE_BITS = 4
_MACHINES = {
    0x2C: "gfx900",
    0x2F: "gfx906",
    0x30: "gfx908",
    0x3F: "gfx90a",
    0x4C: "gfx942",
    0x4F: "gfx950",
    0x33: "gfx1010",
    0x34: "gfx1011",
    0x35: "gfx1012",
    0x36: "gfx1030",
    0x37: "gfx1031",
    0x41: "gfx1100",
    0x46: "gfx1101",
    0x47: "gfx1102",
    0x44: "gfx1103",
    0x43: "gfx1150",
    0x4A: "gfx1151",
    0x48: "gfx1200",
    0x4E: "gfx1201",
    0x49: "gfx1250",
    0x5A: "gfx1251",
}


@dataclass(frozen=True)
class Text:
    """An executable section of a code object."""

    target: str
    code: bytes


def texts_in(path: Path) -> Iterator[Text]:
    """All executable sections of all code objects in a file."""
    yield from _texts(path.read_bytes())


def _texts(data: bytes) -> Iterator[Text]:
    for start in _places(data, _ELF):
        yield from _sections(data, start)
    for start in _places(data, _COMPRESSED):
        unpacked = _unpacked(data, start)
        if unpacked:
            yield from _texts(unpacked)


def _places(data: bytes, magic: bytes) -> Iterator[int]:
    at = data.find(magic)
    while at >= 0:
        yield at
        at = data.find(magic, at + 1)


def _sections(data: bytes, start: int) -> Iterator[Text]:
    if len(data) - start < 64:
        return
    (machine,) = struct.unpack_from("<H", data, start + 18)
    (flags,) = struct.unpack_from("<I", data, start + 48)
    if machine != _AMDGPU or flags & 0xFF not in _MACHINES:
        return
    (table,) = struct.unpack_from("<Q", data, start + 40)
    _, count = struct.unpack_from("<HH", data, start + 58)
    for number in range(count):
        at = start + table + 64 * number
        if at + 64 > len(data):
            return
        kind, bits, _, offset, size = struct.unpack_from("<IQQQQ", data, at + 4)
        if kind == 1 and bits & _EXECUTABLE_BITS:
            yield Text(_MACHINES[flags & 0xFF], data[start + offset : start + offset + size])


def _unpacked(data: bytes, start: int) -> bytes:
    """A compressed bundle of version 1, 2 or 3 (clang's OffloadBundler)."""
    version, method = struct.unpack_from("<HH", data, start + 4)
    if version == 1:
        size, head = len(data) - start, 20
    elif version in (2, 3):
        head = 24 if version == 2 else 32
        (size,) = struct.unpack_from("<I" if version == 2 else "<Q", data, start + 8)
    else:
        return b""
    packed = data[start + head : start + size]
    try:
        if method == 0:
            return zlib.decompressobj().decompress(packed)
        return subprocess.run(["zstd", "-dcq"], input=packed, capture_output=True, check=False).stdout
    except zlib.error:
        return b""


def distinct(code: bytes, at: np.ndarray, size: np.ndarray) -> pl.DataFrame:
    """The instructions that differ in their bytes, once each: as numbers, and `at`, where the first of them is."""
    windows = np.where(np.arange(_KEY_BYTES)[None, :] < size[:, None], windows_at(code, at, _KEY_BYTES), 0)
    windows[:, -1] = size  # behind the longest instruction
    keys = np.ascontiguousarray(windows, dtype=np.uint8).view(np.uint64)
    columns = {name: keys[:, number] for number, name in enumerate(KEY)}
    return pl.DataFrame({**columns, "at": at}).unique(list(KEY), keep="first", maintain_order=True)


def windows_at(code: bytes, at: np.ndarray, window_bytes: int = WINDOW_BYTES) -> np.ndarray:
    """The bytes behind every place; zeros behind the end."""
    data = np.frombuffer(code + bytes(window_bytes), np.uint8)
    return np.lib.stride_tricks.sliding_window_view(data, window_bytes)[at]
