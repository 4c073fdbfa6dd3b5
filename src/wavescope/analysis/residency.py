"""How many waves are resident over time?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavescope.model.thread_trace import ThreadTrace

__all__ = ["Residency", "residency"]


@dataclass(frozen=True)
class Residency:
    """Waves resident on all CUs of one shader engine, averaged over equal stretches of time.

    Examples
    --------
    >>> Residency(se=0, begin_cycles=0, end_cycles=100, waves_mean=(4.0, 8.0)).waves_mean[1]
    8.0
    """

    se: int
    begin_cycles: int
    end_cycles: int
    waves_mean: tuple[float, ...]


def residency(trace: ThreadTrace, *, bins: int = 60) -> tuple[Residency, ...]:
    """Mean number of resident waves per shader engine in `bins` equal stretches, from the occupancy events.

    The mean of a stretch is the integral of the number of resident waves over it, divided by its length. Starts
    without an end count to the end of the trace.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> residency(ThreadTrace({}, TraceSource(path="nothing")))
    ()
    """
    import polars as pl

    curves = []
    for (se,), events in trace.occupancy.partition_by("se", as_dict=True, maintain_order=True).items():
        ordered = events.sort("time_cycles", maintain_order=True)
        times = ordered["time_cycles"].to_list()
        resident = ordered.select(pl.when("start").then(1).otherwise(-1).cum_sum()).to_series().to_list()
        begin, end = times[0], times[-1]
        if end <= begin:
            continue
        sums = [0.0] * bins
        for value, start, stop in zip(resident, times, times[1:], strict=False):
            _spread(sums, value, (start - begin) * bins / (end - begin), (stop - begin) * bins / (end - begin))
        curves.append(Residency(se, begin, end, tuple(sums)))
    return tuple(curves)


def _spread(sums: list[float], value: float, start: float, stop: float) -> None:
    """Add `value` over [start, stop), in units of bins."""
    at = start
    while at < stop:
        index = min(int(at), len(sums) - 1)
        upto = min(stop, index + 1.0) if index < len(sums) - 1 else stop
        sums[index] += value * (upto - at)
        at = upto
