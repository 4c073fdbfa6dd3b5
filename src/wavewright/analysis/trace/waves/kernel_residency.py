"""Resident waves of each kernel on each shader engine over time."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.time_bins import TimeBins, step_means
from wavewright.analysis.trace.clocks import ClockAlignment, aligned, alignment, bins_of_trace
from wavewright.base.bounds import BINS, bounded
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.trace import ThreadTrace

_MAX_CELLS = 1 << 20


@dataclass(frozen=True)
class KernelResidency(Answer, package=__package__):
    """Resident waves on all CUs of the traced shader engines."""

    engines: pl.DataFrame
    kernels: pl.DataFrame
    engine_curves: pl.DataFrame
    kernel_curves: pl.DataFrame
    start_cycles: int  #: Start of the first bin, on the aligned clock.
    end_cycles: int
    bin_cycles: int
    bin_count: int
    clocks: ClockAlignment


@bounded(bins=BINS)
def kernel_residency(trace: ThreadTrace, *, bins: int = 60) -> KernelResidency:
    """Residency per shader engine and per kernel in at most `bins` time bins."""
    events = residency_changes(trace)
    groups = max(1, events["se"].n_unique(), events["kernel"].n_unique())
    grid = bins_of_trace(trace, min(bins, max(1, _MAX_CELLS // groups)))
    names = trace.kernels.select("kernel", name="demangled")
    kernels = _waves(events, "kernel").join(names, on="kernel", how="left", maintain_order="left", nulls_equal=True)
    return KernelResidency(
        engines=_waves(events, "se"),
        kernels=kernels.select("kernel", "name", "start_count", "wave_count_max"),
        engine_curves=_curves(events, "se", grid),
        kernel_curves=_curves(events, "kernel", grid),
        start_cycles=grid.start_cycles,
        end_cycles=grid.end_cycles,
        bin_cycles=grid.width_cycles,
        bin_count=grid.count,
        clocks=alignment(trace),
    )


@once_per_trace
def residency_changes(trace: ThreadTrace) -> pl.DataFrame:
    """Starts and ends of waves as changes of +1 and -1, by aligned time: `se`, `cu`, `time_cycles`, `kernel`, `change`.

    Ends that have no start and starts in a taken slot are left out. An end counts for the kernel of its start.
    """
    events = aligned(trace, trace.occupancy, "time_cycles")
    slot = ["se", "cu", "simd", "slot"]
    # at one cycle the end comes first: the slot is free before it is taken again
    ordered = events.sort("time_cycles", "start", maintain_order=True)
    before = pl.col("start").shift(1, fill_value=False).over(slot)
    kernel = pl.when("start").then("kernel").otherwise(pl.col("kernel").shift(1).over(slot))
    return ordered.filter(pl.col("start") != before).select(
        "se", "cu", "time_cycles", kernel=kernel, change=pl.when("start").then(1).otherwise(-1).cast(pl.Int64)
    )


def _waves(events: pl.DataFrame, group: str) -> pl.DataFrame:
    """Starts and the most waves at once, per group."""
    return (
        events.with_columns(resident=pl.col("change").cum_sum().over(group))
        .group_by(group)
        .agg(start_count=(pl.col("change") > 0).sum().cast(pl.UInt32), wave_count_max=pl.col("resident").max())
        .sort(group, nulls_last=True)
    )


def _curves(events: pl.DataFrame, group: str, grid: TimeBins) -> pl.DataFrame:
    return step_means(events, group, grid).rename({"mean": "wave_count_mean"})
