"""Files of the host that device code is put into: ELF executables, libraries and objects, and `ar` archives of them.

Only headers are read. No count, offset or name of a file is believed further than the file reaches.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from wavewright.codeobj.containers.byte_sources import ByteSource
from wavewright.codeobj.elf import ELF_HEADER, ELF_SECTION, SHT_NOBITS, string_at

ARCHIVE_MAGIC, THIN_MAGIC = b"!<arch>\n", b"!<thin>\n"
MAX_MEMBERS = 1 << 17  #: Of one archive.
_MAX_SECTIONS = 1 << 16
_MAX_NAMES_BYTES = 1 << 24
_MEMBER = struct.Struct("16s12s6s6s8s10s2s")


class NamedRange(NamedTuple):
    """A section of a host's file, or a file in an archive: [offset, offset + size) lies inside it."""

    name: str
    offset: int
    size: int


def host_sections(source: ByteSource) -> list[NamedRange]:
    """The sections of a 64-bit little-endian ELF file that have a name and bytes; none where it has no headers."""
    head = source.read_at(0, ELF_HEADER.size)
    if len(head) < ELF_HEADER.size:
        return []
    _, _, _, _, _, shoff, _, _, _, _, _, count, names_index = ELF_HEADER.unpack_from(head)
    first = source.read_at(shoff, ELF_SECTION.size)
    if shoff == 0 or len(first) < ELF_SECTION.size:
        return []
    if count == 0:  # more than 65,279 sections: the numbers are in section 0 (ELF gABI, "sh_size")
        count = ELF_SECTION.unpack(first)[5]
    if names_index == 0xFFFF:
        names_index = ELF_SECTION.unpack(first)[6]
    table = source.read_at(shoff, min(count, _MAX_SECTIONS) * ELF_SECTION.size)
    raw = list(ELF_SECTION.iter_unpack(table[: len(table) // ELF_SECTION.size * ELF_SECTION.size]))
    names = b""
    if names_index < len(raw):
        _, _, _, _, offset, size, *_ = raw[names_index]
        names = source.read_at(offset, min(size, _MAX_NAMES_BYTES))
    sections = []
    for name, type_, _, _, offset, size, *_ in raw:
        title = string_at(names, name)
        if title and type_ != SHT_NOBITS and offset < source.size:
            sections.append(NamedRange(title, offset, min(size, source.size - offset)))
    return sections


def archive_members(source: ByteSource) -> Iterator[NamedRange]:
    """The files of an `ar` archive, with names as GNU or BSD archivers write them; symbol tables are left out.

    Damage ends it early.
    """
    at = len(ARCHIVE_MAGIC)
    long_names = b""
    for _ in range(MAX_MEMBERS):
        header = source.read_at(at, _MEMBER.size)
        if len(header) < _MEMBER.size or not header.endswith(b"`\n"):
            return
        raw_name, _, _, _, _, raw_size, _ = _MEMBER.unpack(header)
        digits = raw_size.strip()
        if not digits.isdigit():
            return
        size, start = int(digits), at + _MEMBER.size
        name = raw_name.rstrip()
        at = start + size + (size & 1)
        size = min(size, source.size - start)
        if name == b"//":
            long_names = source.read_at(start, min(size, _MAX_NAMES_BYTES))
        elif name.startswith(b"#1/") and name[3:].isdigit():  # BSD: the name is in front of the content
            length = min(int(name[3:]), size, 4096)
            title = source.read_at(start, length).rstrip(b"\0").decode("utf-8", "replace")
            yield NamedRange(title, start + length, size - length)
        elif name not in (b"/", b"/SYM64/"):
            yield NamedRange(_title(name, long_names), start, size)


def _title(name: bytes, long_names: bytes) -> str:
    if name.startswith(b"/") and name[1:].isdigit():
        offset = int(name[1:])
        end = long_names.find(b"\n", offset, offset + 4096)
        name = long_names[offset : end if end >= 0 else offset + 4096]
    return name.removesuffix(b"/").decode("utf-8", "replace")
