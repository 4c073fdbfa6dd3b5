"""The compiler's own account of its kernels: the NT_AMDGPU_METADATA note (AMDGPUUsage, "Code Object V4 Metadata")."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

import msgspec

from wavewright.codeobj.elf import ElfFile

#: Of the kernarg segment; HIP passes a few kilobytes at most, and a larger claim is nonsense.
MAX_SEGMENT_BYTES = 1 << 20
_MAX_ARGUMENTS = 1 << 12
_OWNER, _TYPE = "AMDGPU", 32
_Count = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF_FFFF)]
_WaveSize = Annotated[int, msgspec.Meta(ge=1, le=255)]
_SegmentBytes = Annotated[int, msgspec.Meta(ge=0, le=MAX_SEGMENT_BYTES)]


class KernelArgument(msgspec.Struct, frozen=True, rename=lambda name: f".{name.removesuffix('_bytes')}"):
    """A kernel argument: where it lies in the kernarg segment and what it is (AMDGPUUsage, "Kernel Argument Metadata").

    `value_kind` is "by_value", "global_buffer" (a pointer), "dynamic_shared_pointer" (into LDS) or what the runtime
    fills in: "hidden_block_count_x", ... HIP writes neither names nor types.
    """

    offset_bytes: _SegmentBytes
    size_bytes: _SegmentBytes
    value_kind: str
    name: str = ""
    type_name: str = ""
    value_type: str = ""
    address_space: str = ""
    pointee_align_bytes: _Count | None = None

    @property
    def end_bytes(self) -> int:
        """The offset where it ends."""
        return self.offset_bytes + self.size_bytes

    @property
    def is_hidden(self) -> bool:
        """True if the runtime fills it in; the source of the kernel does not name it."""
        return self.value_kind.startswith("hidden_")


class KernelMetadata(msgspec.Struct, frozen=True, rename=lambda name: f".{name}"):
    """The compiler's metadata about one kernel; registers are those used, not those allocated."""

    name: str = ""
    symbol: str = ""
    vgpr_count: _Count | None = None
    agpr_count: _Count | None = None
    sgpr_count: _Count | None = None
    vgpr_spill_count: _Count | None = None
    sgpr_spill_count: _Count | None = None
    group_segment_fixed_size: _Count | None = None
    private_segment_fixed_size: _Count | None = None
    kernarg_segment_size: _Count | None = None
    wavefront_size: _WaveSize | None = None
    max_flat_workgroup_size: _Count | None = None
    reqd_workgroup_size: tuple[_Count, _Count, _Count] | None = None
    uses_dynamic_stack: bool = False
    uniform_work_group_size: Any = None
    args: msgspec.Raw = msgspec.Raw()

    @property
    def is_uniform(self) -> bool:
        """True if grids must be multiples of the workgroup size."""
        return self.uniform_work_group_size in (1, True)

    def arguments(self) -> tuple[tuple[KernelArgument, ...], str]:
        """The arguments by offset; none, and a sentence, when the list contradicts itself: no part of it is trusted."""
        if not self.args:
            return (), ""
        try:
            arguments = msgspec.msgpack.decode(self.args, type=tuple[KernelArgument, ...])
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            return (), f"the arguments of {self.name} cannot be read: {error}"
        if len(arguments) > _MAX_ARGUMENTS:
            return (), f"{self.name} has {len(arguments):,} arguments, more than any kernel"
        arguments = tuple(sorted(arguments, key=lambda argument: (argument.offset_bytes, argument.size_bytes)))
        for argument, behind in pairwise(arguments):
            if behind.offset_bytes < argument.end_bytes:
                return (), f"two arguments of {self.name} overlap at offset 0x{behind.offset_bytes:x}"
        size = self.kernarg_segment_size
        if arguments and size is not None and arguments[-1].end_bytes > size:
            return (), f"an argument of {self.name} lies outside of its {size:,} bytes of arguments"
        return arguments, ""


class Metadata(msgspec.Struct, frozen=True, rename=lambda name: f"amdhsa.{name}"):
    """The whole note."""

    kernels: tuple[KernelMetadata, ...] = ()
    target: str = ""


def read_metadata(elf: ElfFile) -> tuple[Metadata, str]:
    """The metadata note, empty where there is none, and a sentence when it cannot be read."""
    for owner, type_, contents in elf.notes():
        if owner == _OWNER and type_ == _TYPE:
            try:
                return msgspec.msgpack.decode(contents, type=Metadata), ""
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                return Metadata(), f"the metadata note cannot be read: {error}"
    return Metadata(), ""
