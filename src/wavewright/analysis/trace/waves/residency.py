"""Number of resident waves over time."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.waves.resident import resident_waves, waves_at
from wavewright.base.bounds import BINS, bounded
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class Residency:
    """Waves resident on all CUs of one shader engine, averaged over equal time bins."""

    se: int
    start_cycles: int
    end_cycles: int
    waves_mean: tuple[float, ...]


@bounded(bins=BINS)
def residency(trace: ThreadTrace, *, bins: int = 60) -> tuple[Residency, ...]:
    """Mean number of resident waves per shader engine in `bins` equal time bins, from the occupancy events.

    The mean of a bin is the integral of the number of resident waves over it, divided by its length. Waves that
    started before the trace count from its first event, those without an end to its last.
    """
    engines = resident_waves(trace).partition_by("se", as_dict=True, maintain_order=True)
    return tuple(curve for (se,), waves in engines.items() if (curve := _curve(se, waves, bins)) is not None)


def _curve(se: int, waves: pl.DataFrame, bins: int) -> Residency | None:
    start = waves["start_cycles"].min()
    end = waves["end_cycles"].max()
    if not isinstance(start, int) or not isinstance(end, int) or end <= start:
        return None
    length = (end - start) / bins
    edges = pl.Series([start + length * number for number in range(bins)] + [float(end)])
    means = waves_at(waves, edges).diff().slice(1) / length
    return Residency(se, start, end, tuple(means.to_list()))
