"""Busy share of every pipe of every SIMD over time, and times without any issue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from wavewright.analysis.common.step_functions import StepCurve
from wavewright.analysis.trace.clocks.common_clock import aligned
from wavewright.analysis.trace.timeline.layers import layers
from wavewright.model.answer import once_per_trace

if TYPE_CHECKING:
    from wavewright.model.trace import ThreadTrace

NO_ISSUE = "no issue"  #: The curve of a SIMD that is 1 while a traced wave is there and no pipe issues.
RESIDENT = "resident"  #: The curve of a SIMD that is 1 while a traced wave is there.


@dataclass(frozen=True)
class PipeSeries:
    """A pipe of a SIMD, or what `NO_ISSUE` and `RESIDENT` say: 1 while it is so, else 0. Times are aligned."""

    se: int
    simd: int
    pipe: str
    #: Begin of the first traced wave of the SIMD, or of its engine where only a neighbour was traced.
    start_cycles: int
    end_cycles: int
    curve: StepCurve = field(default_factory=lambda: _curve(None), repr=False, compare=False)


@once_per_trace
def pipe_shares(trace: ThreadTrace) -> tuple[PipeSeries, ...]:
    """Curves of all pipes that issue anything, while they issue, as `utilization` counts that, SIMD by SIMD."""
    timeline = layers(trace).get("pipes")
    if timeline is None or timeline.tracks is None or timeline.spans is None:
        return ()
    issues = _changes(timeline.spans().select("track", start_cycles="begin", end_cycles="end"))
    by_track = {track: part for (track,), part in issues.partition_by("track", as_dict=True).items()}
    waves = aligned(trace, trace.waves, "start_cycles", "end_cycles").select("se", "simd", "start_cycles", "end_cycles")
    shares: list[PipeSeries] = []
    for (se, simd), tracks in timeline.tracks.partition_by("se", "simd", as_dict=True, maintain_order=True).items():
        simd_waves = waves.filter(pl.col("se").eq_missing(se), pl.col("simd").eq_missing(simd))
        around = simd_waves if simd_waves.height else waves.filter(pl.col("se").eq_missing(se))
        start, end = around["start_cycles"].min() or 0, around["end_cycles"].max() or 0
        resident = _curve(_changes(simd_waves))
        issued = pl.concat([by_track[track] for track in tracks["track"] if track in by_track] or [issues.clear()])
        curves = {pipe: _curve(by_track.get(track)) for track, pipe in tracks.select("track", "pipe").iter_rows()}
        curves |= {NO_ISSUE: _without(resident, _curve(issued)), RESIDENT: resident}
        shares += [PipeSeries(se, simd, pipe, start, end, curve) for pipe, curve in curves.items()]  # type: ignore[arg-type]
    return tuple(shares)


def _changes(spans: pl.DataFrame) -> pl.DataFrame:
    """+1 at the start of a span, -1 at its end."""
    keys = [name for name in spans.columns if name not in ("start_cycles", "end_cycles")]
    ends = [("start_cycles", 1), ("end_cycles", -1)]
    return pl.concat([spans.select(*keys, time_cycles=name, change=pl.lit(by, pl.Int64)) for name, by in ends])


def _curve(changes: pl.DataFrame | None) -> StepCurve:
    """1 where at least one span is."""
    if changes is None or not changes.height:
        return StepCurve(np.empty(0, dtype=np.int64), np.empty(0))
    depth = StepCurve.of_changes(changes)
    return StepCurve(depth.times, (depth.values > 0).astype(np.float64))


def _without(curve: StepCurve, other: StepCurve) -> StepCurve:
    """1 where the first is and the other is not."""
    times = np.union1d(curve.times, other.times)
    return StepCurve(times, ((curve.at(times) > 0) & (other.at(times) <= 0)).astype(np.float64))
