"""The ELF container: bounded, tolerant, and without trust in any size, count or offset the file claims.

Hand-assembled objects (tinygrad writes some) leave EI_DATA, e_machine and e_shentsize zero; those fields are
therefore not required. All AMDGPU objects are 64-bit little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from wavewright.base.compression import PackedError, unpacked_pieces
from wavewright.errors import MissingToolError, NotATraceError, UnsupportedError

EM_AMDGPU = 224
_ELFCLASS64, _ELFDATA2MSB = 2, 2
MACHINE_NAMES = {3: "x86", 40: "Arm", 62: "x86-64", 183: "AArch64", 190: "CUDA", 243: "RISC-V"}

SHT_SYMTAB, SHT_STRTAB, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM = 2, 3, 7, 8, 11
SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED = 0x2, 0x4, 0x800
PT_LOAD, PT_NOTE, PF_X = 1, 4, 1
_PACKINGS = {1: "zlib", 2: "zstd"}  # ELFCOMPRESS_*
ELF_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
ELF_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_COMPRESSION = struct.Struct("<IIQQ")
_NOTE = struct.Struct("<III")
_MAX_SECTIONS = 1 << 16
_MAX_NAME_BYTES = 1 << 14  # of one symbol; template kernels reach several thousand
_MAX_INFLATED_BYTES = 1 << 28  # of one compressed section


class Section(NamedTuple):
    """One section; `offset` and `size` always lie inside the file (size 0 where it has no bytes there)."""

    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int

    @property
    def executable(self) -> bool:
        """True if the section holds code."""
        return bool(self.flags & SHF_EXECINSTR) and self.size > 0


class Symbol(NamedTuple):
    """One symbol: `type` is STT_*, `section` its section's index (0 = not defined here)."""

    name: str
    type: int
    section: int
    address: int
    size: int


@dataclass(frozen=True)
class ElfFile:
    """Header and sections of an ELF file. `problems` are sentences about what it claims and does not have."""

    data: bytes
    machine: int
    flags: int
    sections: tuple[Section, ...]
    note_ranges: tuple[tuple[int, int], ...]
    problems: tuple[str, ...]

    def bytes_of(self, section: Section) -> tuple[bytes, str]:
        """Contents of a section, inflated where it is compressed, and a sentence about what is missing."""
        raw = self.data[section.offset : section.offset + section.size]
        if not section.flags & SHF_COMPRESSED:
            return raw, ""
        return _inflate(section.name, raw)

    def symbols(self) -> tuple[list[Symbol], str]:
        """Symbols of the full table, or of the dynamic one where the file was stripped, and what is missing."""
        tables = [section for section in self.sections if section.size >= _SYMBOL.size]
        for section_type in (SHT_SYMTAB, SHT_DYNSYM):
            for table in (section for section in tables if section.type == section_type):
                return _read_symbols(self, table)
        return [], ""

    def notes(self) -> Iterator[tuple[str, int, bytes]]:
        """Owner, type and contents of every note."""
        for offset, size in self.note_ranges:
            yield from _read_notes(self.data[offset : offset + size])

    def section_named(self, name: str) -> Section | None:
        """First section of that name."""
        return next((section for section in self.sections if section.name == name), None)


def parse_elf(data: bytes, where: str = "") -> ElfFile:
    """Read the headers of an ELF file.

    Raises `NotATraceError`: the bytes are not ELF; `UnsupportedError`: an ELF file for another processor, or not 64-bit
    little-endian.
    """
    if data[:4] != b"\x7fELF":
        begins = f"it starts with {data[:4].hex()}" if data else "it is empty"
        problem = f"not an ELF code object ({begins})"
        raise NotATraceError(problem, where=where, advice="give a .out, .co or .hsaco file")
    if len(data) < ELF_HEADER.size:
        problem = f"the file ends inside the ELF header: {len(data)} bytes"
        raise NotATraceError(problem, where=where, advice="copy the code object again")
    if data[4] != _ELFCLASS64 or data[5] == _ELFDATA2MSB:
        problem = "an ELF file, but not 64-bit little-endian as AMDGPU code objects are"
        raise UnsupportedError(problem, where=where, advice="give the code object of the GPU, not of the host")
    _, machine, _, _, phoff, shoff, flags, _, _, phnum, _, shnum, shstrndx = ELF_HEADER.unpack_from(data)
    if machine not in (0, EM_AMDGPU):
        problem = f"an ELF file for {MACHINE_NAMES.get(machine, f'machine {machine}')}, not for an AMD GPU"
        raise UnsupportedError(problem, where=where, advice="give the code object of the GPU")
    problems: list[str] = []
    sections = _read_sections(data, shoff, shnum, shstrndx, problems)
    segments = list(_read_segments(data, phoff, phnum))
    if not any(section.executable for section in sections):
        sections += _code_segments(data, segments)
    notes = [(s.offset, s.size) for s in sections if s.type == SHT_NOTE]
    if not notes:
        notes = [_clip(data, offset, size) for type_, _, offset, _, size in segments if type_ == PT_NOTE]
    return ElfFile(data, machine, flags, tuple(sections), tuple(without_overlap(notes)), tuple(problems))


