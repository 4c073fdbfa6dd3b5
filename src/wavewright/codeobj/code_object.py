"""A code object: what its ELF file, its metadata and its kernel descriptors say, in one place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import TypeVar

from wavewright.base.files import open_regular
from wavewright.codeobj.containers import code_objects_in, is_contained
from wavewright.codeobj.containers.embedded_objects import EmbeddedObjects
from wavewright.codeobj.descriptors import DESCRIPTOR_BYTES, Descriptor, read_descriptor
from wavewright.codeobj.elf import SHF_ALLOC, ElfFile, Symbol, parse_elf, without_overlap
from wavewright.codeobj.metadata import KernelArgument, KernelMetadata, Metadata, read_metadata
from wavewright.codeobj.targets import TARGET_OF_MACH
from wavewright.errors import NotATraceError
from wavewright.model.losses import Loss

_STT_FUNC, _STT_KERNEL = 2, 10
_DESCRIPTOR_SUFFIX = ".kd"
_HEAD_BYTES = 64  # of a file, by which its kind is known
_MAX_PROBLEMS = 8  # sentences per code object; more say nothing new
_TARGET_WORD = re.compile(r"gfx[0-9a-f]+(?:-[0-9]+)?(?:-generic)?")


@dataclass(frozen=True, order=True)
class Function:
    """A function's code: [address, address + size) in ELF addresses."""

    address: int
    size: int
    name: str

    @property
    def end(self) -> int:
        """First address behind the function."""
        return self.address + self.size


@dataclass(frozen=True)
class Kernel:
    """A kernel's code and resources. None means not known.

    `vgprs`, `agprs` and `sgprs` are registers as allocated (from the descriptor, equal to rocprofv3's counts);
    `*_used` are those that the compiler says it uses, before rounding. On targets with one vector register file
    (gfx90a and later gfx9), `vgprs_used` counts both kinds.
    """

    name: str
    address: int | None
    size: int
    vgprs: int | None = None
    agprs: int | None = None
    sgprs: int | None = None
    vgprs_used: int | None = None
    agprs_used: int | None = None
    sgprs_used: int | None = None
    vgpr_spills: int | None = None
    sgpr_spills: int | None = None
    lds_bytes: int | None = None
    scratch_bytes: int | None = None
    kernarg_bytes: int | None = None
    wave_size: int | None = None
    workgroup_size_max: int | None = None
    workgroup_size_required: tuple[int, int, int] | None = None
    dynamic_stack: bool = False
    uniform_workgroups: bool = False  #: Grids must be multiples of the workgroup size.
    arguments: tuple[KernelArgument, ...] = field(default=(), repr=False)  #: By offset; empty = not known.
    descriptor: Descriptor | None = field(default=None, repr=False)


