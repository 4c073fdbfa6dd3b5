"""Times of a trace on one clock: every shader engine's clock aligned to the first."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.common.time_bins import FARTHEST_CYCLES, TimeBins, time_bins
from wavewright.analysis.trace.clocks import alignment
from wavewright.model.trace import ThreadTrace


def bins_of_trace(trace: ThreadTrace, count: int) -> TimeBins:
    """At most `count` bins over everything that is drawn over time: traced waves and, of a whole trace, occupancy."""
    waves = aligned(trace, trace.waves, "start_cycles", "end_cycles")
    spans = [waves.select(first=pl.col("start_cycles").min(), last=pl.col("end_cycles").max())]
    if trace.part_of is None or not waves.height:
        # a start at cycle 0 of its engine's clock happened before the trace: it does not say when that began
        events = aligned(trace, trace.occupancy.filter(pl.col("time_cycles") != 0), "time_cycles")
        spans.append(events.select(first=pl.col("time_cycles").min(), last=pl.col("time_cycles").max()))
    both = pl.concat(spans).drop_nulls()
    return time_bins(min(both["first"].to_list(), default=0), max(both["last"].to_list(), default=0), count)


def engine_offsets(trace: ThreadTrace) -> pl.Expr:
    """Cycles that put times on the common clock, for a frame with the column `se`."""
    offsets = alignment(trace).offsets
    if not any(offsets.values()):
        return pl.lit(0, pl.Int64)
    return pl.col("se").replace_strict(offsets, default=0, return_dtype=pl.Int64)


def aligned(trace: ThreadTrace, frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The frame with the offset of its shader engine added to time columns; also as column `offset`."""
    offsets = alignment(trace).offsets
    table = pl.DataFrame(
        {"se": list(offsets), "offset": list(offsets.values())}, schema={"se": pl.UInt16, "offset": pl.Int64}
    )
    bound = pl.lit(FARTHEST_CYCLES, pl.Int64)
    return frame.join(table, on="se", how="left", maintain_order="left").with_columns(
        pl.col("offset").fill_null(0),
        *(pl.col(name).clip(-bound, bound) + pl.col("offset").fill_null(0) for name in columns),
    )
