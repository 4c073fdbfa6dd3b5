"""Bytes that one execution of each instruction requests at most."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.trace.code.accesses import accesses
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

_GFX9_LANES = 64
_GFX9 = 9


def lanes_per_wave(trace: ThreadTrace) -> int | None:
    """Lanes of a wave: 64 on gfx9, on RDNA what the code objects of all kernels say; None = not known, or mixed."""
    if trace.gfxip == _GFX9:
        return _GFX9_LANES
    sizes = trace.kernels["wave_size"].unique().to_list()
    return sizes[0] if len(sizes) == 1 else None


@once_per_trace
def requested_bytes(trace: ThreadTrace) -> pl.DataFrame:
    """The columns of `accesses` for every code row that touches memory, and `requested_bytes` (Int64).

    That is what one execution requests at most: all lanes active. Null = the text does not tell the width, or the
    trace not the lanes of a wave.
    """
    lanes = pl.when(pl.col("space") == "scalar").then(1).otherwise(pl.lit(lanes_per_wave(trace), pl.Int64))
    return accesses(trace.code).with_columns(requested_bytes=pl.col("bytes_per_lane").cast(pl.Int64) * lanes)
