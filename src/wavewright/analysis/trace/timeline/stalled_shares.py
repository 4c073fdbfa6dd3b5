"""The share of time in which the waves of a slot stall, in bins of any length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.timeline.layers.instructions import instruction_waves, instructions

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from wavewright.model.trace import ThreadTrace

_MOST_SUMS = 1 << 22  #: Kept, over all tracks.


class StalledShares:
    """Stall cycles of every track of the timeline `instructions`; those of wide bins are kept."""

    def __init__(self, trace: ThreadTrace, start_cycles: int, end_cycles: int) -> None:
        """Add up the stalls."""
        tracks = instructions(trace).tracks
        self.track_count = 0 if tracks is None else tracks.height
        if tracks is None or not tracks.height:
            return
        most = max(1, _MOST_SUMS // tracks.height)
        bits = max(0, (-(-(end_cycles - start_cycles) // most) - 1).bit_length())
        kept = start_cycles, 1 << bits, -(-(end_cycles - start_cycles) >> bits)
        waves = instruction_waves(trace, tracks)
        self._cycles = _core.StalledCycles(waves, trace.instructions, tracks.height, kept)

    def shares(self, begin: int, width: int, count: int) -> npt.NDArray[np.float64]:
        """Shares of `count` bins of `width` cycles for every track, one after the other: tracks x bins."""
        if not self.track_count:
            return pl.Series([], dtype=pl.Float64).to_numpy().reshape(0, count)
        cycles = pl.DataFrame(self._cycles.bins((begin, width, count)))["cycles"].to_numpy()
        return cycles.reshape(self.track_count, count) / width
