"""Number of traced waves in each state, in bins of any length."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.common.step_functions import Sums
from wavewright.analysis.common.time_bins import TimeBins
from wavewright.analysis.trace.clocks import aligned
from wavewright.base.once import once
from wavewright.model.trace import ThreadTrace

_MOST_KEPT = 2  # sums of all states: every state of a tile is asked for in turn


@dataclass(frozen=True)
class StateCurve:
    """Number of waves in one state."""

    place: int  #: Of the state in `kinds`.
    kinds: bytes
    counts: _core.StateCounts
    step_count: int
    kept: dict[TimeBins, pl.DataFrame] = field(repr=False)  #: Sums of all states; shared by their curves.

    def sums(self, bins: TimeBins) -> Sums:
        """Wave-cycles, smallest and largest number in each bin. The last bin ends where all of them do."""
        table = once(self.kept, bins, lambda: pl.DataFrame(self.counts.bins(bins.numbers, bins.end_cycles, self.kinds)))
        for oldest in list(self.kept)[:-_MOST_KEPT]:
            self.kept.pop(oldest, None)
        of_state = table.slice(self.place * bins.count, bins.count)
        wave_cycles, low, high = (of_state[name].to_numpy().astype(np.float64) for name in of_state.columns)
        return Sums(wave_cycles, np.array(bins.lengths(), dtype=np.float64), low, high)


def wave_states(trace: ThreadTrace, origin_cycles: int, *, se: int | None = None) -> tuple[StateCurve, ...]:
    """A curve per state that occurs, in their order, of all shader engines or one; bins start at the origin."""
    if not trace.waves.height:
        return ()
    waves = aligned(trace, trace.waves, "start_cycles")
    if se is not None:
        waves = waves.filter(pl.col("se") == se)
    begin, first, count = waves["start_cycles"], waves["first_state"].fill_null(0), waves["state_count"].fill_null(0)
    state, duration = trace.states["state"], trace.states["duration_cycles"]
    kinds = bytes(state.unique().sort())
    counts = _core.StateCounts(begin, first, count, state, duration, origin_cycles)
    kept: dict[TimeBins, pl.DataFrame] = {}
    return tuple(StateCurve(place, kinds, counts, state.len(), kept) for place in range(len(kinds)))
