"""Registers when a wave of a kernel starts, as far as a capture tells.

Order and registers: AMDGPUUsage of LLVM, "Initial Kernel Execution State".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wavewright import _core
from wavewright.analysis.code.live import has_ids_in_ttmp, has_packed_ids
from wavewright.codeobj.code_object import Kernel
from wavewright.codeobj.descriptors import USER_SGPRS
from wavewright.codeobj.kernel_arguments import CERTAIN, ArgumentValues, DispatchSize

# cpp/include/wavewright/evaluate.hpp: StartRegister.
_CONSTANT, _WORKGROUP_ID, _LOW_HALF, _HIGH_HALF, _ARGUMENT = range(5)
_KERNARG, _PACKET = 0, 1  # regions
_DWORD_BYTES: Final = 4
_TTMP7, _TTMP9 = 115, 117
_PACKET_BYTES: Final = 64
_POINTER_BYTES: Final = 8
_PACKED_ID_BITS: Final = 16  # of the workgroup id y in the register that it shares with z
#: Fields of the dispatch packet that follow from its size: offset, bytes (hsa_kernel_dispatch_packet_t).
_PACKET_SIZES: Final = ((4, 2), (6, 2), (8, 2), (12, 4), (16, 4), (20, 4))
_LARGEST_WORKGROUP: Final = 1024


@dataclass(frozen=True)
class StartState:
    """Where the waves of a kernel start."""

    wave: _core.WaveStart
    wave_count: int  #: Places of a wave in its workgroup that are tried.
    is_sized: bool  #: Whether the workgroup size is certain; else one-dimensional workgroups are assumed.
    arguments: ArgumentValues
    registers: list[tuple[int, int, int]]  #: Scalar ones whose contents are certain; empty = no code object tells.
    fields: dict[str, Any]  #: Of `wave`.

    @property
    def roles(self) -> dict[int, int | None]:
        """Number of a scalar register -> axis of the workgroup id in it, or None = an argument or an address."""
        return {number: value if what == _WORKGROUP_ID else None for number, what, value in self.registers}

    def of_workgroup(self, ids: Sequence[int], pointers: Mapping[int, int]) -> _core.WaveStart:
        """The state of the waves of one workgroup at their start; `pointers`: offset of an argument -> its address."""
        registers = [
            (number, _CONSTANT, ids[value]) if source == _WORKGROUP_ID else (number, source, value)
            for number, source, value in self.registers
        ]
        if any(number == _TTMP9 for number, _, _ in registers):
            registers.append((_TTMP7, _CONSTANT, ids[1] | ids[2] << _PACKED_ID_BITS))
        value = bytearray(self.arguments.value)
        certain = bytearray(byte == CERTAIN for byte in self.arguments.known_mask)
        for offset, address in pointers.items():
            value[offset : offset + _POINTER_BYTES] = address.to_bytes(_POINTER_BYTES, "little")
            certain[offset : offset + _POINTER_BYTES] = b"\1" * _POINTER_BYTES
        arguments = (bytes(value), bytes(certain), self.fields["regions"][_KERNARG][2])
        regions = [arguments, self.fields["regions"][_PACKET]]
        return _core.WaveStart(**self.fields | {"registers": registers, "regions": regions})


def start_state(
    kernel: Kernel | None,
    target: str,
    size: DispatchSize,
    arguments: ArgumentValues,
    lanes: int,
    wave_limit: int | None,
) -> StartState:
    """The start of a kernel; of one that no code object has, only the ids of the work-items are certain."""
    group = size.workgroup_size
    items = group[0] * group[1] * group[2] if group else _LARGEST_WORKGROUP
    most = min(items, kernel.workgroup_size_max or items) if kernel is not None and not group else items
    wave_count = -(-most // lanes)
    registers = _registers(kernel, target, arguments)
    counts = (0, 0, 0)
    if group and size.grid_size:
        x, y, z = (-(-grid // local) for grid, local in zip(size.grid_size, group, strict=True))
        counts = (x, y, z)
    dims = kernel.descriptor.fields["workitem_id_dims"] if kernel and kernel.descriptor else 0
    certain = bytes(byte == CERTAIN for byte in arguments.known_mask)
    pointers = bytes(arguments.is_pointer(offset) for offset in range(len(arguments.value)))
    fields: dict[str, Any] = {
        "registers": registers,
        "regions": [(arguments.value, certain, pointers if arguments.arguments else b""), _packet(size)],
        "workgroup": group or (0, 1, 1),
        "workgroups": counts,
        "packed_ids": has_packed_ids(target),
        "id_registers": 1 + min(2, dims),
        "lane_count": lanes,
    }
    wave = _core.WaveStart(**fields)
    return StartState(wave, wave_limit or wave_count, group is not None, arguments, registers, fields)


def _registers(kernel: Kernel | None, target: str, arguments: ArgumentValues) -> list[tuple[int, int, int]]:
    if kernel is None or kernel.descriptor is None:
        return []
    fields = kernel.descriptor.fields
    registers: list[tuple[int, int, int]] = []
    number = 0
    for name, count in USER_SGPRS.items():
        if not fields.get(f"user_{name}"):
            continue
        region = {"kernarg_address": _KERNARG, "dispatch_address": _PACKET}.get(name)
        if region is not None:
            registers += [(number, _LOW_HALF, region), (number + 1, _HIGH_HALF, region)]
        number += count
    preloaded = min(fields.get("preload_sgprs", 0), max(0, fields["user_sgprs"] - number))
    first = fields.get("preload_offset_dwords", 0)
    registers += [(number + place, _ARGUMENT, _DWORD_BYTES * (first + place)) for place in range(preloaded)]
    if has_ids_in_ttmp(target):
        # y and z share a register where both are there: only x is told.
        return [*registers, (_TTMP9, _WORKGROUP_ID, 0)]
    number = fields["user_sgprs"]
    for axis, name in enumerate("xyz"):
        if fields[f"workgroup_id_{name}"]:
            registers.append((number, _WORKGROUP_ID, axis))
            number += 1
    return registers


def _packet(size: DispatchSize) -> tuple[bytes, bytes, bytes]:
    data, certain = bytearray(_PACKET_BYTES), bytearray(_PACKET_BYTES)
    values = [*(size.workgroup_size or (None,) * 3), *(size.grid_size or (None,) * 3)]
    for (offset, count), value in zip(_PACKET_SIZES, values, strict=True):
        if value is not None:
            data[offset : offset + count] = value.to_bytes(count, "little")
            certain[offset : offset + count] = b"\1" * count
    return bytes(data), bytes(certain), bytes(_PACKET_BYTES)
