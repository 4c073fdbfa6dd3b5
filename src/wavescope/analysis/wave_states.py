"""How many traced waves are in each state over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from wavescope.model import ThreadTrace

__all__ = ["state_curves"]


def state_curves(trace: ThreadTrace, *, per_se: bool = True) -> pl.DataFrame:
    """Step functions: from `time_cycles` until the next row of the same curve, `wave_count` waves are in `state`.

    Columns: `se` (only with `per_se`), `state`, `time_cycles`, `wave_count`; sorted in that order. There is a row for
    every time at which a stretch of the state begins or ends, even where the count stays the same.

    With `per_se=False` the shader engines are added up on their own clocks, which do not have the same zero: that is
    how AMD's tools write the curves, and only of use for comparing with them.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> state_curves(ThreadTrace({}, TraceSource(path="nothing"))).columns
    ['se', 'state', 'time_cycles', 'wave_count']
    """
    import polars as pl

    duration = pl.col("duration_cycles").cast(pl.Int64)
    stretches = (
        trace.states.lazy()
        .join(trace.waves.lazy().select("wave", "se", "begin_cycles"), on="wave", maintain_order="left")
        .with_columns(end=pl.col("begin_cycles") + duration.cum_sum().over("wave"))
    )
    curve = ["se", "state"] if per_se else ["state"]
    begins = stretches.select(*curve, time_cycles=pl.col("end") - duration, change=pl.lit(1, pl.Int64))
    ends = stretches.select(*curve, time_cycles=pl.col("end"), change=pl.lit(-1, pl.Int64))
    return (
        pl.concat([begins, ends])
        .group_by(*curve, "time_cycles")
        .agg(pl.col("change").sum())
        .sort(*curve, "time_cycles")
        .select(*curve, "time_cycles", wave_count=pl.col("change").cum_sum().over(curve))
        .collect()
    )
