"""Contents of the registers when a wave of a kernel starts, as far as a capture tells.

The kernel descriptor says which scalar registers hold the address of the arguments, that of the dispatch packet, and
ids of the workgroup (AMDGPUUsage of LLVM, "Initial Kernel Execution State"); the size of the dispatch and the arguments
say what is behind these addresses. `_core.WaveStart` takes it as lists of registers and of regions of memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Final, NamedTuple

from wavewright import _core
from wavewright.analysis.code.live import has_ids_in_ttmp, has_packed_ids
from wavewright.codeobj.code_object import Kernel
from wavewright.codeobj.descriptors import USER_SGPRS
from wavewright.codeobj.kernel_arguments import CERTAIN, ArgumentValues, DispatchSize, Size3

# cpp/include/wavewright/evaluate.hpp: StartRegister::what, and the places of the two regions.
_CONSTANT, _WORKGROUP_ID, _LOW_HALF, _HIGH_HALF, _ARGUMENT = range(5)
_KERNARG, _PACKET = 0, 1
_DWORD_BYTES: Final = 4
_TTMP7, _TTMP9 = 115, 117
_PACKET_BYTES: Final = 64
_POINTER_BYTES: Final = 8
_PACKED_ID_BITS: Final = 16  # of the workgroup id y in the register that it shares with z
#: Offset and bytes of the fields of the dispatch packet (hsa_kernel_dispatch_packet_t) that follow from its size:
#: work-items of a workgroup in x, y and z, then those of the grid.
_PACKET_SIZES: Final = ((4, 2), (6, 2), (8, 2), (12, 4), (16, 4), (20, 4))
_LARGEST_WORKGROUP: Final = 1024  #: Work-items.


class StartRegister(NamedTuple):
    """A scalar register whose contents are certain."""

    number: int
    source: int  #: _CONSTANT, _WORKGROUP_ID, ...: says what `value` is.
    value: int  #: The constant, the axis of the workgroup id, the region whose address it is, or an offset in bytes.


class Region(NamedTuple):
    """Memory whose contents are certain in part: the kernel arguments, or the dispatch packet."""

    contents: bytes
    is_certain: bytes  #: 1 for each byte that is.
    is_pointer: bytes  #: 1 for each byte of an argument that is a pointer; empty = nothing describes the arguments.


@dataclass(frozen=True)
class StartState:
    """Registers and memory at the start of the waves of a kernel."""

    registers: list[StartRegister]  #: Empty = no code object tells.
    regions: tuple[Region, Region]  #: The arguments and the dispatch packet.
    workgroup_size: Size3  #: Work-items; 0 = not known, workgroups are taken as one-dimensional.
    workgroup_counts: Size3  #: Of the grid; 0 = not known.
    has_packed_ids: bool  #: Whether v0 holds all ids of the work-item.
    id_registers: int  #: Else the vector registers that hold them, one for each axis.
    lane_count: int
    wave_count: int  #: Places of a wave in its workgroup that are tried.
    is_sized: bool  #: Whether the workgroup size is certain.
    arguments: ArgumentValues

    @cached_property
    def wave(self) -> _core.WaveStart:
        """The state as the native core takes it."""
        return _core.WaveStart(
            registers=self.registers,
            regions=self.regions,
            workgroup=self.workgroup_size,
            workgroups=self.workgroup_counts,
            packed_ids=self.has_packed_ids,
            id_registers=self.id_registers,
            lane_count=self.lane_count,
        )

    @property
    def roles(self) -> dict[int, int | None]:
        """Number of a scalar register -> axis of the workgroup id in it, or None = an argument or an address."""
        return {number: value if source == _WORKGROUP_ID else None for number, source, value in self.registers}

    def of_workgroup(self, ids: Sequence[int], pointers: Mapping[int, int]) -> _core.WaveStart:
        """The state of the waves of one workgroup at their start; `pointers`: offset of an argument -> its address."""
        registers = [
            StartRegister(known.number, _CONSTANT, ids[known.value]) if known.source == _WORKGROUP_ID else known
            for known in self.registers
        ]
        if any(register.number == _TTMP9 for register in registers):  # `_registers` says why only x is told there
            registers.append(StartRegister(_TTMP7, _CONSTANT, ids[1] | ids[2] << _PACKED_ID_BITS))
        arguments = self.regions[_KERNARG]
        contents, is_certain = bytearray(arguments.contents), bytearray(arguments.is_certain)
        for offset, address in pointers.items():
            contents[offset : offset + _POINTER_BYTES] = address.to_bytes(_POINTER_BYTES, "little")
            is_certain[offset : offset + _POINTER_BYTES] = b"\1" * _POINTER_BYTES
        kernarg = Region(bytes(contents), bytes(is_certain), arguments.is_pointer)
        return replace(self, registers=registers, regions=(kernarg, self.regions[_PACKET])).wave


def start_state(
    kernel: Kernel | None,
    target: str,
    size: DispatchSize,
    arguments: ArgumentValues,
    lanes: int,
    wave_limit: int | None,
) -> StartState:
    """The start of a kernel; of one that no code object has, only the ids of the work-items are certain.

    `wave_limit`: waves of a workgroup, where something else than its size tells them.
    """
    group = size.workgroup_size
    largest = (kernel and kernel.workgroup_size_max) or _LARGEST_WORKGROUP
    items = prod(group) if group else min(largest, _LARGEST_WORKGROUP)
    counts = (0, 0, 0)
    if group and size.grid_size:
        x, y, z = (-(-grid // local) for grid, local in zip(size.grid_size, group, strict=True))
        counts = (x, y, z)
    dims = kernel.descriptor.fields["workitem_id_dims"] if kernel and kernel.descriptor else 0
    is_pointer = bytes(arguments.is_pointer(offset) for offset in range(len(arguments.value)))
    is_certain = bytes(byte == CERTAIN for byte in arguments.known_mask)
    return StartState(
        registers=_registers(kernel, target),
        regions=(Region(arguments.value, is_certain, is_pointer if arguments.arguments else b""), _packet(size)),
        workgroup_size=group or (0, 1, 1),
        workgroup_counts=counts,
        has_packed_ids=has_packed_ids(target),
        id_registers=1 + min(2, dims),
        lane_count=lanes,
        wave_count=wave_limit or -(-items // lanes),
        is_sized=group is not None,
        arguments=arguments,
    )


def _registers(kernel: Kernel | None, target: str) -> list[StartRegister]:
    """Scalar registers in the order of AMDGPUUsage: those of the user, preloaded arguments, ids of the workgroup."""
    if kernel is None or kernel.descriptor is None:
        return []
    fields = kernel.descriptor.fields
    registers: list[StartRegister] = []
    number = 0
    for name, count in USER_SGPRS.items():
        if not fields.get(f"user_{name}"):
            continue
        region = {"kernarg_address": _KERNARG, "dispatch_address": _PACKET}.get(name)
        if region is not None:
            halves = StartRegister(number, _LOW_HALF, region), StartRegister(number + 1, _HIGH_HALF, region)
            registers += halves
        number += count
    preloaded = min(fields.get("preload_sgprs", 0), max(0, fields["user_sgprs"] - number))
    first = fields.get("preload_offset_dwords", 0)
    for place in range(preloaded):
        registers.append(StartRegister(number + place, _ARGUMENT, _DWORD_BYTES * (first + place)))
    if has_ids_in_ttmp(target):
        # y and z share a register where both are there: only x is told.
        return [*registers, StartRegister(_TTMP9, _WORKGROUP_ID, 0)]
    number = fields["user_sgprs"]
    for axis, name in enumerate("xyz"):
        if fields[f"workgroup_id_{name}"]:
            registers.append(StartRegister(number, _WORKGROUP_ID, axis))
            number += 1
    return registers


def _packet(size: DispatchSize) -> Region:
    contents, is_certain = bytearray(_PACKET_BYTES), bytearray(_PACKET_BYTES)
    values = [*(size.workgroup_size or (None,) * 3), *(size.grid_size or (None,) * 3)]
    for (offset, count), value in zip(_PACKET_SIZES, values, strict=True):
        if value is not None:
            contents[offset : offset + count] = value.to_bytes(count, "little")
            is_certain[offset : offset + count] = b"\1" * count
    return Region(bytes(contents), bytes(is_certain), bytes(_PACKET_BYTES))
