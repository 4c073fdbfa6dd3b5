"""All shader engines of a made capture share one wall clock, as real ones do."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from synth.planner import _CLOCK_STARTS_TICKS, _CYCLES_PER_TICK


@pytest.mark.parametrize("seed", [1, 7])
def test_the_clocks_began_together(tmp_path: Path, seed: int) -> None:
    kernels = (compiled("saxpy", "gfx942"),)
    scenario = Scenario(kernels=kernels, shader_engines=3, realtime_pairs=2, seed=seed)
    write_capture(synthesize(scenario), tmp_path)
    pairs = wavewright.open(tmp_path).realtime
    zero = pl.col("realtime_ticks").cast(pl.Int64) - pl.col("shader_clock_cycles") // _CYCLES_PER_TICK
    starts = pairs.group_by("se").agg(zero.min())["realtime_ticks"].to_list()
    assert len(starts) == 3
    assert max(starts) - min(starts) <= _CLOCK_STARTS_TICKS
