"""Stall of every traced wave."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.selection import traced_waves
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace


@once_per_trace
def stall_of_waves(trace: ThreadTrace) -> pl.DataFrame:
    """`wave` and `stall_cycles_total` of all waves with instructions."""
    waves = traced_waves(trace)
    nowhere = {"track": pl.lit(0, pl.UInt32), "time": pl.lit(0, pl.Int64)}
    placed = waves.select(**nowhere, first="first_instruction", count="instruction_count")
    sums = pl.DataFrame(_core.stall_of_waves(placed, trace.instructions["stall_cycles"]))
    return waves.select("wave").hstack(sums)
