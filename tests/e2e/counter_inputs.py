"""A trace with counters: no real one is at hand, so it is made."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import polars as pl

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from wavewright.export.trace.ui_output import write_ui_output

NAMES = (
    "SQ_BUSY_CU_CYCLES", "SQ_ACTIVE_INST_VALU", "SQ_ACTIVE_INST_LDS", "SQ_ACTIVE_INST_VMEM", "SQ_ACTIVE_INST_FLAT",
    "SQ_ACTIVE_INST_SCA", "SQ_ACTIVE_INST_MISC", "SQ_VALU_MFMA_BUSY_CYCLES",
)  # fmt: skip


@cache
def made_counters() -> Path:
    """A decoded directory with named counters on two shader engines: all of utilization can be told from them."""
    folder = Path(mkdtemp(prefix="wavewright-e2e-"))
    kernels = (compiled("saxpy", "gfx942"),)
    scenario = Scenario(family="gfx9", kernels=kernels, shader_engines=2, realtime_pairs=6, counters=True, seed=3)
    write_capture(synthesize(scenario), folder / "capture")
    trace = wavewright.decode(folder / "capture")
    places = {"bank": [n // 4 for n in range(8)], "position": [n % 4 for n in range(8)], "name": list(NAMES)}
    trace.tables["counter_names"] = pl.DataFrame(places, schema=trace.counter_names.schema)
    return write_ui_output(trace, folder / "decoded")
