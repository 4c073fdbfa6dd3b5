"""Waves on the SIMDs that had any."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from wavewright.analysis.trace.clocks import engine_offsets
from wavewright.analysis.trace.selection import Selection, wave_filter
from wavewright.model.trace import ThreadTrace

_SIMD = ("se", "cu", "simd")


@dataclass(frozen=True)
class Achieved:
    """Occupancy that a set of resident waves reached on their SIMDs."""

    start_cycles: int
    end_cycles: int
    simd_count: int
    wave_count: int
    waves_per_simd_max: int
    waves_per_simd_mean: float
    drain_share: float  #: Share of the time after the last wave started: no more work came.
    all_at_once: bool  #: Whether every wave started before any on its SIMD ended.


def achieved(waves: pl.DataFrame) -> Achieved:
    """Most and mean waves per SIMD over rows of `resident_waves`, at least one.

    The mean is the sum of the waves' times over the time from the first start to the last end in their shader
    engine, counted once for each SIMD that held one of them.
    """
    length = (pl.col("end_cycles") - pl.col("start_cycles")).sum()
    window = pl.col("end_cycles").max() - pl.col("start_cycles").min()
    drain = pl.col("end_cycles").max() - pl.col("start_cycles").max()
    engines = waves.group_by("se").agg(busy=length, window=window, drain=drain, simds=pl.struct(_SIMD).n_unique())
    time = int((engines["window"] * engines["simds"].cast(pl.Int64)).sum())
    most, all_at_once = _most(waves)
    ends, starts = waves["end_cycles"].max(), waves["start_cycles"].min()
    return Achieved(
        start_cycles=starts if isinstance(starts, int) else 0,
        end_cycles=ends if isinstance(ends, int) else 0,
        simd_count=int(engines["simds"].sum()),
        wave_count=waves.height,
        waves_per_simd_max=most,
        waves_per_simd_mean=int(engines["busy"].sum()) / time if time else float(most),
        drain_share=int(engines["drain"].sum()) / max(1, int(engines["window"].sum())),
        all_at_once=all_at_once,
    )


def chosen_waves(waves: pl.DataFrame, trace: ThreadTrace, selection: Selection | None) -> pl.DataFrame:
    """Rows of `resident_waves` of the chosen kernels, shader engines and SIMDs, cut to the chosen time."""
    if selection is None:
        return waves
    waves = waves.filter(wave_filter(trace, replace(selection, waves=())))
    if selection.chooses_time:
        start, end = (time - engine_offsets(trace) for time in selection.window)
        waves = waves.filter((pl.col("end_cycles") > start) & (pl.col("start_cycles") < end)).with_columns(
            pl.col("start_cycles").clip(lower_bound=start), pl.col("end_cycles").clip(upper_bound=end)
        )
    return waves


def _most(waves: pl.DataFrame) -> tuple[int, bool]:
    """Most waves on one SIMD at a time; and whether every SIMD held all of its waves at one time."""
    starts = waves.select(*_SIMD, time="start_cycles", change=pl.lit(1, pl.Int32))
    ends = waves.select(*_SIMD, time="end_cycles", change=pl.lit(-1, pl.Int32))
    per_simd = (
        pl.concat([starts, ends])
        .sort("time", "change")  # in one cycle, a wave leaves before another takes its place
        .with_columns(resident=pl.col("change").cum_sum().over(_SIMD))
        .group_by(_SIMD)
        .agg(most=pl.col("resident").max(), started=(pl.col("change") > 0).sum())
    )
    # A wave of no length leaves before it comes; it was there all the same.
    most = per_simd.select(pl.col("most").clip(lower_bound=1))
    return int(most.max().item()), bool((per_simd["most"] >= per_simd["started"]).all())
