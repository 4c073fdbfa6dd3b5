"""From when to when did each wave of the traced shader engines occupy its slot?"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.time_bins import TimeBins, step_means
from wavewright.analysis.trace.clocks import ClockAlignment, aligned, alignment, bins_of_trace
from wavewright.base.bounds import BINS, bounded
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

RESIDENT_WAVES = packaged_spec(__package__, "resident_waves")

_SLOT = ("se", "cu", "simd", "slot")


@once_per_trace
def resident_waves(trace: ThreadTrace) -> pl.DataFrame:
    """The occupancy events, paired: a start with the next end of the same slot.

    A start at time 0 means a wave that was there before the trace: it starts with the first event that has a
    time. Two starts in a row: the first wave ends where the second starts. Two ends in a row: the second one belongs
    to a wave whose start was lost; it is assumed to start where the first ended.
    """
    time = pl.col("time_cycles")
    events = (
        trace.occupancy.lazy()
        .select(*_SLOT, "kernel", "start", "time_cycles")
        .with_columns(se_begin=pl.when(time > 0).then(time).min().over("se").fill_null(0), se_end=time.max().over("se"))
        # Sorting by time keeps the order of events in one cycle: an end comes before the start that takes its slot.
        .sort(*_SLOT, "time_cycles", maintain_order=True)
        .with_columns(
            next_start=_beside("start", -1),
            next_time=_beside("time_cycles", -1),
            next_kernel=_beside("kernel", -1),
            previous_start=_beside("start", 1),
            previous_time=_beside("time_cycles", 1),
        )
    )
    started = events.filter("start").select(
        *_SLOT,
        kernel=pl.coalesce("kernel", pl.when(~pl.col("next_start")).then("next_kernel")),
        start_cycles=pl.max_horizontal("time_cycles", "se_begin"),
        end_cycles=pl.coalesce("next_time", "se_end"),
        has_begin=time > 0,
        has_end=pl.col("next_start").is_not_null() & ~pl.col("next_start").fill_null(value=True),
    )
    orphans = events.filter(~pl.col("start") & ~pl.col("previous_start").fill_null(value=False)).select(
        *_SLOT,
        "kernel",
        start_cycles=pl.coalesce("previous_time", "se_begin"),
        end_cycles="time_cycles",
        has_begin=pl.lit(value=False),
        has_end=pl.lit(value=True),
    )
    waves = pl.concat([started, orphans]).with_columns(end_cycles=pl.max_horizontal("start_cycles", "end_cycles"))
    return waves.sort("se", "start_cycles", maintain_order=True).collect()


def _beside(column: str, step: int) -> pl.Expr:
    """The value of the event before or after in the same slot, of events sorted by slot; null = none."""
    is_same_slot = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift(step)) for name in _SLOT)
    is_inside = pl.int_range(pl.len()) >= step if step > 0 else pl.int_range(pl.len()) < pl.len() + step
    return pl.when(is_same_slot & is_inside).then(pl.col(column).shift(step))


def waves_at(waves: pl.DataFrame, times: pl.Series) -> pl.Series:
    """The integral of the number of resident waves from the start to each of `times`, in wave cycles.

    The mean between two times is the difference of their integrals over the difference of the times. Linear in waves,
    apart from sorting.
    """
    total = pl.zeros(times.len(), dtype=pl.Float64, eager=True)
    origin = waves["start_cycles"].min()  # sums of large times would lose cycles
    since = (times - origin).cast(pl.Float64)
    for column, sign in (("start_cycles", 1.0), ("end_cycles", -1.0)):
        at = (waves[column] - origin).cast(pl.Float64).sort()
        sums = pl.concat([pl.Series([0.0]), at.cum_sum()])
        before = at.search_sorted(since, side="right")
        total += sign * (before.cast(pl.Float64) * since - sums.gather(before))
    return total


@dataclass(frozen=True)
class Residency:
    """Waves resident on all CUs of one shader engine, averaged over equal time bins."""

    se: int
    start_cycles: int
    end_cycles: int
    waves_mean: tuple[float, ...]


@bounded(bins=BINS)
def residency(trace: ThreadTrace, *, bins: int = 60) -> tuple[Residency, ...]:
    """Mean number of resident waves per shader engine in `bins` equal time bins, from the occupancy events.

    The mean of a bin is the integral of the number of resident waves over it, divided by its length. Waves that
    started before the trace count from its first event, those without an end to its last.
    """
    engines = resident_waves(trace).partition_by("se", as_dict=True, maintain_order=True)
    return tuple(curve for (se,), waves in engines.items() if (curve := _curve(se, waves, bins)) is not None)


def _curve(se: int, waves: pl.DataFrame, bins: int) -> Residency | None:
    start = waves["start_cycles"].min()
    end = waves["end_cycles"].max()
    if not isinstance(start, int) or not isinstance(end, int) or end <= start:
        return None
    length = (end - start) / bins
    edges = pl.Series([start + length * number for number in range(bins)] + [float(end)])
    means = waves_at(waves, edges).diff().slice(1) / length
    return Residency(se, start, end, tuple(means.to_list()))


_MAX_CELLS = 1 << 20  #: Values of all curves together at most: with many groups there are fewer bins.


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
