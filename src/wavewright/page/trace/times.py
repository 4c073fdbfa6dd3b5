"""Times of a trace on the page: cycles of the shader engines, moved to one common clock."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.trace.clocks import engine_offsets
from wavewright.model.trace import ThreadTrace


def aligned(trace: ThreadTrace, column: str) -> pl.Expr:
    """The aligned cycles of a column, for a frame that also has the column `se`."""
    return (pl.col(column).cast(pl.Int64) + engine_offsets(trace)).alias(column)


def time_range(trace: ThreadTrace) -> tuple[int, int]:
    """The first and the last aligned cycle at which anything of a trace happens; (0, 0) when nothing does.

    Occupancy events at cycle 0 stand for waves that began before the trace: they do not count.
    """
    events = trace.occupancy.filter(pl.col("time_cycles") > 0)
    spans = [
        trace.waves.select(begin=aligned(trace, "start_cycles"), end=aligned(trace, "end_cycles")),
        *(
            table.select(begin=aligned(trace, "time_cycles"), end=aligned(trace, "time_cycles"))
            for table in (events, trace.sampled_counters)
        ),
    ]
    both = pl.concat(spans).drop_nulls()
    return (int(both["begin"].min()), int(both["end"].max())) if both.height else (0, 0)  # type: ignore[arg-type]


def traced_range(trace: ThreadTrace) -> tuple[int, int] | None:
    """The first start and the last end of a traced wave, in aligned cycles; None when none was traced."""
    both = trace.waves.select(aligned(trace, "start_cycles"), aligned(trace, "end_cycles")).drop_nulls()
    first, last = both["start_cycles"].min(), both["end_cycles"].max()
    return None if first is None or last is None else (int(first), int(last))  # type: ignore[arg-type]
