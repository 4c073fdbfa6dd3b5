"""The compiler's own account of its kernels: the NT_AMDGPU_METADATA note (AMDGPUUsage, "Code Object V4 Metadata")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

if TYPE_CHECKING:
    from wavescope.codeobj.elf import ElfFile

_OWNER, _TYPE = "AMDGPU", 32
_Count = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF_FFFF)]
_WaveSize = Annotated[int, msgspec.Meta(ge=1, le=255)]


class KernelMetadata(msgspec.Struct, frozen=True, rename=lambda name: f".{name}"):
    """What the compiler wrote down about one kernel; registers are those used, not those allocated."""

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
