"""The states of waves on their slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.analysis.timeline import Timeline
from wavescope.analysis.tracks._instructions import of_waves
from wavescope.analysis.tracks._places import aligned, bounds, cell_bits, lane_of, slot_lanes
from wavescope.model.schema import STATES

if TYPE_CHECKING:
    import polars as pl

    from wavescope.model import ThreadTrace

__all__ = ["states"]


def states(trace: ThreadTrace) -> Timeline:
    """The stretches of a wave's life, one after the other from its begin; items are rows of `states`."""
    lanes = slot_lanes(trace, trace.waves.filter(trace.waves["state_count"] > 0))
    begin, end = bounds(trace)
    kinds = tuple({"kind": number, "name": name, "colour": name} for number, name in STATES.items())
    return Timeline(
        "states", "Wave states", "cycles", begin, end, cell_bits(trace),
        lanes=lanes, kinds=kinds, spans=lambda: _spans(trace, lanes),
    )  # fmt: skip


def _spans(trace: ThreadTrace, lanes: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    table = trace.states
    waves = trace.waves.select("wave", lane_of(lanes, trace.waves), aligned(trace, "begin_cycles"))
    length = pl.col("duration_cycles").cast(pl.Int64).clip(lower_bound=0)
    placed = table.select(
        "wave",
        of_waves(table, waves, "lane").fill_null(lanes.height).alias("lane"),
        of_waves(table, waves, "begin_cycles").fill_null(0).alias("wave_begin"),
        pl.col("state").cast(pl.UInt16).alias("kind"),
        length.alias("length"),
        upto=length.cum_sum(),
    )
    # a wave's stretches follow each other in the table: what lies before them is the sum up to its first one
    is_first = pl.col("wave").ne_missing(pl.col("wave").shift(1))
    before = pl.when(is_first).then(pl.col("upto") - pl.col("length")).forward_fill()
    end = pl.col("wave_begin") + pl.col("upto") - before
    return placed.select("lane", (end - pl.col("length")).alias("begin"), end.alias("end"), "kind")
