"""Small kernels of our own, compiled for every family: code objects with debug lines, and their listings.

The files are committed, so that synthetic traces and the demo need no compiler. `make kernels` builds them again.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "BUILDS",
    "GFX1250_KERNELS",
    "KERNELS",
    "LANE_KERNELS",
    "LANE_TARGETS",
    "TARGETS",
    "kernel_path",
    "listing_path",
    "source_paths",
]

KERNELS = ("vector_add", "saxpy", "tiled_gemm", "tiled_gemm_prefetch", "reduction", "matrix_core", "divergent")
"""Names of the sources and of the code objects made from them."""

TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201")
"""GPUs that they are compiled for."""

LANE_KERNELS = (
    "lane_strides",
    "lane_bits",
    "lane_masks",
    "lane_division",
    "lane_exchange",
    "lane_pointers",
    "lane_data",
)
"""Kernels with chosen lane addresses; `synth.lanes` has their truth."""

LANE_TARGETS = ("gfx908", *TARGETS)
"""GPUs that those are compiled for."""

GFX1250_KERNELS = ("vector_add", "saxpy", "tiled_gemm", "tiled_gemm_prefetch", "reduction", "divergent", "async_copy")
"""Kernels that are compiled for gfx1250 as well; the last one for it alone."""

BUILDS = (
    *((kernel, target) for kernel in KERNELS for target in TARGETS),
    *((kernel, target) for kernel in LANE_KERNELS for target in LANE_TARGETS),
    *((kernel, "gfx1250") for kernel in GFX1250_KERNELS),
)
"""Every code object: its kernel and its GPU."""

_CHANGED = {"tiled_gemm_prefetch": "prefetch/tiled_gemm.hip"}
_FOLDER = Path(__file__).parent


def kernel_path(kernel: str, target: str) -> Path:
    """Code object of a kernel.

    Examples
    --------
    >>> kernel_path("saxpy", "gfx942").name
    'saxpy.gfx942.co'
    """
    return _FOLDER / "built" / f"{kernel}.{target}.co"


def source_paths(kernel: str) -> tuple[Path, ...]:
    """Source of a kernel, and what it includes; kernels may be later states of the same file.

    Examples
    --------
    >>> [path.name for path in source_paths("saxpy")]
    ['saxpy.hip', 'device.hpp']
    """
    sources = _FOLDER / "sources"
    headers = ("lane_access.hpp", "device.hpp") if kernel in LANE_KERNELS else ("device.hpp",)
    return sources / _CHANGED.get(kernel, f"{kernel}.hip"), *(sources / header for header in headers)


def listing_path(kernel: str, target: str) -> Path:
    """Listing of a kernel: `address TAB size TAB text`.

    Examples
    --------
    >>> listing_path("saxpy", "gfx942").name
    'saxpy.gfx942.isa.tsv'
    """
    return _FOLDER / "built" / f"{kernel}.{target}.isa.tsv"
