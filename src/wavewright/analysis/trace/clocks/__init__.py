"""Clocks of a trace: frequency of the shader clock, and offsets that put all shader engines on one clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from wavewright.analysis.common.time_bins import FARTHEST_CYCLES, TimeBins, time_bins
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.trace import ThreadTrace
from wavewright.model.traced_span import clock_mhz, realtime_hz

#: The sums of cycles and ticks start with these, as in AMD's viewer (against a division by zero), for equal offsets.
_SEED_CYCLES, _SEED_TICKS = 25, 1
_MAX_OFFSET_CYCLES = 1 << 46  # nine hours; beyond it the pairs are damaged


@dataclass(frozen=True)
class ClockAlignment(Answer, package=__package__):
    """Offsets that put the times of all shader engines on one clock."""

    offsets: Mapping[int, int]  #: Shader engine -> cycles to add to its times; 0 for all when not aligned.
    clock_mhz: float | None  #: None = not recorded.
    is_aligned: bool
    reason: str | None = None  #: Why the engines were not moved; None when they were, or when there is only one.

    def offset(self, se: int) -> int:
        """Cycles to add to the times of a shader engine."""
        return self.offsets.get(se, 0)


@once_per_trace
def alignment(trace: ThreadTrace) -> ClockAlignment:
    """Put the clocks of the shader engines side by side; a part of a trace keeps the common clock of the whole."""
    if trace.part_of is not None:
        return alignment(trace.part_of[0])
    tables = (trace.waves, trace.occupancy, trace.sampled_counters)
    engines = {se for table in tables for se in table["se"].unique()}
    spans = _spans(trace)
    frequency = clock_mhz(trace)
    unmoved = dict.fromkeys(sorted(engines | set(spans)), 0)
    if len(engines) < 2:
        return ClockAlignment(unmoved, frequency, is_aligned=False)
    missing = sorted(engines - set(spans))
    if missing:
        which = "any shader engine" if len(missing) == len(engines) else f"SE {', '.join(map(str, missing))}"
        return ClockAlignment(unmoved, frequency, is_aligned=False, reason=f"no realtime pairs of {which}")
    offsets = _offsets(spans)
    if offsets is None:
        return ClockAlignment(unmoved, frequency, is_aligned=False, reason="the realtime pairs contradict each other")
    return ClockAlignment(offsets, frequency, is_aligned=True)


def clock_curves(trace: ThreadTrace) -> pl.DataFrame:
    """Shader clock between neighbouring realtime pairs: from `time_cycles` (aligned) of engine `se` on, `mhz`.

    It is null behind the last pair of an engine, and where the wall clock does not grow.
    """
    cycles = pl.col("shader_clock_cycles").clip(-_MAX_OFFSET_CYCLES, _MAX_OFFSET_CYCLES)
    ticks = pl.col("realtime_ticks").cast(pl.Float64)
    passed = (ticks.shift(-1) - ticks).over("se")
    rate = (cycles.shift(-1) - cycles).over("se") / passed * (realtime_hz(trace) / 1e6)
    pairs = trace.realtime.drop_nulls().unique(["se", "shader_clock_cycles"], keep="first", maintain_order=True)
    return pairs.sort("se", "shader_clock_cycles").select(
        "se", time_cycles=cycles + engine_offsets(trace), mhz=pl.when(passed > 0).then(rate)
    )


class _Span(NamedTuple):
    """The pairs with the smallest and the largest shader clock of one engine."""

    first_cycles: int  #: Shader clock of the first pair.
    first_ticks: int  #: Wall clock of the first pair.
    cycles: int  #: From the first pair to the last.
    ticks: int  #: Wall clock from the first pair to the last.


def _spans(trace: ThreadTrace) -> dict[int, _Span]:
    clock, ticks = pl.col("shader_clock_cycles"), pl.col("realtime_ticks")
    outer = (
        trace.realtime.drop_nulls()
        .group_by("se")
        .agg(clock.min(), last=clock.max(), tick=ticks.get(clock.arg_min()), last_tick=ticks.get(clock.arg_max()))
        .sort("se")
    )
    return {se: _Span(first, tick, last - first, end - tick) for se, first, last, tick, end in outer.iter_rows()}


def _offsets(spans: Mapping[int, _Span]) -> dict[int, int] | None:
    """Offsets as AMD's viewer computes them, in 64-bit floats; None where the clocks make no sense."""
    growing = [span for span in spans.values() if span.cycles > 0 and span.ticks > 0 and span.first_cycles > 0]
    if not growing:
        return None
    cycles = _SEED_CYCLES + sum(span.cycles for span in growing)
    ticks_per_cycle = (_SEED_TICKS + sum(span.ticks for span in growing)) / cycles
    origins = {se: span.first_ticks - span.first_cycles * ticks_per_cycle for se, span in spans.items()}
    anchor = min(origins.values())
    offsets = {se: int((origin - anchor) / ticks_per_cycle) for se, origin in origins.items()}
    longest = max(span.first_cycles + span.cycles for span in spans.values())
    return offsets if max(offsets.values()) <= min(longest, _MAX_OFFSET_CYCLES) else None


def bins_of_trace(trace: ThreadTrace, count: int) -> TimeBins:
    """At most `count` bins over everything that is drawn over time: traced waves and, of a whole trace, occupancy."""
    waves = aligned(trace, trace.waves, "start_cycles", "end_cycles")
    spans = [waves.select(first=pl.col("start_cycles").min(), last=pl.col("end_cycles").max())]
    if trace.part_of is None or not waves.height:
        # a start at cycle 0 of its engine's clock happened before the trace: it does not say when that began
        events = aligned(trace, trace.occupancy.filter(pl.col("time_cycles") != 0), "time_cycles")
        spans.append(events.select(first=pl.col("time_cycles").min(), last=pl.col("time_cycles").max()))
    both = pl.concat(spans).drop_nulls()
    return time_bins(min(both["first"].to_list(), default=0), max(both["last"].to_list(), default=0), count)


def engine_offsets(trace: ThreadTrace) -> pl.Expr:
    """Cycles that put times on the common clock, for a frame with the column `se`."""
    offsets = alignment(trace).offsets
    if not any(offsets.values()):
        return pl.lit(0, pl.Int64)
    return pl.col("se").replace_strict(offsets, default=0, return_dtype=pl.Int64)


def aligned_cycles(trace: ThreadTrace, column: str) -> pl.Expr:
    """A column of times on the common clock, for a frame with the column `se`."""
    return pl.col(column).cast(pl.Int64).clip(-FARTHEST_CYCLES, FARTHEST_CYCLES) + engine_offsets(trace)


def aligned(trace: ThreadTrace, frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The frame with these columns of times on the common clock; the cycles that were added are the column `offset`."""
    return frame.with_columns(*(aligned_cycles(trace, name) for name in columns), offset=engine_offsets(trace))
