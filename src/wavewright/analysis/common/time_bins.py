"""Equal intervals of time into which curves are summed."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

FARTHEST_CYCLES = 1 << 48  #: As in the native core: later times come from damaged files.


@dataclass(frozen=True)
class TimeBins:
    """`count` bins of `width_cycles`; the last one may end after `end_cycles`."""

    start_cycles: int
    end_cycles: int
    width_cycles: int
    count: int

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Start, width and count, as the native core takes them."""
        return self.start_cycles, self.width_cycles, self.count

    @property
    def starts(self) -> list[int]:
        """First cycle of every bin."""
        return [self.start_cycles + number * self.width_cycles for number in range(self.count)]

    def lengths(self) -> list[int]:
        """Cycles of every bin up to the end."""
        return [min(self.width_cycles, self.end_cycles - start) for start in self.starts]


def time_bins(start_cycles: int, end_cycles: int, count: int) -> TimeBins:
    """At most `count` bins of whole cycles over [start, end)."""
    start = max(-FARTHEST_CYCLES, min(start_cycles, FARTHEST_CYCLES - 1))
    end = max(start + 1, min(end_cycles, FARTHEST_CYCLES))
    width = -(-(end - start) // max(count, 1))
    return TimeBins(start, end, width, -(-(end - start) // width))


def lengths_of(bins: TimeBins) -> pl.DataFrame:
    """Number, length and start of every bin, as a frame to join."""
    columns = {"bin": range(bins.count), "length": bins.lengths(), "start_cycles": bins.starts}
    return pl.DataFrame(columns, schema={"bin": pl.UInt32, "length": pl.Int64, "start_cycles": pl.Int64})


def step_means(changes: pl.DataFrame, group: str, bins: TimeBins) -> pl.DataFrame:
    """Means of step functions over the bins: columns `group`, `bin`, `start_cycles`, `mean`, for every group and bin.

    `changes` has the columns `group`, `time_cycles` and `change`: by how much the function of the group changes then.
    What changes before the first bin counts from its start on.
    """
    width = bins.width_cycles
    at = (pl.col("time_cycles") - bins.start_cycles).clip(lower_bound=0)
    rest = (at // width + 1) * width - at  # a change counts for the rest of its bin, and for every later bin
    per_bin = (
        changes.filter(pl.col("time_cycles") < bins.end_cycles)
        .group_by(group, bin=(at // width).cast(pl.UInt32))
        .agg(change=pl.col("change").sum(), inside=(pl.col("change") * rest).sum())
    )
    groups = changes.select(pl.col(group).unique(maintain_order=True))
    grid = groups.join(lengths_of(bins), how="cross", maintain_order="left_right")
    dense = grid.join(per_bin, on=[group, "bin"], how="left", maintain_order="left", nulls_equal=True).with_columns(
        pl.col("change", "inside").fill_null(0)
    )
    earlier = pl.col("change").cum_sum().over(group) - pl.col("change")
    # the last bin may end early: what is there stops counting at its end
    cut = (width - pl.col("length")) * (earlier + pl.col("change"))
    mean = (earlier * width + pl.col("inside") - cut) / pl.col("length")
    return dense.select(group, "bin", "start_cycles", mean=mean)
