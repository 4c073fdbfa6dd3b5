"""The code objects in a file, whatever holds them: bundles, host programs and libraries, archives, packed or not.

Looking reads headers only; a code object is read, and unpacked, when it is wanted. Everything that a file claims is
checked against what it has; what could not be read is in `EmbeddedObjects.losses`.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import replace
from pathlib import Path

from wavewright.base.compression import PackedError, packing_of, unpacked_pieces
from wavewright.codeobj.containers.bundle import MAGIC, PACKED_MAGIC, BundleError, read_entries, read_packed, target_in
from wavewright.codeobj.containers.byte_sources import ByteSource, FileBytes, MemoryBytes, Part, Shelf
from wavewright.codeobj.containers.embedded_objects import (
    BITCODE,
    EmbeddedObject,
    EmbeddedObjects,
    distinct,
    what_instead,
)
from wavewright.codeobj.containers.hosts import ARCHIVE_MAGIC, THIN_MAGIC, archive_members, host_sections
from wavewright.codeobj.elf import ELF_HEADER, ELF_SECTION, EM_AMDGPU, MACHINE_NAMES
from wavewright.codeobj.targets import TARGET_OF_MACH
from wavewright.errors import NotATraceError, UnsupportedError, UsageError
from wavewright.model.losses import Loss

MAX_OBJECTS = 1 << 16  #: Code objects of one file that are named.
MAX_OBJECT_BYTES = 1 << 30  #: Of one code object.
MAX_WHOLE_BYTES = 1 << 31  #: Of a packed file (`.hsaco.zst`), unpacked.
MAX_PROBLEMS = 32  #: Damaged places after which a file is not searched further.
MAX_MISSES = 10_000  #: Places that only look like the start of a code object.

_FATBIN, _OFFLOADING, _BUNDLED = ".hip_fatbin", ".llvm.offloading", "__CLANG_OFFLOAD_BUNDLE__"
_OFFLOAD_MAGIC = b"\x10\xff\x10\xad"
_OFFLOAD = struct.Struct("<4xIQQQ")  # version, size, offset and size of the entry (llvm/Object/OffloadBinary.h)
_OFFLOAD_ENTRY = struct.Struct("<HHIQQQQ")  # kinds, flags, strings at, how many, image at, its size
_MAX_STRINGS, _MAX_STRING_BYTES = 64, 4096
_STARTS = re.compile(b"__CLANG_OFFLOAD_BUNDLE__|CCOB[\1-\3]\0..|\x10\xff\x10\xad|\x7fELF\x02\x01", re.DOTALL)
_LONGEST_START = len(MAGIC)
_ELF64_LITTLE = b"\2\1"
_SCAN_BYTES = 1 << 20


def is_contained(head: bytes) -> bool:
    """True if a file that starts with `head` (64 bytes) contains code objects, and is not one itself."""
    if head.startswith(b"\x7fELF"):
        return head[4:6] == _ELF64_LITTLE and _machine_of(head) not in (0, EM_AMDGPU)
    return bool(_STARTS.match(head) or packing_of(head)) or head.startswith((ARCHIVE_MAGIC, THIN_MAGIC, PACKED_MAGIC))


def code_objects_in(source: str | os.PathLike[str] | bytes, *, where: str = "") -> EmbeddedObjects:
    """The code objects in a regular file, or in the bytes of one; messages call it `where` (empty = its path).

    Read are: ELF code objects of AMD GPUs; offload bundles, plain or packed (CCOB with zlib or Zstandard), one or many
    one after another; ELF executables, libraries and object files of the host with such in `.hip_fatbin`,
    `.llvm.offloading` or sections of bundled objects; `ar` archives of all these; and any of them in one gzip, xz,
    bzip2 or Zstandard file. Raises `NotATraceError` when it cannot be read, or there is no code object of an AMD GPU in
    it; `UnsupportedError` when it is a container that is not read.
    """
    place = where or ("" if isinstance(source, bytes) else os.fspath(source))
    if not isinstance(source, bytes) and not Path(source).is_file():
        raise NotATraceError("not a regular file" if Path(source).exists() else "no such file", where=place)
    try:
        return _Search(place).contents(MemoryBytes(source) if isinstance(source, bytes) else FileBytes(source))
    except OSError as error:
        raise NotATraceError(f"cannot be read: {error.strerror}", where=place) from error


class _Search:
    """One walk through a file."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.objects: list[EmbeddedObject] = []
        self.problems: list[str] = []
        self.shelf = Shelf()
        self.miss_count = 0

    def contents(self, source: ByteSource) -> EmbeddedObjects:
        head = source.read_at(0, 64)
        if packing_of(head):
            source = self._whole(source, packing_of(head))
            head = source.read_at(0, 64)
        if head.startswith(THIN_MAGIC):
            problem = "a thin archive: it names object files and does not hold them"
            raise UnsupportedError(problem, where=self.where, advice="give the object files")
        if head.startswith(ARCHIVE_MAGIC):
            for member in archive_members(source):
                if not self._is_done():
                    self._file(Part(source, member.offset, member.size), f"({member.name}): ")
        else:
            self._file(source, "")
        objects = tuple(replace(entry, number=number) for number, entry in enumerate(distinct(self.objects)))
        lead = f"{self.where}: " if self.where else ""
        losses = tuple(Loss("unreadable_code_object", detail=lead + text) for text in self.problems)
        if not objects:
            raise self._nothing(head)
        return EmbeddedObjects(self.where, objects, losses)

    def _whole(self, source: ByteSource, packing: str) -> MemoryBytes:
        """Unpack a packed file."""
        pieces, length = [], 0
        limit = min(MAX_WHOLE_BYTES, max(1 << 28, 200 * source.size))  # as `SMALL_BYTES` and `MAX_RATIO` of bundles
        try:
            chunks = (source.read_at(at, _SCAN_BYTES) for at in range(0, source.size, _SCAN_BYTES))
            for piece in unpacked_pieces(chunks, packing):
                pieces.append(piece)
                length += len(piece)
                if length > limit:
                    problem = f"unpacks to more than {limit / (1 << 20):,.0f} MiB"
                    raise UsageError(problem, where=self.where, advice="if you trust it, unpack it yourself")
        except PackedError as error:
            raise NotATraceError(f"cannot be unpacked: {error}", where=self.where, advice="copy it again") from error
        return MemoryBytes(b"".join(pieces))

    def _file(self, source: ByteSource, place: str) -> None:
        """A file that is not an archive: a code object, a file of the host, or bundles."""
        head = source.read_at(0, ELF_HEADER.size)
        if not head.startswith(b"\x7fELF"):
            if _STARTS.match(head) or head.startswith(PACKED_MAGIC):
                self._scan(source, place)
            elif head.startswith(BITCODE):
                self._problem(place, what_instead(head))
            return
        if _machine_of(head) in (0, EM_AMDGPU):
            self._add(source, place.removesuffix(": "), "")
            return
        if head[4:6] != _ELF64_LITTLE:
            self._problem(place, "an ELF file of a host that is not 64-bit little-endian")
            return
        sections = host_sections(source)
        for section in sections:
            content = Part(source, section.offset, section.size)
            if section.name.startswith((_FATBIN, _OFFLOADING)):
                self._scan(content, f"{place}{section.name}")
            elif section.name.startswith(_BUNDLED):
                entry = section.name.removeprefix(_BUNDLED)
                if "amdgcn" in entry:
                    self._add(content, f"{place}{section.name[:60]}", entry)
        if not sections:  # stripped of all headers: look everywhere
            self._scan(source, place)

    def _scan(self, source: ByteSource, place: str) -> None:
        """Bundles and code objects one after another, with or without gaps."""
        at = 0
        starts = _Starts(source)
        while not self._is_done():
            start = starts.next(at) if at or source.read_at(0, 4) != PACKED_MAGIC else 0
            if start is None:
                return
            remainder = Part(source, start, source.size)
            label = f"{place}+{start:#x}" if start or place else ""
            try:
                at = start + self._one(remainder, label)
            except (BundleError, PackedError) as error:
                self._problem(label, str(error))
                at = start + 4

    def _one(self, source: ByteSource, place: str) -> int:
        """Take the bundle or code object at the start of a source; returns the number of its bytes."""
        head = source.read_at(0, ELF_HEADER.size)
        if head.startswith(PACKED_MAGIC):
            bundle = read_packed(source, self.shelf)
            try:
                self._bundle(bundle.content, place, bundle.content.packing)
            except (BundleError, PackedError) as error:
                self._problem(place, str(error))
            return bundle.size or len(PACKED_MAGIC)
        if head.startswith(MAGIC):
            return self._bundle(source, place, "")
        if head.startswith(_OFFLOAD_MAGIC):
            return self._offload_binary(source, place)
        size = _elf_size(head, source)
        if size and _machine_of(head) == EM_AMDGPU:
            self._add(Part(source, 0, size), place, "")
            return size
        self.miss_count += 1
        if self.miss_count > MAX_MISSES:
            raise BundleError(f"more than {MAX_MISSES:,} places that look like ELF files and are none for an AMD GPU")
        return len(PACKED_MAGIC)

    def _bundle(self, source: ByteSource, place: str, packing: str) -> int:
        entries, problems = read_entries(source)
        for problem in problems:
            self._problem(place, problem)
        for entry in entries:
            if entry.is_device:
                self._add(Part(source, entry.offset, entry.size), place, entry.id, packing)
        return max((entry.offset + entry.size for entry in entries), default=len(MAGIC))

    def _offload_binary(self, source: ByteSource, place: str) -> int:
        """LLVM's own container, one image each; OpenMP and the newer driver of HIP put it into object files."""
        head = source.read_at(0, _OFFLOAD.size)
        if len(head) < _OFFLOAD.size:
            raise BundleError("an offload binary that ends inside its header")
        version, size, entry_at, _ = _OFFLOAD.unpack(head)
        raw = source.read_at(entry_at, _OFFLOAD_ENTRY.size)
        if version != 1 or len(raw) < _OFFLOAD_ENTRY.size or not _OFFLOAD.size <= size <= source.size:
            raise BundleError(f"an offload binary of version {version} that cannot be read")
        _, _, _, strings_at, count, image_at, image_size = _OFFLOAD_ENTRY.unpack(raw)
        table = source.read_at(strings_at, min(count, _MAX_STRINGS) * 16)
        offsets = [struct.unpack_from("<QQ", table, at) for at in range(0, len(table) // 16 * 16, 16)]
        strings = {_text(source, key): _text(source, value) for key, value in offsets}
        if "amdgcn" in strings.get("triple", ""):
            self._add(Part(source, image_at, image_size), place, f"{strings['triple']}--{strings.get('arch', '')}")
        return int(size)

    def _add(self, source: ByteSource, place: str, entry: str, packing: str = "") -> None:
        """A code object; what is not one, as far as can be seen without unpacking, is a problem."""
        target, settings = target_in(entry)
        if source.size > MAX_OBJECT_BYTES:
            self._problem(place, f"{entry or 'a code object'} claims {source.size:,} bytes, more than is read")
            return
        if not packing:
            head = source.read_at(0, ELF_HEADER.size)
            if not head.startswith(b"\x7fELF"):
                self._problem(place, f"{entry or 'an entry'}: {what_instead(head)}")
                return
            target = target or _target_of(head)
        if len(self.objects) == MAX_OBJECTS:
            self._problem(place, f"more than {MAX_OBJECTS:,} code objects; the others were not looked at")
            return
        self.objects.append(EmbeddedObject(0, target, settings, entry, place, source.size, packing, self.where, source))

    def _problem(self, place: str, text: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(f"{place}: {text}" if place else text)
        if len(self.problems) == MAX_PROBLEMS - 1:
            self.problems.append("the file was not searched further: too much of it is damaged")

    def _is_done(self) -> bool:
        return len(self.problems) >= MAX_PROBLEMS or self.miss_count > MAX_MISSES or len(self.objects) >= MAX_OBJECTS

    def _nothing(self, head: bytes) -> NotATraceError | UnsupportedError:
        """The error for a file without code objects."""
        if self.problems:
            return NotATraceError(self.problems[0], where=self.where, advice="copy the file again")
        if head.startswith(b"\x7fELF"):
            machine = _machine_of(head)
            name = MACHINE_NAMES.get(machine, f"machine {machine}")
            problem = f"an ELF file for {name} without code for an AMD GPU (no section {_FATBIN})"
            return UnsupportedError(problem, where=self.where, advice="give the library or object that has the kernels")
        if head.startswith((MAGIC, PACKED_MAGIC)):
            return NotATraceError("an offload bundle without code for an AMD GPU", where=self.where)
        if head.startswith(ARCHIVE_MAGIC):
            return NotATraceError("an archive without code for an AMD GPU", where=self.where)
        head_words = f"it starts with {head[:4].hex()}" if head else "it is empty"
        advice = "give a .out, .co or .hsaco file, or a program or library with such in it"
        return NotATraceError(f"no code object ({head_words})", where=self.where, advice=advice)


class _Starts:
    """Finds the starts of bundles and code objects in a source; looks at every byte once, and at skipped ones never."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._chunk, self._chunk_at = b"", 0

    def next(self, at: int) -> int | None:
        """The first start from a place on, which is behind the last one; None = there is none."""
        while at < self._source.size:
            if not self._chunk_at <= at < self._chunk_at + _SCAN_BYTES or not self._chunk:
                self._chunk, self._chunk_at = self._source.read_at(at, _SCAN_BYTES + _LONGEST_START), at
            match = _STARTS.search(self._chunk, at - self._chunk_at)
            if match and match.start() < _SCAN_BYTES:
                return self._chunk_at + match.start()
            at = self._chunk_at + _SCAN_BYTES
        return None


def _elf_size(head: bytes, source: ByteSource) -> int:
    """Size in bytes of an ELF file with its section headers at its end, as linkers write it; 0 = not said."""
    if len(head) < ELF_HEADER.size:
        return 0
    _, _, _, _, _, shoff, _, _, _, _, _, count, _ = ELF_HEADER.unpack_from(head)
    size = int(shoff + count * ELF_SECTION.size)
    return size if ELF_HEADER.size < size <= source.size else 0


def _machine_of(head: bytes) -> int:
    return int.from_bytes(head[18:20], "little")  # e_machine, which is at the same place for all classes of ELF


def _target_of(head: bytes) -> str:
    flags = ELF_HEADER.unpack_from(head)[6] if len(head) >= ELF_HEADER.size else 0  # e_flags
    return TARGET_OF_MACH.get(flags & 0xFF) or ""


def _text(source: ByteSource, offset: int) -> str:
    return source.read_at(offset, _MAX_STRING_BYTES).partition(b"\0")[0].decode("utf-8", "replace")
