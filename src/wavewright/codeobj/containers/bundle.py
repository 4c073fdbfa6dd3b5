"""Clang's offload bundles: `__CLANG_OFFLOAD_BUNDLE__`, and packed `CCOB` in versions 1 to 3.

A bundle is a table of entries and their contents. A packed one is a header and a bundle in zlib or Zstandard. Layouts:
clang/lib/Driver/OffloadBundler.cpp and llvm/lib/Object/OffloadBundle.cpp of LLVM 22.
"""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from wavewright.codeobj.containers.byte_sources import ByteSource, Part, Shelf, Unpacked

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
PACKED_MAGIC = b"CCOB"
MAX_ENTRIES = 256  #: Of one bundle; ROCm's libraries have up to 20.
MAX_ID_BYTES = 4096
MAX_UNPACKED_BYTES = 16 << 30  #: What a packed bundle may claim to hold; it is unpacked in pieces.
SMALL_BYTES = 256 << 20  #: Up to this much may be claimed however little it was packed to.
MAX_RATIO = 200  #: Unpacked to packed bytes beyond that; the same code for 20 GPUs reaches about 40.
_COUNT = struct.Struct("<24xQ")
_ENTRY = struct.Struct("<QQQ")  # offset, size, length of the id that follows
_MAX_TABLE_BYTES = _COUNT.size + MAX_ENTRIES * (_ENTRY.size + 256)
#: Version -> what follows magic, version and method: total size (from 2 on), unpacked size, hash.
_PACKED = {1: struct.Struct("<4xHHIQ"), 2: struct.Struct("<4xHHIIQ"), 3: struct.Struct("<4xHHQQQ")}
_PACKINGS = {0: "zlib", 1: "zstd"}  # llvm::compression::Format
_PROCESSOR = re.compile(r"(gfx[0-9a-f]+(?:-[0-9a-f]+)*(?:-generic)?)((?::[a-z]+[+-])*)$")


class BundleError(ValueError):
    """A bundle that cannot be read, in words."""


class Entry(NamedTuple):
    """One entry of a bundle: where it lies in it, and what it is called."""

    id: str
    offset: int
    size: int

    @property
    def is_device(self) -> bool:
        """True if the entry is for an AMD GPU and not empty."""
        return self.size > 0 and ("amdgcn" in self.id or "-amd-amdhsa" in self.id)


class PackedBundle(NamedTuple):
    """A packed bundle: `content` unpacks when it is read; `size` is all of it with its header, None = not said."""

    content: Unpacked
    size: int | None


def target_in(entry_id: str) -> tuple[str, str]:
    """The GPU that an entry's id names, and its settings.

    >>> target_in("hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-")
    ('gfx942', ':sramecc+:xnack-')
    >>> target_in("hip-amdgcn-amd-amdhsa-gfx906"), target_in("host-x86_64-unknown-linux--")
    (('gfx906', ''), ('', ''))
    """
    match = _PROCESSOR.search(entry_id)
    return (match[1], match[2]) if match else ("", "")


def read_entries(source: ByteSource) -> tuple[list[Entry], list[str]]:
    """The entries of the bundle that a source starts with, and sentences about what it claims and does not have.

    Raises `BundleError` when not even the first entry can be read.
    """
    table = source.head(_MAX_TABLE_BYTES) if isinstance(source, Unpacked) else source.read_at(0, _MAX_TABLE_BYTES)
    if not table.startswith(MAGIC) or len(table) < _COUNT.size:
        raise BundleError("it does not hold a bundle" if table[: len(MAGIC)] != MAGIC else "the bundle ends early")
    (count,) = _COUNT.unpack_from(table)
    entries: list[Entry] = []
    problems: list[str] = []
    at = _COUNT.size
    while len(entries) < count:
        if len(entries) == MAX_ENTRIES or at + _ENTRY.size > len(table):
            problems.append(f"the bundle claims {count:,} entries, {len(entries):,} were read")
            break
        offset, size, id_size = _ENTRY.unpack_from(table, at)
        at += _ENTRY.size
        if id_size > min(MAX_ID_BYTES, len(table) - at):
            problems.append(f"the bundle claims {count:,} entries, the name of number {len(entries) + 1:,} is cut")
            break
        entries.append(Entry(table[at : at + id_size].decode("utf-8", "replace"), offset, size))
        at += id_size
    if count and not entries:
        raise BundleError(problems[0])
    return _apart(entries, at, source.size, problems), problems


def _apart(entries: list[Entry], table_end: int, size: int, problems: list[str]) -> list[Entry]:
    """The entries that have bytes of their own, in the order of the table; ends that are missing are cut off."""
    separate = []
    end = table_end
    for entry in sorted((entry for entry in entries if entry.size), key=lambda entry: (entry.offset, entry.size)):
        if entry.offset >= size:
            problems.append(f"{entry.id:.100} starts at {entry.offset:,}, after the end ({size:,} bytes)")
        elif entry.offset < end:
            problems.append(f"{entry.id:.100} overlaps what is before it, at {entry.offset:,}")
        else:
            there = min(entry.size, size - entry.offset)
            if there < entry.size:
                problems.append(f"{entry.id:.100} claims {entry.size:,} bytes, {there:,} are there")
            separate.append(entry._replace(size=there))
            end = entry.offset + there
    places = {entry.id: number for number, entry in enumerate(entries)}
    return sorted(separate, key=lambda entry: places[entry.id])


def read_packed(source: ByteSource, shelf: Shelf) -> PackedBundle:
    """The packed bundle that a source starts with; nothing is unpacked yet.

    Raises `BundleError` when it is of an unknown version or packing, or claims sizes that cannot be.
    """
    head = source.read_at(0, 32)
    version = int.from_bytes(head[4:6], "little")
    layout = _PACKED.get(version)
    if layout is None:
        raise BundleError(f"a packed bundle of version {version}, which is not known here")
    if len(head) < layout.size:
        raise BundleError("a packed bundle that ends inside its header")
    _, method, *sizes, _ = layout.unpack_from(head)
    total, unpacked_size = sizes if len(sizes) == 2 else (None, sizes[0])
    packing = _PACKINGS.get(method)
    if packing is None:
        raise BundleError(f"a bundle packed with method {method}, which is not known here")
    if total is not None and not layout.size <= total <= source.size:
        raise BundleError(f"a packed bundle claims {total:,} bytes, {source.size:,} are there")
    payload = Part(source, layout.size, (total or source.size) - layout.size)
    limit = min(MAX_UNPACKED_BYTES, max(SMALL_BYTES, MAX_RATIO * payload.size))
    if unpacked_size > limit:
        raise BundleError(f"{payload.size:,} packed bytes claim to hold {unpacked_size:,}, more than is unpacked")
    return PackedBundle(Unpacked(payload, packing, unpacked_size, shelf), total)
