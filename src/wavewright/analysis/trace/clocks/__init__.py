"""Frequency of the shader clock, and offsets between the clocks of the shader engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.trace import ThreadTrace
from wavewright.model.traced_span import clock_mhz, realtime_hz

_SEED_CYCLES, _SEED_TICKS = 25, 1  # AMD's viewer adds them against a division by zero; equal offsets need them
_MAX_OFFSET_CYCLES = 1 << 46  # nine hours; beyond it the pairs are damaged


@dataclass(frozen=True)
class ClockAlignment(Answer, package=__package__):
    """Offsets that put the times of all shader engines on one clock."""

    offsets: Mapping[int, int]  #: Shader engine -> cycles to add to its times; 0 for all when not aligned.
    clock_mhz: float | None  #: None = not recorded.
    is_aligned: bool
    reason: str | None = None  #: Why the engines were not moved; None when they were, or when there is only one.

    def offset(self, se: int) -> int:
        """Cycles to add to the times of a shader engine.

        >>> ClockAlignment({0: 0, 1: 751}, 2077.9, is_aligned=True).offset(1)
        751
        """
        return self.offsets.get(se, 0)


@once_per_trace
def alignment(trace: ThreadTrace) -> ClockAlignment:
    """Put the clocks of the shader engines side by side; a part of a trace keeps the common clock of the whole."""
    if trace.part_of is not None:
        return alignment(trace.part_of[0])
    engines = _engines_with_data(trace)
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
        reason = "the realtime pairs contradict each other"
        return ClockAlignment(unmoved, frequency, is_aligned=False, reason=reason)
    return ClockAlignment(offsets, frequency, is_aligned=True)


def clock_curves(trace: ThreadTrace) -> pl.DataFrame:
    """Shader clock between neighbouring realtime pairs: from `time_cycles` (aligned) of engine `se` on, `mhz`.

    It is null behind the last pair of an engine, and where the wall clock does not grow.
    """
    cycles = pl.col("shader_clock_cycles").clip(-_MAX_OFFSET_CYCLES, _MAX_OFFSET_CYCLES)
    ticks = pl.col("realtime_ticks").cast(pl.Float64)
    offset = pl.col("se").replace_strict(dict(alignment(trace).offsets), default=0, return_dtype=pl.Int64)
    passed = (ticks.shift(-1) - ticks).over("se")
    rate = (cycles.shift(-1) - cycles).over("se") / passed * (realtime_hz(trace) / 1e6)
    pairs = trace.realtime.drop_nulls().unique(["se", "shader_clock_cycles"], keep="first", maintain_order=True)
    return pairs.sort("se", "shader_clock_cycles").select(
        "se", time_cycles=cycles + offset, mhz=pl.when(passed > 0).then(rate)
    )


@dataclass(frozen=True)
class _Span:
    """The pairs with the smallest and the largest shader clock of one engine."""

    first_cycles: int
    first_ticks: int
    cycles: int
    ticks: int


def _spans(trace: ThreadTrace) -> dict[int, _Span]:
    clock, ticks = pl.col("shader_clock_cycles"), pl.col("realtime_ticks")
    outer = (
        trace.realtime.drop_nulls()
        .group_by("se")
        .agg(
            clock.min(), clock.max().alias("last"), ticks.get(clock.arg_min()), ticks.get(clock.arg_max()).alias("end")
        )
        .sort("se")
    )
    return {
        row["se"]: _Span(
            row["shader_clock_cycles"],
            row["realtime_ticks"],
            row["last"] - row["shader_clock_cycles"],
            row["end"] - row["realtime_ticks"],
        )
        for row in outer.iter_rows(named=True)
    }


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


def _engines_with_data(trace: ThreadTrace) -> set[int]:
    tables = (trace.waves, trace.occupancy, trace.sampled_counters)
    return {se for table in tables for se in table["se"].unique().to_list()}
