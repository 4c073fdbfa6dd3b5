"""Code objects with metadata made to measure: kernels whose arguments are listed in a test."""

from __future__ import annotations

import struct
from typing import Any

import msgspec

from tests.unit.codeobj.made_elf import DATA_FLAGS, NOTE, Made, make_elf
from wavewright.codeobj.code_object import CodeObject, Kernel

#: What LLVM writes behind the explicit arguments of a HIP kernel (code object V5), from their end on, aligned to 8.
HIDDEN = [
    *((f"hidden_block_count_{axis}", 4 * index, 4) for index, axis in enumerate("xyz")),
    *((f"hidden_group_size_{axis}", 12 + 2 * index, 2) for index, axis in enumerate("xyz")),
    *((f"hidden_remainder_{axis}", 18 + 2 * index, 2) for index, axis in enumerate("xyz")),
    *((f"hidden_global_offset_{axis}", 40 + 8 * index, 8) for index, axis in enumerate("xyz")),
    ("hidden_grid_dims", 64, 2),
    ("hidden_hostcall_buffer", 80, 8),
    ("hidden_dynamic_lds_size", 120, 4),
]


def argument(offset: int, size: int, kind: str = "by_value", **more: Any) -> dict[str, Any]:
    return {".offset": offset, ".size": size, ".value_kind": kind, **{f".{name}": item for name, item in more.items()}}


def hidden_arguments(start: int) -> list[dict[str, Any]]:
    return [argument(start + offset, size, kind) for kind, offset, size in HIDDEN]


def object_with(arguments: Any, *, segment_bytes: int = 512, name: str = "gemm", **more: Any) -> CodeObject:
    """A code object whose metadata lists one kernel with these arguments."""
    kernel = {".name": name, ".symbol": f"{name}.kd", ".kernarg_segment_size": segment_bytes, ".args": arguments}
    kernel |= {f".{key}": item for key, item in more.items()}
    note = msgspec.msgpack.encode({"amdhsa.kernels": [kernel], "amdhsa.version": [1, 2]})
    contents = struct.pack("<III", 7, len(note), 32) + b"AMDGPU\0\0" + note + bytes(-len(note) % 4)
    return CodeObject.from_bytes(make_elf([Made(".note", contents, NOTE, flags=DATA_FLAGS)]))


def kernel_with(arguments: Any, **more: Any) -> Kernel:
    (kernel,) = object_with(arguments, **more).kernels
    return kernel