@dataclass(frozen=True)
class CodeObject:
    """One ELF code object of a GPU. Sizes and addresses are checked against the file; what it claims and does not
    have is in `losses`.
    """

    elf: ElfFile = field(repr=False)
    where: str = ""
    target: str | None = None
    notes: tuple[str, ...] = ()  #: What is worth knowing about where it comes from.

    @classmethod
    def read(cls, path: str | PathLike[str], *, target: str | None = None) -> CodeObject:
        """Read a `.out`, `.co` or `.hsaco` file, or the code object in anything else that `code_objects_in` reads.

        `target` is the GPU to assume where the file does not name one ("gfx1100"), and to select by where there are
        several. Raises `NotATraceError`: not a regular file, not readable, or without a code object;
        `UnsupportedError`: an ELF file for another processor, or a container that is not read; `UsageError`: several
        code objects, and `target` does not select one of them.
        """
        file = Path(path)
        if not file.is_file():
            raise NotATraceError("not a regular file" if file.exists() else "no such file", where=str(file))
        try:
            with open_regular(file) as stream:
                data = stream.read(_HEAD_BYTES)
                if not is_contained(data):
                    return cls._from_elf(data + stream.read(), str(file), target)
        except OSError as error:
            raise NotATraceError(f"cannot be read: {error.strerror}", where=str(file)) from error
        return cls._from_contents(code_objects_in(file), str(file), target)

    @classmethod
    def from_bytes(cls, data: bytes, *, where: str = "", target: str | None = None) -> CodeObject:
        """The same from bytes; `where` is what messages call it."""
        if is_contained(data[:_HEAD_BYTES]):
            return cls._from_contents(code_objects_in(data, where=where), where, target)
        return cls._from_elf(data, where, target)

    @classmethod
    def _from_elf(cls, data: bytes, where: str, target: str | None, notes: tuple[str, ...] = ()) -> CodeObject:
        elf = parse_elf(data, where)
        return cls(elf, where, _target_of(elf) or target, notes)

    @classmethod
    def _from_contents(cls, contents: EmbeddedObjects, where: str, target: str | None) -> CodeObject:
        candidates = contents.of_target(target) if target else ()
        embedded_object = contents.choose(target if candidates else None)
        notes = [loss.detail.removeprefix(f"{where}: ") for loss in contents.losses]
        if len(contents.objects) > 1:
            targets = ", ".join(dict.fromkeys(entry.target for entry in contents.objects[:_MAX_PROBLEMS]))
            notes.append(f"it holds {len(contents.objects)} code objects ({targets}); that for {target} was read")
        return cls._from_elf(embedded_object.read(), where, target, tuple(notes))

    @cached_property
    def text_ranges(self) -> tuple[tuple[int, int], ...]:
        """(Address, size) of the code, by address, without overlap."""
        return tuple(without_overlap((s.address, s.size) for s in self.elf.sections if s.executable))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Functions by address; one without a size reaches to the next one or the end of its code."""
        symbols: dict[int, Symbol] = {}
        for symbol in self._symbols[0]:
            if symbol.type in (_STT_FUNC, _STT_KERNEL) and self.text_end(symbol.address) is not None:
                other = symbols.get(symbol.address)  # of several names for one address, that with the largest size
                if other is None or symbol.size > other.size:
                    symbols[symbol.address] = symbol
        for name, (_, address) in self._descriptors.items():
            if address is not None and address not in symbols:
                symbols[address] = Symbol(name, _STT_FUNC, 1, address, 0)
        addresses = sorted(symbols)
        functions = []
        for address, behind in zip_longest(addresses, addresses[1:]):
            end = self.text_end(address) or address
            size = symbols[address].size or min(end, behind or end) - address
            functions.append(Function(address, min(size, end - address), symbols[address].name))
        return tuple(functions)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """Kernels by address: what their descriptors and the compiler's metadata say."""
        metadata = self._kernel_metadata
        sizes = {function.address: function.size for function in self.functions}
        kernels = []
        for name in dict.fromkeys([*self._descriptors, *metadata]):
            descriptor, address = self._descriptors.get(name, (None, None))
            size = sizes.get(address, 0) if address is not None else 0
            kernel = _kernel(name, address, size, descriptor, metadata.get(name, KernelMetadata()))
            kernels.append(replace(kernel, arguments=self._arguments.get(name, ((), ""))[0]))
        return tuple(sorted(kernels, key=lambda kernel: (kernel.address is None, kernel.address or 0, kernel.name)))

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """Losses: contents that the file claims and does not have."""
        problems = [*self.notes, *self.elf.problems, self._symbols[1], self._metadata[1]]
        problems += [problem for _, problem in self._arguments.values()]
        if self.target is None:
            problems.append("the file does not say for which GPU it is")
        if not self.text_ranges:
            problems.append("the file contains no code")
        sentences = [problem for problem in problems if problem]
        place = f"{self.where}: " if self.where else ""
        return tuple(Loss("unreadable_code_object", detail=place + text) for text in sentences[:_MAX_PROBLEMS])

    @cached_property
    def funcmap_text(self) -> bytes:
        """Contents of `.sqtt_funcmap`, the names of shader-data markers; empty where there are none."""
        return self.section_bytes(".sqtt_funcmap")

    def section_bytes(self, name: str) -> bytes:
        """Contents of the first section of that name, inflated where it is compressed; empty where it is missing."""
        section = self.elf.section_named(name)
        return self.elf.bytes_of(section)[0] if section else b""

    def bytes_at(self, address: int, size: int) -> bytes:
        """Up to `size` bytes at an ELF address; fewer where the section that holds it ends."""
        segment = _containing(self._loaded, address)
        if segment is None:
            return b""
        start, length, offset = segment
        return self.elf.data[offset + address - start : offset + min(address - start + size, length)]

    def text_end(self, address: int) -> int | None:
        """End of the code that contains `address`, None outside of all code."""
        text_range = _containing(self.text_ranges, address)
        return text_range[0] + text_range[1] if text_range else None

    def function_at(self, address: int) -> Function | None:
        """Function that contains an ELF address."""
        function = _containing(self._function_ranges, address)
        return self.functions[function[2]] if function else None

    @cached_property
    def _function_ranges(self) -> tuple[tuple[int, int, int], ...]:
        return tuple((function.address, function.size, index) for index, function in enumerate(self.functions))

    @cached_property
    def _loaded(self) -> tuple[tuple[int, int, int], ...]:
        """Address, size and file offset of what is loaded, by address."""
        sections = (section for section in self.elf.sections if section.flags & SHF_ALLOC and section.size)
        return tuple(sorted((section.address, section.size, section.offset) for section in sections))

    @cached_property
    def _symbols(self) -> tuple[list[Symbol], str]:
        return self.elf.symbols()

    @cached_property
    def _metadata(self) -> tuple[Metadata, str]:
        return read_metadata(self.elf)

    @cached_property
    def _kernel_metadata(self) -> dict[str, KernelMetadata]:
        return {_kernel_name(m.symbol) or m.name: m for m in self._metadata[0].kernels}

    @cached_property
    def _arguments(self) -> dict[str, tuple[tuple[KernelArgument, ...], str]]:
        """Kernel name -> its arguments and why they are missing."""
        return {name: metadata.arguments() for name, metadata in self._kernel_metadata.items()}

    @cached_property
    def _descriptors(self) -> dict[str, tuple[Descriptor, int | None]]:
        """Kernel name -> its descriptor and the address of its code."""
        descriptors: dict[str, tuple[Descriptor, int | None]] = {}
        for symbol in self._symbols[0]:
            name = _kernel_name(symbol.name)
            if not name or symbol.type == _STT_FUNC:
                continue
            raw = self.bytes_at(symbol.address, DESCRIPTOR_BYTES)
            if len(raw) == DESCRIPTOR_BYTES:
                descriptor = read_descriptor(raw, self.target or "gfx942")
                entry = symbol.address + descriptor["entry_offset_bytes"]
                descriptors[name] = (descriptor, entry if self.text_end(entry) is not None else None)
        return descriptors


