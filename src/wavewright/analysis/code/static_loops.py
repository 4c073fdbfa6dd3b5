"""Loops of a kernel, from the branches in its code."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.code.control_flow import nest
from wavewright.analysis.code.flow import BRANCH, JUMP
from wavewright.analysis.code.machine_code import MachineCode
from wavewright.model.schema import empty_frame, packaged_spec

_MOST_LOOPS = 1000

SPANS = packaged_spec(__package__, "spans")


def loop_spans(code: MachineCode, flow: pl.DataFrame, is_reached: pl.Series) -> pl.DataFrame:
    """The loops (`SPANS`): a branch back to a row makes the rows from there to the branch a loop.

    Branches to the same row make one loop. At most a thousand, the longest.
    """
    rows = code.rows.select("row", "function").with_columns(flow.select("flow", "target_row"), is_reached=is_reached)
    back = rows.filter(
        "is_reached",
        pl.col("flow").is_in([BRANCH, JUMP]),
        pl.col("target_row").is_between(0, pl.col("row")),
    )
    back = back.with_columns(target_function=rows["function"].gather(back["target_row"]))
    spans = (
        back.filter(pl.col("function") == pl.col("target_function"))
        .group_by(first_row="target_row")
        .agg(last_row=pl.col("row").max())
        .top_k(_MOST_LOOPS, by=pl.col("last_row") - pl.col("first_row"))
        .sort("first_row", "last_row", descending=[False, True])
        .select("first_row", "last_row")
        .rows()
    )
    if not spans:
        return empty_frame(SPANS)
    parents, depths = nest(spans)
    columns = {
        "loop": range(len(spans)),
        "first_row": [first for first, _ in spans],
        "last_row": [last for _, last in spans],
        "parent": parents,
        "depth": depths,
    }
    return pl.DataFrame(columns, schema=SPANS.dtypes)


def innermost_loops(spans: pl.DataFrame, row_count: int) -> list[int | None]:
    """The innermost loop around every row; None = none."""
    loops: list[int | None] = [None] * row_count
    ordered = spans.select("first_row", "last_row", "loop").rows()
    for first, last, loop in sorted(ordered, key=lambda span: span[0] - span[1]):  # longest first
        loops[first : last + 1] = [loop] * (last + 1 - first)
    return loops
