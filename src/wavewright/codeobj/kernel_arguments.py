"""Certain bytes of the kernarg segment of a dispatch, from which a kernel loads its arguments.

Three sources, none of them a guess: a recording of the bytes (kerncap), what the runtime computes from the size of the
dispatch (AMDGPUUsage, "Code Object V5 Kernel Argument Metadata"), and what the user gives. Where two of them disagree,
the request is refused. Every other byte stays unknown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from wavewright.base.toml import packaged
from wavewright.codeobj.code_object import Kernel
from wavewright.codeobj.given_arguments import argument_list, given_bytes
from wavewright.codeobj.metadata import MAX_SEGMENT_BYTES, KernelArgument
from wavewright.errors import UsageError

CERTAIN = 0xFF  #: In `ArgumentValues.known_mask`: this byte is certain.
_DWORD_BYTES = 4
_AXES = "xyz"
_GLOBAL_OFFSETS = tuple(f"hidden_global_offset_{axis}" for axis in _AXES)
_WORKGROUP_MAX, _GRID_MAX = (1 << 16) - 1, (1 << 32) - 1  # fields of the dispatch packet

#: Kinds of arguments that hold an address of memory outside of LDS.
POINTER_KINDS: frozenset[str] = frozenset(packaged("arguments.toml", __package__)["pointer_kinds"])

Size3 = tuple[int, int, int]


class DispatchSize(NamedTuple):
    """Size of a dispatch; None = not known. `grid_size` counts work-items, not workgroups."""

    workgroup_size: Size3 | None = None
    grid_size: Size3 | None = None
    dynamic_lds_bytes: int | None = None

    def check(self) -> None:
        """Refuse what no dispatch packet can hold. Raises `UsageError`: a size is zero, negative or too large."""
        for dimension, sizes, limit in (
            ("workgroup size", self.workgroup_size, _WORKGROUP_MAX),
            ("grid", self.grid_size, _GRID_MAX),
        ):
            if sizes is not None and not all(1 <= size <= limit for size in sizes):
                problem = f"the {dimension} {worded_size(sizes)} is impossible"
                raise UsageError(problem, advice=f"1 to {limit:,} per dimension")
        if self.dynamic_lds_bytes is not None and not 0 <= self.dynamic_lds_bytes <= _GRID_MAX:
            raise UsageError(f"{self.dynamic_lds_bytes:,} bytes of dynamic LDS are impossible")


@dataclass(frozen=True)
class ArgumentValues:
    """The kernarg segment of a dispatch: `value`, and `known_mask`, which is CERTAIN (0xFF) where `value` is."""

    arguments: tuple[KernelArgument, ...] = ()
    value: bytes = b""
    known_mask: bytes = b""
    #: Sentences about bytes that are certain only if these hold.
    assumptions: tuple[str, ...] = ()

    def bytes_at(self, offset_bytes: int, size_bytes: int) -> bytes | None:
        """The bytes of a place, None where a byte of it is unknown or outside of the segment."""
        end = offset_bytes + size_bytes
        is_inside = offset_bytes >= 0 and end <= len(self.value)
        is_known = is_inside and all(byte == CERTAIN for byte in self.known_mask[offset_bytes:end])
        return self.value[offset_bytes:end] if is_known else None

    def dword(self, offset_bytes: int) -> int | None:
        """Result of a scalar load of four bytes; None = unknown."""
        data = self.bytes_at(offset_bytes, _DWORD_BYTES)
        return None if data is None else int.from_bytes(data, "little")

    def argument_at(self, offset_bytes: int) -> KernelArgument | None:
        """The argument that contains a byte of the segment."""
        index = bisect_right(self._offsets, offset_bytes) - 1
        argument = self.arguments[index] if index >= 0 else None
        return argument if argument is not None and offset_bytes < argument.end_bytes else None

    def is_pointer(self, offset_bytes: int) -> bool:
        """True if a byte belongs to an address of memory outside of LDS."""
        argument = self.argument_at(offset_bytes)
        return argument is not None and argument.value_kind in POINTER_KINDS

    def name_at(self, offset_bytes: int) -> str:
        """Name of a byte of the segment, for sentences."""
        return worded_place(self.arguments, self.argument_at(offset_bytes), offset_bytes)

    @cached_property
    def _offsets(self) -> tuple[int, ...]:
        return tuple(argument.offset_bytes for argument in self.arguments)


def argument_values(
    kernel: Kernel, size: DispatchSize | None = None, *, given: Sequence[str] = (), recorded: bytes | None = None
) -> ArgumentValues:
    """The certain arguments of one dispatch of `kernel`.

    `size` is that of the dispatch; a workgroup size that the kernel requires need not be given. `given` are
    `NAME=VALUE` or `OFFSET=VALUE`, as `--arg` takes them (see `given_bytes`); `recorded` is the kernarg segment as the
    dispatch used it. Raises `UsageError`: a value does not fit its argument or the segment, names none of the
    arguments, or two sources disagree.
    """
    size = _with_required(kernel, size or DispatchSize())
    segment = _Segment(kernel)
    if recorded is not None:
        segment.put(0, _whole(kernel, recorded), "the recorded arguments")
    for argument in kernel.arguments:
        number = hidden_value(argument.value_kind, size, is_uniform=kernel.uniform_workgroups)
        if number is not None and number < 1 << 8 * argument.size_bytes:
            data = number.to_bytes(argument.size_bytes, "little")
            segment.put(argument.offset_bytes, data, "the size of the dispatch")
    places: dict[int, str] = {}
    for text in given:
        offset, data = given_bytes(text, kernel)
        for place in range(offset, offset + len(data)):
            if place in places:
                raise UsageError(f"{text} and {places[place]} overlap at offset 0x{place:x}", advice="give each once")
            places[place] = text
        segment.put(offset, data, text)
    return segment.values()


def hidden_value(value_kind: str, size: DispatchSize, *, is_uniform: bool = False) -> int | None:
    """Value that the runtime writes into a hidden argument; None = the size of the dispatch does not tell.

    With `is_uniform` the grid is a multiple of the workgroup size. The number of dimensions of a dispatch is only
    certain where the third is used: HIP always says 3, OpenCL says what the program asked for.

    >>> size = DispatchSize((256, 1, 1), (1000, 4, 1))
    >>> [hidden_value(f"hidden_{name}", size) for name in ("block_count_x", "remainder_x", "group_size_x", "grid_dims")]
    [3, 232, 256, None]
    """
    group, grid = size.workgroup_size, size.grid_size
    if value_kind == "hidden_dynamic_lds_size":
        return size.dynamic_lds_bytes
    if value_kind == "hidden_grid_dims":
        return 3 if grid and grid[2] > 1 else None
    kind, _, axis = value_kind.rpartition("_")
    if group is None or len(axis) != 1 or axis not in _AXES:
        return None
    index = _AXES.index(axis)
    if kind == "hidden_group_size":
        return group[index]
    if kind == "hidden_remainder" and grid is None and is_uniform:
        return 0
    if grid is None:
        return None
    return {"hidden_block_count": grid[index] // group[index], "hidden_remainder": grid[index] % group[index]}.get(kind)


def worded_size(size: Sequence[int]) -> str:
    """A size in three dimensions."""
    return "x".join(map(str, size))


def worded_place(arguments: Sequence[KernelArgument], argument: KernelArgument | None, offset_bytes: int) -> str:
    """Name of a byte of the segment: that of its argument where it has one."""
    if argument is None:
        return f"offset 0x{offset_bytes:x} of the arguments"
    if argument.is_hidden:
        name = argument.value_kind
    else:
        name = argument.name or f"argument {arguments.index(argument) + 1} at 0x{argument.offset_bytes:x}"
    inside = offset_bytes - argument.offset_bytes
    return f"{name} + {inside}" if inside else name


class _Segment:
    """The bytes as they are put together, with the source of each."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        ends = [argument.end_bytes for argument in kernel.arguments]
        segment_bytes = kernel.kernarg_bytes or 0
        self._value = bytearray(segment_bytes if segment_bytes <= MAX_SEGMENT_BYTES else max(ends, default=0))
        self._sources: dict[int, str] = {}

    def put(self, offset: int, data: bytes, source: str) -> None:
        """Add bytes; those that are there already must be the same."""
        self._value.extend(bytes(max(0, offset + len(data) - len(self._value))))
        for place, byte in enumerate(data, offset):
            other = self._sources.setdefault(place, source)
            if other != source and self._value[place] != byte:
                raise UsageError(
                    f"{source} and {other} disagree about {self._name(place)} of {self._kernel.name}",
                    advice="check that they belong to the same dispatch",
                )
            self._value[place] = byte

    def values(self) -> ArgumentValues:
        """The bytes; global offsets that nothing tells are taken as zero: only OpenCL has others."""
        assumptions: dict[str, str] = {}
        for argument in self._kernel.arguments:
            kind, places = argument.value_kind, range(argument.offset_bytes, argument.end_bytes)
            is_told = kind in assumptions or any(place in self._sources for place in places)
            if kind in _GLOBAL_OFFSETS and not is_told:
                self.put(argument.offset_bytes, bytes(argument.size_bytes), "assumption")
                assumptions[kind] = f"{kind} is 0, as in HIP and in OpenCL without a global offset"
        sentences = tuple(assumptions[kind] for kind in _GLOBAL_OFFSETS if kind in assumptions)
        mask = bytes(CERTAIN if place in self._sources else 0 for place in range(len(self._value)))
        return ArgumentValues(self._kernel.arguments, bytes(self._value), mask, sentences)

    def _name(self, place: int) -> str:
        arguments = self._kernel.arguments
        arguments_there = (a for a in arguments if a.offset_bytes <= place < a.end_bytes)
        return worded_place(arguments, next(arguments_there, None), place)