def without_overlap(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """(Start, size) ranges by start, each cut where the one before it reaches; no byte is in two of them.

    >>> without_overlap([(10, 4), (0, 6), (4, 8)])
    [(0, 6), (6, 6), (12, 2)]
    """
    parts = []
    last_end = 0
    for start, size in sorted(ranges):
        begin, end = max(start, last_end), start + size
        if end > begin:
            parts.append((begin, end - begin))
            last_end = end
    return parts


def _clip(data: bytes, offset: int, size: int) -> tuple[int, int]:
    """The part of a claimed range that the file has."""
    start = min(offset, len(data))
    return start, min(size, len(data) - start)


def _read_sections(data: bytes, shoff: int, shnum: int, shstrndx: int, problems: list[str]) -> list[Section]:
    if shoff == 0 or shoff + ELF_SECTION.size > len(data):
        if shoff:
            problems.append(f"section headers at offset {shoff:,} are past the end of the file ({len(data):,} bytes)")
        return []
    first = ELF_SECTION.unpack_from(data, shoff)
    count = shnum or first[5]  # more than 65,279 sections: the count is in section 0 (ELF gABI, "sh_size")
    present = min((len(data) - shoff) // ELF_SECTION.size, _MAX_SECTIONS)
    if count > present:
        problems.append(f"{count:,} section headers claimed, {present:,} are there")
    end = shoff + min(count, present) * ELF_SECTION.size
    raw = list(ELF_SECTION.iter_unpack(data[shoff:end]))
    names_index = first[6] if shstrndx == 0xFFFF else shstrndx
    names = b""
    if names_index < len(raw):
        offset, size = _clip(data, raw[names_index][4], raw[names_index][5])
        names = data[offset : offset + size]
    sections = []
    for name, type_, flags, address, offset, claimed, link, _, _, _ in raw:
        start, size = _clip(data, offset, 0 if type_ == SHT_NOBITS else claimed)
        title = string_at(names, name)
        if size < claimed and type_ not in (0, SHT_NOBITS):
            problems.append(f"section {title or '?'} claims {claimed:,} bytes, the file has {size:,} of them")
        sections.append(Section(title, type_, flags, address, start, size, link))
    return sections


def _read_segments(data: bytes, phoff: int, phnum: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Type, flags, offset, address and file size of every program header that the file has."""
    if phoff == 0:
        return
    for index in range(phnum):
        at = phoff + index * _SEGMENT.size
        if at + _SEGMENT.size > len(data):
            return
        type_, flags, offset, address, _, size, _, _ = _SEGMENT.unpack_from(data, at)
        yield type_, flags, offset, address, size


def _code_segments(data: bytes, segments: list[tuple[int, int, int, int, int]]) -> list[Section]:
    """Executable segments as sections, for files that were stripped of their section headers."""
    return [
        Section(".text", 1, SHF_ALLOC | SHF_EXECINSTR, address, *_clip(data, offset, size), 0)
        for type_, flags, offset, address, size in segments
        if type_ == PT_LOAD and flags & PF_X
    ]


def string_at(table: bytes, offset: int, limit: int = 256) -> str:
    """The text that starts at an offset of a table of strings and ends with a zero."""
    end = table.find(b"\0", offset, offset + limit)
    return table[offset : end if end >= 0 else offset + limit].decode("utf-8", "replace")


def _read_symbols(elf: ElfFile, section: Section) -> tuple[list[Symbol], str]:
    names = b""
    if section.link < len(elf.sections):
        names, _ = elf.bytes_of(elf.sections[section.link])
    # Names overlap in the table when tails are shared; a hostile table makes every name run to the end of it.
    budget = 4 * len(names) + (1 << 20)
    table, problem = elf.bytes_of(section)
    symbols: list[Symbol] = []
    for name, info, _, index, address, size in _SYMBOL.iter_unpack(table[: len(table) // _SYMBOL.size * _SYMBOL.size]):
        if index == 0:
            continue
        text = string_at(names, name, _MAX_NAME_BYTES)
        budget -= len(text)
        if budget < 0:
            return symbols, f"symbol names overlap beyond measure; {len(symbols):,} symbols were read"
        symbols.append(Symbol(text, info & 15, index, address, size))
    return symbols, problem


def _read_notes(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    at = 0
    while at + _NOTE.size <= len(data):
        name_size, size, type_ = _NOTE.unpack_from(data, at)
        name_at = at + _NOTE.size
        contents_at = name_at + (name_size + 3 & ~3)
        yield (
            data[name_at : name_at + min(name_size, 256)].rstrip(b"\0").decode("ascii", "replace"),
            type_,
            data[contents_at : contents_at + size],
        )
        at = contents_at + (size + 3 & ~3)


def _inflate(name: str, raw: bytes) -> tuple[bytes, str]:
    if len(raw) < _COMPRESSION.size:
        return b"", f"section {name} is compressed, but too short for its header"
    kind, _, size, _ = _COMPRESSION.unpack_from(raw)
    packing = _PACKINGS.get(kind)
    if packing is None:
        return b"", f"section {name} is compressed in a way (type {kind}) that is not read here"
    if not 0 < size <= _MAX_INFLATED_BYTES:
        return b"", f"section {name} claims {size:,} bytes when decompressed, outside the limits"
    pieces: list[bytes] = []
    length = 0
    try:
        for piece in unpacked_pieces([raw[_COMPRESSION.size :]], packing, only_first=True):
            pieces.append(piece)
            length += len(piece)
            if length >= size:
                break
    except (PackedError, MissingToolError) as error:
        return b"".join(pieces), f"section {name} cannot be decompressed: {error}"
    problem = f"section {name} has {length:,} of {size:,} bytes" if length < size else ""
    return b"".join(pieces)[:size], problem
