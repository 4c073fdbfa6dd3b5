"""Lines that the workgroups of a small dispatch share, for a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from wavewright.analysis.trace.fabric.line_sets import Touched, merged
from wavewright.analysis.trace.fabric.workgroups import Workgroups

_MOST_WORKGROUPS: Final = 4_096
_MOST_LINES: Final = 3_000_000  #: Of all workgroups together.


def workgroup_reuse(
    workgroups: Workgroups, parts: Sequence[Touched], line: int, xcds: np.ndarray, nothing: pl.DataFrame
) -> pl.DataFrame:
    """One row per workgroup, with the shares of its lines that others read; nothing where there are too many."""
    loads = [part for part in parts if not part.is_store]
    size = sum(len(part.group.numbers) * int((part.ranges[1] - part.ranges[0]).sum() // line + 1) for part in loads)
    if workgroups.total > _MOST_WORKGROUPS or size > _MOST_LINES or not loads:
        return nothing
    of_number: dict[int, list[np.ndarray]] = {number: [] for number in range(workgroups.total)}
    for part in loads:
        for number, move in zip(part.group.numbers.tolist(), part.group.moves[part.move].tolist(), strict=True):
            begin, end = merged((part.ranges[0] + move) // line, -(-(part.ranges[1] + move) // line))
            of_number[number].append(_numbers(begin, end))
    lines = [np.unique(np.concatenate(each)) if each else np.zeros(0, np.int64) for each in of_number.values()]
    lengths = np.array([len(each) for each in lines])
    frame = pl.DataFrame(
        {"line": np.concatenate(lines), "number": np.repeat(np.arange(len(lines)), lengths)}
    ).with_columns(xcd=pl.Series(np.repeat(xcds, lengths)))
    sharing_lines = frame.with_columns(here=pl.len().over("line", "xcd") > 1, anywhere=pl.len().over("line") > 1)
    sums = sharing_lines.group_by("number").agg(
        shared_share=pl.col("here").mean(), away_share=(pl.col("anywhere") & ~pl.col("here")).mean()
    )
    x, y, z = workgroups.ids(np.arange(workgroups.total))
    table = pl.DataFrame(
        {"number": np.arange(workgroups.total), "x": x, "y": y, "z": z, "xcd": xcds, "lines_count": lengths}
    )
    return table.join(sums, on="number", how="left", maintain_order="left").with_columns(
        pl.col("shared_share", "away_share").fill_null(0.0)
    )


def _numbers(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The numbers in ranges."""
    sizes = end - begin
    starts = np.repeat(begin - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    return starts + np.arange(int(sizes.sum()))
