"""Wall-clock time of the traced waves, and the durations of the dispatch that agree with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.model.answer import once_per_trace

if TYPE_CHECKING:
    from wavewright.model.trace import ThreadTrace

#: Frequency of the wall clock where the capture does not name it: that of every MI300 seen so far.
DEFAULT_REALTIME_HZ = 100_000_000
#: A dispatch is not shorter than its waves (but for the error of the clock), and longer by its launch and by the caches
#: that are written back behind it: 1.3 to 7.3 µs in all twelve MI300X dispatches at hand that have a database of the
#: same process, of 2 to 76 µs, and the engines that were not traced may run a little longer.
CLOCK_ERROR_SHARE, LONGER_SHARE, LONGER_NS = 0.02, 0.10, 8_000


def realtime_hz(trace: ThreadTrace) -> int:
    """Ticks of the wall clock per second."""
    return max(trace.shader_engines["realtime_hz"].drop_nulls().to_list(), default=0) or DEFAULT_REALTIME_HZ


@once_per_trace
def clock_mhz(trace: ThreadTrace) -> float | None:
    """Cycles per wall-clock microsecond over all shader engines, from the outermost realtime pairs of each."""
    import polars as pl

    clock, ticks = pl.col("shader_clock_cycles"), pl.col("realtime_ticks")
    outer = (
        trace.realtime.drop_nulls()
        .group_by("se")
        .agg(
            cycles=clock.max() - clock.min(),
            ticks=ticks.get(clock.arg_max()).cast(pl.Float64) - ticks.get(clock.arg_min()).cast(pl.Float64),
        )
    )
    engines = outer.filter((pl.col("cycles") > 0) & (pl.col("ticks") > 0))
    ticks_total = float(engines["ticks"].sum())
    return int(engines["cycles"].sum()) / ticks_total * realtime_hz(trace) / 1e6 if ticks_total else None


def traced_span_ns(trace: ThreadTrace) -> float | None:
    """From the first to the last event of a wave, of the shader engine where that is longest; None = no clock."""
    import polars as pl

    mhz = clock_mhz(trace)
    if not mhz:
        return None
    starts, ends = pl.col("start_cycles"), pl.col("end_cycles")
    time = pl.col("time_cycles")
    waves = trace.waves.group_by("se").agg(span=ends.max() - starts.min())
    events = trace.occupancy.filter(time > 0).group_by("se").agg(span=time.max() - time.min())
    spans = [span for table in (waves, events) for span in table["span"].drop_nulls().to_list()]
    longest = max(spans, default=0)
    return longest / mhz * 1e3 if longest > 0 else None


def agreeing_durations_ns(span_ns: float) -> tuple[float, float]:
    """The shortest and the longest duration of a dispatch whose traced waves last this long."""
    return span_ns * (1 - CLOCK_ERROR_SHARE), span_ns * (1 + LONGER_SHARE) + LONGER_NS