def _with_required(kernel: Kernel, size: DispatchSize) -> DispatchSize:
    workgroup_size = kernel.workgroup_size_required
    size.check()
    if workgroup_size is None or 0 in workgroup_size:
        return size
    if size.workgroup_size not in (None, workgroup_size):
        raise UsageError(
            f"the workgroup size {worded_size(size.workgroup_size or ())} is not that of {kernel.name}, "
            f"which requires {worded_size(workgroup_size)}",
            advice="check that the dispatch and the code object belong together",
        )
    return size._replace(workgroup_size=workgroup_size)


def _whole(kernel: Kernel, recorded: bytes) -> bytes:
    """The recorded bytes: all, or all but hidden arguments; padding to eight bytes or a cache line may follow."""
    segment = kernel.kernarg_bytes or max((argument.end_bytes for argument in kernel.arguments), default=0)
    if not segment:
        return recorded[:MAX_SEGMENT_BYTES]
    visible = (argument for argument in kernel.arguments if not argument.is_hidden)
    explicit = max((argument.end_bytes for argument in visible), default=segment)
    ends = ((explicit, -(-explicit // 8) * 8), (segment, -(-segment // 64) * 64))
    if not any(least <= len(recorded) <= most for least, most in ends):
        raise UsageError(
            f"{len(recorded):,} bytes of arguments were recorded, and {kernel.name} has {segment:,}",
            kept=argument_list(kernel),
            advice="check that the recording is complete and of this kernel",
        )
    return recorded[:segment]
