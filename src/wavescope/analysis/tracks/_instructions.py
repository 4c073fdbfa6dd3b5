"""The executed instructions on the slots of their waves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.analysis._pipes import matrix_rows
from wavescope.analysis.timeline import Timeline
from wavescope.analysis.tracks._places import CATEGORY_KINDS, MATRIX, aligned, bounds, cell_bits, lane_of, slot_lanes

if TYPE_CHECKING:
    import polars as pl

    from wavescope.model import ThreadTrace

__all__ = ["instructions", "kinds_of", "of_waves"]


def instructions(trace: ThreadTrace) -> Timeline:
    """From the first attempt to issue to the end of the stall or the duration; items are rows of `instructions`."""
    lanes = slot_lanes(trace, trace.waves.filter(trace.waves["instruction_count"] > 0))
    begin, end = bounds(trace)
    return Timeline(
        "instructions", "Instructions", "cycles", begin, end, cell_bits(trace),
        lanes=lanes, kinds=CATEGORY_KINDS, spans=lambda: _spans(trace, lanes), parts_overlaps=False,
    )  # fmt: skip


def _spans(trace: ThreadTrace, lanes: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    table = trace.instructions
    waves = trace.waves.select(
        "wave", lane_of(lanes, trace.waves), aligned(trace, "begin_cycles") - pl.col("begin_cycles")
    )
    lane, offset = of_waves(table, waves, "lane"), of_waves(table, waves, "begin_cycles")
    placed = table.select(
        lane.fill_null(lanes.height).alias("lane"),
        begin=pl.col("time_cycles") + offset,
        length=pl.max_horizontal("stall_cycles", "duration_cycles").cast(pl.Int64),
        kind=kinds_of(trace),
    )
    return placed.select("lane", "begin", (pl.col("begin") + pl.col("length")).alias("end"), "kind")


def of_waves(table: pl.DataFrame, waves: pl.DataFrame, column: str) -> pl.Series:
    """A column of waves for every row of a table with the column `wave`."""
    import polars as pl

    numbers = waves["wave"]
    if not numbers.len():
        return pl.Series(column, [None], waves[column].dtype).new_from_index(0, table.height)
    if numbers.max() == numbers.len() - 1 and numbers.is_sorted() and numbers.n_unique() == numbers.len():
        return waves[column].gather(table["wave"].clip(upper_bound=numbers.len() - 1))
    return table.select("wave").join(waves.select("wave", column), on="wave", how="left", maintain_order="left")[column]


def kinds_of(trace: ThreadTrace) -> pl.Series:
    """The category of every instruction, MATRIX for matrix instructions."""
    import polars as pl

    table, category = trace.instructions, trace.instructions["category"].cast(pl.UInt16)
    is_matrix = matrix_rows(trace.code)
    if not is_matrix.any():
        return category
    rows = pl.DataFrame({"row": trace.code["row"], "is_matrix": is_matrix}).filter("is_matrix")["row"]
    return pl.select(
        pl.when(table["row"].is_in(rows.implode())).then(pl.lit(MATRIX, pl.UInt16)).otherwise(category)
    ).to_series()
