"""Cycles of loop iterations by their number: which iteration is slow in all waves?"""

from __future__ import annotations

import polars as pl

from wavewright.model.schema import packaged_spec

#: Iteration numbers of a loop, from its entry on, that have a row; fewer where that many loops have too many rows.
_MOST_ITERATIONS = 4096
_MOST_ROWS = 1 << 16

ITERATIONS = packaged_spec(__package__, "iterations")
#: The columns that `slowest_iterations` adds to loops, for `table_spec`.
SLOWEST_COLUMNS = """
    slowest_iteration        UInt32?  -       | iteration number with the largest mean, of those that at least half of the entries reached
    slowest_cycles_mean      Float64? cycles  | mean duration of that iteration
    slowest_ratio            Float64? -       | the same / the median of the means of these iteration numbers
"""  # noqa: E501 - a line is a column


def by_iteration(iterations: pl.DataFrame) -> pl.DataFrame:
    """Means of `_core.loop_iterations` by loop and iteration number (`ITERATIONS`)."""
    most = min(_MOST_ITERATIONS, _MOST_ROWS // max(1, iterations["loop"].n_unique()))
    cycles = pl.col("cycles")
    is_longer = cycles > cycles.median().over("loop", "wave")
    return (
        iterations.lazy()
        .with_columns(is_longer=is_longer)
        .filter(pl.col("iteration") < most)
        .group_by("loop", "iteration")
        .agg(
            wave_count=pl.col("wave").n_unique().cast(pl.Int64),
            execution_count=pl.len().cast(pl.Int64),
            cycles_mean=cycles.mean(),
            cycles_min=cycles.min(),
            cycles_max=cycles.max(),
            stall_cycles_mean=pl.col("stall_cycles").mean(),
            longer_share=pl.col("is_longer").mean(),
        )
        .sort("loop", "iteration")
        .select(pl.col(name).cast(dtype) for name, dtype in ITERATIONS.dtypes.items())
        .collect()
    )


def slowest_iterations(iterations: pl.DataFrame) -> pl.DataFrame:
    """The slowest iteration number of every loop (`loop` and `SLOWEST_COLUMNS`), from `by_iteration`.

    Examples
    --------
    >>> columns = {"loop": [0, 0, 0], "iteration": [0, 1, 2], "execution_count": [8, 8, 8]}
    >>> frame = pl.DataFrame({**columns, "cycles_mean": [20.0, 30.0, 20.0]})
    >>> slowest_iterations(frame).row(0)
    (0, 1, 30.0, 1.5)
    """
    is_usual = 2 * pl.col("execution_count") >= pl.col("execution_count").max().over("loop")
    return (
        iterations.filter(is_usual)
        .with_columns(middle=pl.col("cycles_mean").median().over("loop"))
        .sort("loop", "cycles_mean", "iteration", descending=[False, True, False])
        .group_by("loop", maintain_order=True)
        .agg(
            slowest_iteration=pl.col("iteration").first(),
            slowest_cycles_mean=pl.col("cycles_mean").first(),
            slowest_ratio=(pl.col("cycles_mean") / pl.col("middle")).first().fill_nan(None),
        )
    )
