"""What each code row cost over all traced waves: hit, latency, stall and idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from wavescope.model import ThreadTrace

__all__ = ["row_totals"]


def row_totals(trace: ThreadTrace) -> pl.DataFrame:
    """Totals of every code row that was executed, in row order.

    Columns: `row` (code.row), `hit_count` (executions), `latency_cycles_total` (sum of durations),
    `stall_cycles_total` (sum of stalls) and `idle_cycles_total` (sum of the gaps before its executions: from the
    latest end of the wave's earlier instructions, or the wave's begin, to the first attempt to issue). Overlapping
    instructions have no gap. Instructions without a known PC have no row; as in AMD's writer they neither count nor
    end a gap.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> row_totals(ThreadTrace({}, TraceSource(path="nothing"))).columns[:2]
    ['row', 'hit_count']
    """
    import polars as pl

    # 64 bits before any sum: polars adds 32-bit columns in 32 bits.
    time, stall, duration = (pl.col(f"{name}_cycles").cast(pl.Int64) for name in ("time", "stall", "duration"))
    earlier_end = (time + duration).cum_max().shift(1).over("wave")
    gap_start = pl.max_horizontal(earlier_end, "begin_cycles")
    return (
        trace.instructions.lazy()
        .filter(pl.col("row") >= 0)
        .join(trace.waves.lazy().select("wave", "begin_cycles"), on="wave", how="left", maintain_order="left")
        .with_columns(idle=(time - gap_start).clip(lower_bound=0))
        .group_by("row")
        .agg(
            hit_count=pl.len().cast(pl.Int64),
            latency_cycles_total=duration.sum(),
            stall_cycles_total=stall.sum(),
            idle_cycles_total=pl.col("idle").sum(),
        )
        .sort("row")
        .collect()
    )
