"""Waves by compute unit or SIMD: how long they ran, and how much of it they stalled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.clocks import aligned
from wavewright.analysis.trace.selection import traced_waves
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.base.bounds import CYCLES, bounded
from wavewright.facts import gpus
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.trace import ThreadTrace

Level = Literal["cu", "simd"]


@dataclass(frozen=True)
class WavesByPlace(Answer, package=__package__):
    """Waves by compute unit or SIMD."""

    start_cycles: int  #: Of the time that the means are over, aligned.
    end_cycles: int
    places: pl.DataFrame


@bounded(start_cycles=CYCLES, end_cycles=CYCLES)
def waves_by_place(
    trace: ThreadTrace, *, by: Level = "cu", start_cycles: float | None = None, end_cycles: float | None = None
) -> WavesByPlace:
    """Waves by compute unit or SIMD; `start_cycles` and `end_cycles` (aligned) cut the time of resident waves.

    Traced waves are those of the trace: where they are to be cut, too, it is a selected part of the time.
    """
    where = ["se", "cu", *(["simd"] if by == "simd" else [])]
    resident = _resident(trace).select(*where, "has_begin", "has_end", start="start_cycles", end="end_cycles")
    first: float = resident.select(pl.col("start").min().fill_null(0)).item()
    last: float = resident.select(pl.col("end").max().fill_null(0)).item()
    start = first if start_cycles is None else start_cycles
    end = last if end_cycles is None else end_cycles
    length = max(end - start, 0)
    cut = resident.filter((pl.col("start") < end) & (pl.col("end") > start))
    is_seen = pl.col("has_begin") & pl.col("has_end")
    cycles = pl.min_horizontal("end", pl.lit(end)) - pl.max_horizontal("start", pl.lit(start))
    waves = cut.group_by(where).agg(
        wave_count=pl.len().cast(pl.Int64),
        duration_cycles_mean=(pl.col("end") - pl.col("start")).filter(is_seen).mean(),
        resident_waves_mean=cycles.sum() / length if length else pl.lit(None, pl.Float64),
    )
    joined = waves.join(_traced(trace, where), on=where, how="full", coalesce=True)
    return WavesByPlace(int(start), int(end), _placed(trace, joined))


def _resident(trace: ThreadTrace) -> pl.DataFrame:
    """Waves of all compute units on one clock; where no starts are recorded, the traced ones."""
    waves = resident_waves(trace)
    if not trace.occupancy.height:
        waves = trace.waves.with_columns(has_begin=pl.lit(value=True), has_end="complete")
    return aligned(trace, waves, "start_cycles", "end_cycles")


def _traced(trace: ThreadTrace, where: list[str]) -> pl.DataFrame:
    stall = stall_of_waves(trace).select("wave", stall="stall_cycles_total")
    waves = trace.waves.join(stall, on="wave", how="left").sort("start_cycles", "wave")
    return waves.group_by(where).agg(
        traced_wave_count=pl.len().cast(pl.Int64),
        instruction_count=pl.col("instruction_count").cast(pl.Int64).sum(),
        cycles_total=(pl.col("end_cycles") - pl.col("start_cycles")).sum(),
        stall_cycles_total=pl.col("stall").fill_null(0).sum(),
        first_wave=pl.col("wave").first(),
    )


def _placed(trace: ThreadTrace, places: pl.DataFrame) -> pl.DataFrame:
    """The rows with die and shader array, in the order of places."""
    per_die = engines_per_die(trace.source.target)
    is_rdna = max(trace.shader_engines["gfxip"].to_list(), default=9) > 9
    cycles = pl.col("cycles_total")
    full = places.with_columns(
        xcc=pl.col("se") // per_die if per_die else pl.lit(None, pl.UInt16),
        sa=pl.col("cu") // 128 if is_rdna else pl.lit(None, pl.UInt8),
        simd=pl.col("simd") if "simd" in places.columns else pl.lit(None, pl.UInt8),
        wave_count=pl.col("wave_count").fill_null(0),
        traced_wave_count=pl.col("traced_wave_count").fill_null(0),
        stall_share=pl.when(cycles > 0).then(pl.col("stall_cycles_total") / cycles),
    )
    return full.select(WavesByPlace.tables["places"].casts).sort("se", "cu", "simd")


def engines_per_die(target: str | None) -> int | None:
    """Shader engines of one accelerator die (XCD); None = there is one die, or the GPU is not known."""
    if target is None or target not in gpus.TARGETS:
        return None
    product = gpus.of(target).product
    dies = max(product.xcds_per_partition.values(), default=1)
    return product.se_count // dies if product.se_count and dies > 1 else None


@once_per_trace
def stall_of_waves(trace: ThreadTrace) -> pl.DataFrame:
    """`wave` and `stall_cycles_total` of all waves with instructions."""
    waves = traced_waves(trace)
    no_track, no_time = pl.lit(0, pl.UInt32), pl.lit(0, pl.Int64)
    wave_places = waves.select(track=no_track, time=no_time, first="first_instruction", count="instruction_count")
    sums = pl.DataFrame(_core.stall_of_waves(wave_places, trace.instructions["stall_cycles"]))
    return waves.select("wave").hstack(sums)
