"""Details of kernels and copies, which XLA writes as one text: `grid:16,1,1 block:512,1,1 group_mem:0`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, TypeAlias

from wavewright.readers.run.xplane.planes import Statistics

#: Columns of `dispatches` that `kernel_sizes` fills, in this order.
SIZES = (
    *(f"workgroup_{axis}" for axis in "xyz"),
    *(f"grid_{axis}" for axis in "xyz"),
    "lds_bytes",
    "scratch_bytes",
    "vgpr_count",
)
_Sizes: TypeAlias = "tuple[int | None, ...]"
_NUMBERS = re.compile(r"(\w+):(\d{1,9}(?:,\d{1,9}){0,2})(?![\d,])")
_COPY = re.compile(r"(?i)(?:hc)?(?:mem(?:ory)?)?_?(?:cpy|copy)_?(host|device)_?to_?(host|device)\w*")
_SIZE = re.compile(r"\bsize:(\d{1,18})(?!\d)")
_DIRECTIONS = {
    "H2D": "MEMORY_COPY_HOST_TO_DEVICE",
    "D2H": "MEMORY_COPY_DEVICE_TO_HOST",
    "D2D": "MEMORY_COPY_DEVICE_TO_DEVICE",
    "P2P": "MEMORY_COPY_DEVICE_TO_DEVICE",
    "H2H": "MEMORY_COPY_HOST_TO_HOST",
}


@lru_cache(maxsize=1 << 12)
def _sizes(details: str) -> _Sizes:
    values = {key: tuple(map(int, numbers.split(","))) for key, numbers in _NUMBERS.findall(details)}

    def lanes(key: str) -> tuple[int | None, ...]:
        sizes = values.get(key, ())
        return sizes if len(sizes) == 3 else (None, None, None)

    def number(*keys: str) -> int | None:
        sizes = [values[key][0] for key in keys if key in values]
        return sum(sizes) if sizes else None

    workgroup, counts = lanes("block"), lanes("grid")
    grid = [size * count if size and count else None for size, count in zip(workgroup, counts, strict=True)]
    lds = number("group_mem", "static_shared", "dynamic_shared")
    return (*workgroup, *grid, lds, number("private_mem"), number("regs"))


def kernel_sizes(details: Any) -> _Sizes:
    """Values of the columns `SIZES`; grids are stored in workgroups and become lanes.

    Examples
    --------
    >>> kernel_sizes(" grid:16,1,1 block:512,1,1 private_mem:0 group_mem:2112 occ_pct:0")
    (512, 1, 1, 8192, 1, 1, 2112, 0, None)
    """
    return _sizes(details) if isinstance(details, str) else (None,) * len(SIZES)


def copied(name: str, statistics: Statistics) -> tuple[str, int | None] | None:
    """Name, in the words of ROCpd, and size of a copy; None for other work.

    Examples
    --------
    >>> copied("MemcpyD2H", {"memcpy_details": "kind:Device size:512 dest:0 async:1"})
    ('MEMORY_COPY_DEVICE_TO_HOST', 512)
    >>> copied("CopyDeviceToDevice", {})  # of roctracer, in files of older releases
    ('MEMORY_COPY_DEVICE_TO_DEVICE', None)
    """
    details = str(statistics.get("memcpy_details", ""))
    direction = _COPY.fullmatch(name)
    if not name.startswith("Memcpy") and not direction and not details:
        return None
    letters = f"{direction[1][0]}2{direction[2][0]}".upper() if direction else name.removeprefix("Memcpy")[:3]
    match = _SIZE.search(details)
    return _DIRECTIONS.get(letters, name), int(match[1]) if match else None