_Ranges = TypeVar("_Ranges", bound=tuple[int, ...])


def _containing(ranges: Sequence[_Ranges], address: int) -> _Ranges | None:
    """The range, (start, size, ...) sorted by start, that contains an address."""
    index = bisect_right(ranges, address, key=lambda entry: entry[0]) - 1
    candidate = ranges[index] if index >= 0 else None
    return candidate if candidate is not None and address < candidate[0] + candidate[1] else None


def _target_of(elf: ElfFile) -> str | None:
    target = TARGET_OF_MACH.get(elf.flags & 0xFF)
    if target:
        return target
    words = _TARGET_WORD.findall(read_metadata(elf)[0].target)
    return words[-1] if words else None


def _kernel_name(symbol: str) -> str:
    return symbol.removesuffix(_DESCRIPTOR_SUFFIX) if symbol.endswith(_DESCRIPTOR_SUFFIX) else ""


def _kernel(name: str, address: int | None, size: int, hardware: Descriptor | None, compiler: KernelMetadata) -> Kernel:
    """A kernel without its arguments: registers and sizes of the hardware's descriptor, the rest of the compiler."""
    fields = hardware.fields if hardware else {}
    return Kernel(
        name,
        address,
        size,
        vgprs=hardware.vgprs if hardware else None,
        agprs=hardware.agprs if hardware else None,
        sgprs=hardware.sgprs if hardware else None,
        vgprs_used=compiler.vgpr_count,
        agprs_used=compiler.agpr_count,
        sgprs_used=compiler.sgpr_count,
        vgpr_spills=compiler.vgpr_spill_count,
        sgpr_spills=compiler.sgpr_spill_count,
        lds_bytes=fields.get("lds_bytes", compiler.group_segment_fixed_size),
        scratch_bytes=fields.get("scratch_bytes", compiler.private_segment_fixed_size),
        kernarg_bytes=fields.get("kernarg_bytes") or compiler.kernarg_segment_size,
        wave_size=hardware.wave_size if hardware else compiler.wavefront_size,
        workgroup_size_max=compiler.max_flat_workgroup_size,
        workgroup_size_required=compiler.reqd_workgroup_size,
        dynamic_stack=bool(fields.get("dynamic_stack", compiler.uses_dynamic_stack)),
        uniform_workgroups=compiler.is_uniform,
        descriptor=hardware,
    )
