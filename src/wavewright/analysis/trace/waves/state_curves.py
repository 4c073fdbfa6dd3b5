"""Number of traced waves in each state over time."""

from __future__ import annotations

import polars as pl

from wavewright.model.trace import ThreadTrace


def state_curves(trace: ThreadTrace, *, per_se: bool = True) -> pl.DataFrame:
    """Step functions: from `time_cycles` until the next row of the same curve, `wave_count` waves are in `state`.

    Columns: `se` (only with `per_se`), `state`, `time_cycles`, `wave_count`; sorted in that order. There is a row for
    every time at which an interval of the state starts or ends, even where the count stays the same.

    With `per_se=False` the shader engines are added up on their own clocks, which do not have the same zero: that is
    how AMD's tools write the curves, and only of use for comparing with them.
    """
    duration = pl.col("duration_cycles").cast(pl.Int64)
    # a running sum over all waves; less what it was before the wave, it is the time since the start of the wave
    summed = trace.states.lazy().with_columns(end=duration.cum_sum())
    firsts = summed.group_by("wave").agg(before=pl.col("end").first() - duration.first())
    begins_of_waves = (
        trace.waves.lazy().join(firsts, on="wave").select("wave", "se", moved=pl.col("start_cycles") - pl.col("before"))
    )
    intervals = summed.join(begins_of_waves, on="wave", maintain_order="left").with_columns(
        end=pl.col("end") + pl.col("moved")
    )
    curve = ["se", "state"] if per_se else ["state"]
    starts = intervals.select(*curve, time_cycles=pl.col("end") - duration, change=pl.lit(1, pl.Int64))
    ends = intervals.select(*curve, time_cycles=pl.col("end"), change=pl.lit(-1, pl.Int64))
    return (
        pl.concat([starts, ends])
        .group_by(*curve, "time_cycles")
        .agg(pl.col("change").sum())
        .sort(*curve, "time_cycles")
        .select(*curve, "time_cycles", wave_count=pl.col("change").cum_sum().over(curve))
        .collect()
    )
