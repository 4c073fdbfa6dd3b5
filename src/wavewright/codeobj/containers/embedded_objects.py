"""Code objects in a container: named, chosen, and read when they are wanted."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from wavewright.base.compression import PackedError
from wavewright.base.words import counted, some_of
from wavewright.codeobj.containers.byte_sources import ByteSource, Part, Unpacked
from wavewright.errors import NotATraceError, UsageError
from wavewright.model.losses import Loss

COMPARED_BYTES = 1 << 30  #: Bytes that are read or unpacked to name equal code objects once.
BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")  #: How LLVM bitcode starts.
_SPIRV = b"\x03\x02\x23\x07"
_LISTED = 24  #: Code objects that an error names.


@dataclass(frozen=True)
class EmbeddedObject:
    """One code object of a file. `number` counts from 0; `target` is empty where the container does not name it."""

    number: int
    target: str
    settings: str  #: As in the entry's id: ":sramecc+:xnack-".
    entry: str  #: Id of the entry in its bundle; empty outside of bundles.
    place: str  #: For people: `libx.a(y.o): .hip_fatbin+0x1000`; empty for a file that is a code object itself.
    size_bytes: int
    packing: str  #: "zlib", "zstd" or empty.
    where: str = field(repr=False)  #: What messages call the file.
    _source: ByteSource = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """Name to show: target and place in the container."""
        title = f"{self.target or 'code object'}{self.settings}"
        return f"{title} in {self.place}" if self.place else title

    def read(self) -> bytes:
        """The code object, an ELF file; unpacked now if it is packed.

        Raises `NotATraceError` when it cannot be read or unpacked, or is not an ELF file.
        """
        place = ": ".join(part for part in (self.where, self.name) if part)
        try:
            data = self._source.read_at(0, self.size_bytes)
        except OSError as error:
            raise NotATraceError(f"cannot be read: {error.strerror}", where=place) from error
        except PackedError as error:
            raise NotATraceError(f"cannot be unpacked: {error}", where=place, advice="copy the file again") from error
        if not data.startswith(b"\x7fELF"):
            raise NotATraceError(what_instead(data), where=place)
        return data

    @property
    def container(self) -> Unpacked | None:
        """The packed bundle that it is unpacked with; None = it is not packed."""
        source = self._source.source if isinstance(self._source, Part) else None
        return source if isinstance(source, Unpacked) else None

    def digest(self) -> bytes:
        """A hash of its bytes; empty where they cannot be read."""
        try:
            return hashlib.sha256(self._source.read_at(0, self.size_bytes)).digest()
        except (OSError, PackedError):
            return b""


@dataclass(frozen=True)
class EmbeddedObjects:
    """The code objects of a file, in its order, each once; and what could not be read."""

    where: str
    objects: tuple[EmbeddedObject, ...]
    losses: tuple[Loss, ...] = ()

    def of_target(self, target: str) -> tuple[EmbeddedObject, ...]:
        """Those for a GPU: `gfx942`, or with settings `gfx942:xnack-`."""
        processor, _, settings_text = target.partition(":")
        settings = {f":{setting}" for setting in settings_text.split(":") if setting}
        of_processor = (entry for entry in self.objects if entry.target == processor)
        return tuple(entry for entry in of_processor if settings <= set(re.findall(r":[^:]+", entry.settings)))

    def choose(self, target: str | None = None, number: int | None = None) -> EmbeddedObject:
        """The one code object that is meant by its number, or by its GPU, or that is the only one.

        Raises `UsageError` when there is none of that number or GPU, or when several are meant; the error lists them.
        """
        if number is not None:
            if not 0 <= number < len(self.objects):
                raise UsageError(f"no code object {number}", where=self.where, advice=self._listed())
            return self.objects[number]
        candidates = self.of_target(target) if target else self.objects
        if len(candidates) == 1:
            return candidates[0]
        of_whom = f" for {target}" if target else ""
        if not candidates:
            raise UsageError(f"no code object{of_whom}", where=self.where, advice=self._listed())
        problem = f"{counted(len(candidates), 'code objects')}{of_whom}"
        raise UsageError(problem, where=self.where, advice=self._listed(candidates))

    def _listed(self, objects: Sequence[EmbeddedObject] | None = None) -> str:
        listed_objects = self.objects if objects is None else objects
        return f"choose one of {some_of(listed_objects, _LISTED, lambda each: f'{each.number}: {each.name}')}"


def distinct(objects: Sequence[EmbeddedObject]) -> list[EmbeddedObject]:
    """The objects without those that are equal to an earlier one, byte by byte.

    Only objects of the same size and entry id are compared, and no more than `COMPARED_BYTES` are read for that.
    """
    alike = Counter(map(_likeness, objects))
    identities: set[tuple[str, bytes]] = set()
    budget = COMPARED_BYTES
    last_container: Unpacked | None = None
    different = []
    for each in objects:
        is_equal = False
        if alike[_likeness(each)] > 1 and budget > 0:
            container = each.container
            if container is None:
                budget -= each.size_bytes
            elif container is not last_container:  # it is unpacked once for neighbours, see `Shelf`
                budget -= container.size
            last_container = container
            digest = each.digest() if budget >= 0 else b""
            is_equal = bool(digest) and (each.entry, digest) in identities
            identities.add((each.entry, digest))
        if not is_equal:
            different.append(each)
    return different


def _likeness(each: EmbeddedObject) -> tuple[str, int]:
    return each.entry, each.size_bytes


def what_instead(head: bytes) -> str:
    """Describe bytes that should be a code object and are something else."""
    if head.startswith(BITCODE):
        return "LLVM bitcode, which is compiled when programs are linked, and not machine code"
    if head.startswith(_SPIRV):
        return "SPIR-V, which is compiled when it is loaded, and not machine code"
    return f"not an ELF code object (it starts with {head[:4].hex()})" if head else "it is empty"
