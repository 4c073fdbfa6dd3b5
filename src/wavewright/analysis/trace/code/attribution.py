"""The source line of a code row: the innermost, the outermost, or the first in the user's own code."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from wavewright.base.bounds import integer_of
from wavewright.errors import UsageError

ATTRIBUTIONS = ("innermost", "outermost", "mine")

_LIBRARY = re.compile(
    r"""
      / (site|dist|python)[-_]packages /          # installed Python packages, and those of build folders
    | / lib (32|64)? / python [\d.]* /            # Python's own library: decorators, contexts, functools
    | ^ <                                         # <frozen ...>, <built-in>
    | ^ / usr / (local/)? (include|lib) /
    | ^ / opt / (rocm|conda|venv|python)
    | / include / ( c\+\+ | hip | hsa | rocm | rocprim | rocwmma | ck ) \b
    | / lib / (clang|gcc) /                       # headers of compilers
    | / (amd_detail|device-libs|hip_runtime) /
    | / triton / (language|runtime) /
    """,
    re.VERBOSE,
)


def is_library(file: str) -> bool:
    """True if a path is that of an installed package, a toolchain or a library header.

    >>> is_library("/usr/lib/python3/dist-packages/triton/core.py"), is_library("/home/me/kernels/gemm.py")
    (True, False)
    """
    return _LIBRARY.search(file) is not None


def source_of_rows(code: pl.DataFrame, attribution: str = "innermost", mine: Sequence[str] = ()) -> pl.DataFrame:
    """One source line per row of a code table: `row`, `file`, `line`; null where there is no debug line.

    `innermost` is the line that the instruction was made for, `outermost` the call site of the whole inline chain.
    `mine` is the first frame, from the inside, that is not in a library; with `mine` paths, the first below one of
    them. A chain without such a frame is given to its outermost one. Raises `UsageError` when there is no such
    attribution.

    >>> import polars as pl
    >>> chain = "/usr/include/hip/math.h:7 -> /src/a.hip:3 -> /src/main.hip:20"
    >>> code = pl.DataFrame({"row": [0], "inline_chain": [chain]})
    >>> [source_of_rows(code, which).row(0)[1:] for which in ("innermost", "mine", "outermost")]
    [('/usr/include/hip/math.h', 7), ('/src/a.hip', 3), ('/src/main.hip', 20)]
    >>> source_of_rows(code, "mine", ["/src/main"]).row(0)[1:]
    ('/src/main.hip', 20)
    """
    if attribution not in ATTRIBUTIONS:
        raise UsageError(f"no attribution {attribution!r}", advice=f"attributions: {', '.join(ATTRIBUTIONS)}")
    chains = code["inline_chain"].drop_nulls().unique().to_list()
    chosen = [_chosen(chain.split(" -> "), attribution, tuple(mine)) for chain in chains]
    sources = pl.DataFrame(
        {"inline_chain": chains, "file": [file for file, _ in chosen], "line": [line for _, line in chosen]},
        schema={"inline_chain": pl.String, "file": pl.String, "line": pl.UInt32},
    )
    rows = code.select("row", "inline_chain").join(sources, on="inline_chain", how="left", maintain_order="left")
    return rows.select("row", "file", "line")


def _chosen(frames: list[str], attribution: str, paths: tuple[str, ...]) -> tuple[str, int | None]:
    if attribution == "innermost":
        return place_of(frames[0])
    if attribution == "mine":
        for frame in frames:
            file, line = place_of(frame)
            if _is_below(file, paths) if paths else not is_library(file):
                return file, line
    return place_of(frames[-1])


def _is_below(file: str, paths: tuple[str, ...]) -> bool:
    """True if a path starts with one of `paths`; relative paths may start at any folder."""
    return any(file.startswith(path) or (not path.startswith("/") and f"/{path}" in file) for path in paths)


def place_of(frame: str) -> tuple[str, int | None]:
    """File and line of one frame of an inline chain; the line is None when the compiler gave none.

    >>> place_of("/src/a.py:12"), place_of("/src/a.py:?")
    (('/src/a.py', 12), ('/src/a.py', None))
    """
    file, _, line = frame.rpartition(":")
    number = integer_of(line, below=1 << 32)
    return (frame.removesuffix(":?"), None) if not file or number is None else (file, number or None)
