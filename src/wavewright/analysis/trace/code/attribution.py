"""Places of code rows: their source line (innermost, outermost, the user's own), and the costs of their lanes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import polars as pl

from wavewright.base.bounds import integer_of
from wavewright.base.toml import packaged
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace

ATTRIBUTIONS = ("innermost", "outermost", "mine")  #: Explained in `source_of_rows`.

_LIBRARY = re.compile("|".join(packaged("libraries.toml", __package__)["paths"]))


def is_library(file: str) -> bool:
    """True if a path is that of an installed package, a toolchain or a library header."""
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


def located(frame: pl.DataFrame, trace: ThreadTrace, *, row: str = "row") -> pl.DataFrame:
    """The frame with address, text, file and line of its code rows; `producer_row` gives `producer_address` etc."""
    prefix = row.removesuffix("row")
    names = {name: prefix + name for name in ("address", "text", "file", "line")}
    places = trace.code.select("row", *names).rename({"row": row, **names})
    return frame.join(places, on=row, how="left", maintain_order="left")


LANE_SUMS: Final = ("extra_lds_cycles_total", "segment_count_total")  #: Columns of `lanes.answer.lane_sums`.


def with_lane_sums(frame: pl.DataFrame, sums: pl.DataFrame | None) -> pl.DataFrame:
    """A frame with a `row`, with `LANE_SUMS` of `sums` (0 where it has no such row); None = null in all rows."""
    if sums is None:
        return frame.with_columns(pl.lit(None, pl.Int64).alias(name) for name in LANE_SUMS)
    return frame.join(sums, on="row", how="left", maintain_order="left").with_columns(pl.col(LANE_SUMS).fill_null(0))
