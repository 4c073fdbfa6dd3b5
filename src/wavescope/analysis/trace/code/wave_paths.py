"""The path of each wave through the code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope import _core
from wavescope.model.answer import once_per_trace

if TYPE_CHECKING:
    from wavescope.model.trace import ThreadTrace

#: A path is an early exit when its waves ran at most this share of the rows of the fullest path of their kernel.
EARLY_EXIT_SHARE = 0.25


@once_per_trace
def wave_paths(trace: ThreadTrace) -> pl.DataFrame:
    """One row per wave, in the order of `waves`; waves that ran the same set of code rows have the same path.

    Columns: `wave`, `kernel`, `path` (0 = the path on which most cycles were spent), `instruction_count`,
    `unresolved_count`, `distinct_row_count`, `last_row`, `duration_cycles` (end - start) and `early_exit`.
    """
    executed = trace.instructions
    ran = pl.DataFrame(_core.wave_paths(executed["wave"], executed["row"], trace.code.height))
    duration = pl.col("end_cycles") - pl.col("start_cycles")
    waves = trace.waves.select("wave", "kernel", duration_cycles=duration).join(
        ran.unique("wave", keep="first"), on="wave", how="left", maintain_order="left"
    )
    counts = ("instruction_count", "unresolved_count", "distinct_row_count", "signature")
    waves = waves.with_columns(*(pl.col(name).fill_null(0) for name in counts), pl.col("last_row").fill_null(-1))
    order = waves.group_by("kernel", "signature", maintain_order=True).agg(
        pl.col("duration_cycles").sum().alias("cycles")
    )
    paths = order.sort("cycles", descending=True, maintain_order=True).with_row_index("path").drop("cycles")
    waves = waves.join(paths, on=["kernel", "signature"], nulls_equal=True, maintain_order="left")
    fullest = pl.col("distinct_row_count").max().over("kernel")
    waves = waves.with_columns(early_exit=(fullest > 0) & (pl.col("distinct_row_count") <= fullest * EARLY_EXIT_SHARE))
    return waves.select(
        "wave",
        "kernel",
        "path",
        "instruction_count",
        "unresolved_count",
        "distinct_row_count",
        "last_row",
        "duration_cycles",
        "early_exit",
    )
