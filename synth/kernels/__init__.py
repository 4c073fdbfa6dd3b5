"""Small kernels of our own, compiled for every family: code objects with debug lines, and their listings.

The files are committed, so that synthetic traces and the demo need no compiler. `make kernels` builds them again.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["KERNELS", "TARGETS", "kernel_path", "listing_path", "source_paths"]

KERNELS = ("vector_add", "saxpy", "tiled_gemm", "tiled_gemm_prefetch", "reduction", "matrix_core", "divergent")
"""Names of the sources and of the code objects made from them."""

TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201")
"""GPUs that they are compiled for."""

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
    return sources / _CHANGED.get(kernel, f"{kernel}.hip"), sources / "device.hpp"


def listing_path(kernel: str, target: str) -> Path:
    """Listing of a kernel: `address TAB size TAB text`.

    Examples
    --------
    >>> listing_path("saxpy", "gfx942").name
    'saxpy.gfx942.isa.tsv'
    """
    return _FOLDER / "built" / f"{kernel}.{target}.isa.tsv"
