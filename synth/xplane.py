"""A small writer of XPlane files (the wire format of Protocol Buffers), with the layout that JAX writes."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class XEvent:
    """An event; `start_ps` counts from the start of its line."""

    name: str
    start_ps: int
    duration_ps: int = 0
    statistics: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class XLine:
    """A stream or a thread."""

    number: int
    name: str
    events: Sequence[XEvent]
    start_ns: int = 0


@dataclass(frozen=True)
class XPlane:
    """A device or the host."""

    name: str
    lines: Sequence[XLine] = ()
    statistics: Mapping[str, Any] = field(default_factory=dict)


class Named(str):
    """A text that the file stores once, as the name of a statistic, as XLA does."""

    __slots__ = ()


def varint(value: int) -> bytes:
    """An integer in groups of seven bits."""
    value &= _MASK
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def number(key: int, value: int) -> bytes:
    """A field of an integer."""
    return varint(key << 3) + varint(value)


def piece(key: int, content: bytes | str) -> bytes:
    """A field of bytes: a text or a message."""
    data = content.encode() if isinstance(content, str) else content
    return varint(key << 3 | 2) + varint(len(data)) + data


def xspace(planes: Sequence[XPlane], hostnames: Sequence[str] = (), errors: Sequence[str] = ()) -> bytes:
    """The bytes of a file."""
    return (
        b"".join(piece(1, _plane(number_, plane)) for number_, plane in enumerate(planes))
        + b"".join(piece(2, error) for error in errors)
        + b"".join(piece(4, name) for name in hostnames)
    )


class _Numbers(dict[str, int]):
    def of(self, name: str) -> int:
        return self.setdefault(name, len(self) + 1)


def _plane(number_: int, plane: XPlane) -> bytes:
    keys, names = _Numbers(), _Numbers()
    lines = b"".join(piece(3, _line(line, keys, names)) for line in plane.lines)
    statistics = b"".join(piece(6, _statistic(key, value, keys)) for key, value in plane.statistics.items())
    content = (number(1, number_) if number_ else b"") + piece(2, plane.name) + lines + statistics
    for name, key in names.items():
        content += piece(4, number(1, key) + piece(2, number(1, key) + piece(2, name)))
    for name, key in keys.items():
        content += piece(5, number(1, key) + piece(2, number(1, key) + piece(2, name)))
    return content


def _line(line: XLine, keys: _Numbers, names: _Numbers) -> bytes:
    parts = [number(1, line.number), piece(2, line.name), number(3, line.start_ns)]
    for event in line.events:
        statistics = b"".join(piece(4, _statistic(key, value, keys)) for key, value in event.statistics.items())
        times = number(2, event.start_ps) + (number(3, event.duration_ps) if event.duration_ps else b"")
        parts.append(piece(4, number(1, names.of(event.name)) + times + statistics))
    return b"".join(parts)


def _statistic(key: str, value: Any, keys: _Numbers) -> bytes:
    start = number(1, keys.of(key))
    if isinstance(value, Named):
        return start + number(7, keys.of(value))
    if isinstance(value, float):
        return start + varint(2 << 3 | 1) + struct.pack("<d", value)
    return start + (piece(5, value) if isinstance(value, str) else number(4, value))


def small_xspace() -> bytes:
    """Two kernels and a copy on two GPUs, their launches, a step, Python, and one allocation with its release."""
    details = Named(" grid:16,2,1 block:64,1,1 private_mem:8 group_mem:2112 occ_pct:0")
    program = {"hlo_op": Named("fusion.1"), "hlo_module": Named("jit_f"), "program_id": 15}
    memory = {"allocator_name": Named("GPU_1_bfc"), "addr": 4096, "allocation_bytes": 512, "fragmentation": 0.5}
    first = XLine(17, "Stream #17(Kernel)", [
        XEvent("gemm.kd", 5_000_000, 2_000_000, {"correlation_id": 8, "kernel_details": details, **program}),
        XEvent("MemcpyD2H", 8_000_999, 1_000_000, {"correlation_id": 9, "memcpy_details": "kind:Device size:256"}),
    ], 1000)  # fmt: skip
    second = XLine(3, "Stream #3(Kernel)", [XEvent("relu.kd", 6_000_000, 500_000, {"correlation_id": 10})], 1000)
    repeated = XLine(9, "XLA Ops", [XEvent("fusion.1", 5_000_000, 2_000_000)], 1000)
    calls = XLine(77, "Host Threads/77", [
        XEvent("hipModuleLaunchKernel", 1_000_000, 800_000, {"correlation_id": 8, **program}),
        XEvent("hipMemcpyDtoHAsync", 2_000_000, 100_000, {"correlation_id": 9}),
        XEvent("hipModuleLaunchKernel", 3_000_000, 100_000, {"correlation_id": 10}),
    ], 1000)  # fmt: skip
    python = XLine(-5, "python", [
        XEvent("train", 0, 9_000_000, {"step_num": 4}),
        XEvent("$train.py:31 step", 100_000, 8_000_000),
        XEvent("$builtins len", 200_000, 1_000),
        XEvent("PjitFunction(f)", 300_000, 7_000_000),
        XEvent("RecordUsage", 400_000),
        XEvent("MemoryAllocation", 500_000, 0, memory),
        XEvent("MemoryDeallocation", 600_000, 0, memory),
    ], 1000)  # fmt: skip
    facts = {"device_vendor": "AMD", "core_count": 304}
    return xspace(
        [
            XPlane("/device:GPU:0", [first, repeated], facts),
            XPlane("/device:GPU:1", [second], facts),
            XPlane("/host:CPU", [calls, python]),
            XPlane("Task Environment", statistics={"profile_start_time": 1_700_000_000_000_000_000}),
        ],
        hostnames=["node7"],
        errors=["a buffer was full"],
    )
