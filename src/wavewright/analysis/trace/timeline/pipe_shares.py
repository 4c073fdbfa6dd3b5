"""Busy share of every pipe of every SIMD over time, and times without any issue."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.common.step_functions import Sums
from wavewright.analysis.common.time_bins import TimeBins
from wavewright.analysis.trace.clocks import aligned
from wavewright.analysis.trace.pipes import BUBBLE, BUSY, PIPES, RESIDENT
from wavewright.analysis.trace.timeline.layers.pipes import busy_times, pipe_tracks
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

NO_ISSUE = "no issue"  #: The curve of a SIMD that is 1 while a traced wave is there and no pipe issues.
ALIVE = "resident"  #: The curve of a SIMD that is 1 while a traced wave is there.
_KINDS = {NO_ISSUE: BUBBLE, ALIVE: RESIDENT}
_NUMBERS = {pipe: number for number, pipe in enumerate(PIPES)} | _KINDS


@dataclass(frozen=True)
class PipeSeries:
    """A pipe of a SIMD, or what `NO_ISSUE` and `ALIVE` say: 1 while it is so, else 0. Times are aligned."""

    se: int
    simd: int
    pipe: str
    #: Begin of the first traced wave of the SIMD, or of its engine where only a neighbour was traced.
    start_cycles: int
    end_cycles: int
    unit: int = field(repr=False, compare=False)  #: Number of the SIMD in `times`.
    times: _core.BusyTimes = field(repr=False, compare=False)
    kind: int  #: Of its times.

    step_count = 0  #: Sums are stored already.

    def sums(self, bins: TimeBins) -> Sums:
        """Cycles of each bin, and whether it is so at any time and all the time. The last bin ends where all do."""
        table = self.times.covered(self.unit, self.kind, bins.numbers, bins.end_cycles)
        covered = pl.DataFrame(table)["cycles"].to_numpy()
        edges = bins.start_cycles + bins.width_cycles * np.arange(bins.count + 1, dtype=np.int64)
        lengths = np.diff(np.minimum(edges, bins.end_cycles))
        low, high = (covered == lengths).astype(np.float64), (covered > 0).astype(np.float64)
        return Sums(covered.astype(np.float64), lengths.astype(np.float64), low, high)


@once_per_trace
def pipe_shares(trace: ThreadTrace) -> tuple[PipeSeries, ...]:
    """Curves of all pipes that issue anything, while they issue, as `utilization` counts that, SIMD by SIMD."""
    tracks = pipe_tracks(trace)
    if not tracks.height:
        return ()
    times = busy_times(trace)
    waves = aligned(trace, trace.waves, "start_cycles", "end_cycles").select("se", "simd", "start_cycles", "end_cycles")
    shares: list[PipeSeries] = []
    for (se, simd, unit), part in tracks.partition_by("se", "simd", "unit", as_dict=True, maintain_order=True).items():
        simd_waves = waves.filter(pl.col("se").eq_missing(se), pl.col("simd").eq_missing(simd))
        around = simd_waves if simd_waves.height else waves.filter(pl.col("se").eq_missing(se))
        start, end = around["start_cycles"].min() or 0, around["end_cycles"].max() or 0
        shares += [
            PipeSeries(se, simd, pipe, start, end, unit, times, _NUMBERS[pipe])  # type: ignore[arg-type]
            for pipe in (*part["pipe"], *_KINDS)
        ]
    return tuple(shares)


def busy_shares(trace: ThreadTrace) -> tuple[PipeSeries, ...]:
    """Curves of the pipes that instructions occupy for longer than they issue on some SIMD, while they are busy.

    They are of all SIMDs: one on which the pipe is busy only while it issues counts as well.
    """
    shares = pipe_shares(trace)
    busy = [replace(share, kind=BUSY + share.kind) for share in shares]
    is_long = [usage.times.total(usage.unit, usage.kind) > 0 for usage in busy]
    pipes = {usage.pipe for usage, is_one in zip(busy, is_long, strict=True) if is_one}
    longest = (usage if is_one else share for usage, share, is_one in zip(busy, shares, is_long, strict=True))
    return tuple(usage for usage in longest if usage.pipe in pipes)
