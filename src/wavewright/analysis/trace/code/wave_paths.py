"""The path of each wave through the code."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

#: A wave left early when it executed s_endpgm on a path that stays at or below all of these shares of the fullest path
#: of its kernel: of its different code rows, of its instructions, of its cycles (medians of the waves). One share alone
#: would name other waves too: waves that load for the others run few rows, but often, or stay as long as the others.
#: Early exits of real kernels: 1 to 9 % of the rows, 0.4 to 9 % of the instructions, 1 to 6 % of the cycles; the
#: shortest other path: 86 % of the rows, 17 % of the instructions, 23 % of the cycles.
EARLY_EXIT_SHARES = {"distinct_row_count": 0.25, "instruction_count": 0.25, "duration_cycles": 0.5}


@once_per_trace
def wave_paths(trace: ThreadTrace) -> pl.DataFrame:
    """One row per wave, in the order of `waves`; waves that ran the same set of code rows have the same path.

    Columns: `wave`, `kernel`, `path` (0 = the path on which most cycles were spent; waves without traced instructions
    come last), `instruction_count`, `unresolved_count`, `distinct_row_count`, `last_row`, `duration_cycles`
    (end - start) and `early_exit`.
    """
    executed = trace.instructions
    ran = pl.DataFrame(_core.wave_paths(executed["wave"], executed["row"], executed["category"], trace.code.height))
    duration = pl.col("end_cycles") - pl.col("start_cycles")
    waves = trace.waves.select("wave", "kernel", "complete", duration_cycles=duration).join(
        ran.unique("wave", keep="first"), on="wave", how="left", maintain_order="left"
    )
    counts = ("instruction_count", "unresolved_count", "distinct_row_count")
    waves = waves.with_columns(pl.col(*counts, "signature").fill_null(0), pl.col("last_row").fill_null(-1))
    same_path = ["kernel", "signature", "is_traced"]
    waves = waves.with_columns(is_traced=pl.col("instruction_count") > 0)
    order = waves.group_by(same_path, maintain_order=True).agg(cycles=pl.col("duration_cycles").sum())
    order = order.sort("is_traced", "cycles", descending=True, maintain_order=True)
    paths = order.with_row_index("path").drop("cycles")
    waves = waves.join(paths, on=same_path, nulls_equal=True, maintain_order="left")
    waves = waves.with_columns(early_exit=_is_early_exit(trace))
    return waves.select("wave", "kernel", "path", *counts, "last_row", "duration_cycles", "early_exit")


def early_waves(trace: ThreadTrace) -> pl.Series:
    """Numbers of the waves that left early, in order: they say little about the work of their kernel."""
    return wave_paths(trace).filter("early_exit")["wave"]


def _is_early_exit(trace: ThreadTrace) -> pl.Expr:
    ends = trace.code.filter(pl.col("text").str.starts_with("s_endpgm"))["row"]
    has_left = pl.col("complete").fill_null(value=True) & pl.col("last_row").is_in(ends.implode())
    is_fullest = pl.col("distinct_row_count") == pl.col("distinct_row_count").max().over("kernel")
    is_short = [
        pl.col(name).median().over("path") <= share * pl.col(name).filter(is_fullest).median().over("kernel")
        for name, share in EARLY_EXIT_SHARES.items()
    ]
    return pl.all_horizontal(has_left, pl.col("instruction_count") > 0, *is_short).fill_null(value=False)
