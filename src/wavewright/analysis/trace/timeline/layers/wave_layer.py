"""Layers of waves: all of them by kernel, workgroup, dispatch or duration, from the occupancy events; their states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.common.step_functions import Sums
from wavewright.analysis.common.time_bins import TimeBins
from wavewright.analysis.common.timeline import NO_KIND, LayerNumbers, Timeline
from wavewright.analysis.trace.clocks import aligned, aligned_cycles
from wavewright.analysis.trace.timeline.layers.common_time import SLOT, rows_of_waves, slot_tracks, timeline, track_of
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.base.once import once
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import STATE_MEANINGS, STATES
from wavewright.model.trace import ThreadTrace


def waves(trace: ThreadTrace) -> Timeline:
    """From start to end, by kernel; items are rows of `resident_waves`."""
    tracks = slot_tracks(trace, trace.occupancy)
    names = trace.kernels.select("kernel", "demangled", "name").rows()
    kinds: list[dict[str, Any]] = [
        {"kind": min(number, NO_KIND - 1), "name": name or symbol} for number, name, symbol in names
    ]
    if trace.occupancy["kernel"].null_count() and resident_waves(trace)["kernel"].null_count():
        kinds.append({"kind": NO_KIND, "name": "unknown kernel", "colour": "NONE"})
    return timeline(trace, "waves", "Waves", tracks, kinds, spans=lambda: _spans(trace, tracks))


def _spans(trace: ThreadTrace, tracks: pl.DataFrame) -> pl.DataFrame:
    table = resident_waves(trace)
    return table.select(
        track_of(tracks, table),
        begin=aligned_cycles(trace, "start_cycles"),
        end=aligned_cycles(trace, "end_cycles"),
        kind=pl.col("kernel").clip(upper_bound=NO_KIND - 1).fill_null(NO_KIND).cast(pl.UInt16),
    )


def states(trace: ThreadTrace) -> Timeline:
    """The states of each wave, one after the other from its start; items are rows of `states`."""
    tracks = slot_tracks(trace, trace.waves.filter(trace.waves["state_count"] > 0))
    kinds = [
        {"kind": number, "name": name, "colour": name, "meaning": STATE_MEANINGS[name]}
        for number, name in STATES.items()
        if number in trace.executed.state_cycles
    ]

    def pyramid(layer: LayerNumbers) -> _core.SpanPyramid:
        start = aligned_cycles(trace, "start_cycles").alias("time")
        _, first, count = rows_of_waves(trace, "state")
        waves = trace.waves.select(track_of(tracks, trace.waves), start, first, count)
        return _core.state_pyramid(layer, waves, trace.states)

    return timeline(trace, "states", "Wave states", tracks, kinds, pyramid=pyramid)


_STEPS = 6  #: Kinds of durations; each has about the same number of waves.


def by_workgroup(trace: ThreadTrace) -> Timeline | None:
    """By the number of the workgroup that occupancy records have; None where none has one."""
    if not trace.occupancy["is_ext"].any():
        return None
    return _grouped(trace, "workgroup", lambda: _starts(trace)["workgroup"], lambda n: f"workgroup {n}")


def by_dispatch(trace: ThreadTrace) -> Timeline | None:
    """By the dispatch that launched them; None where fewer than two were seen."""
    if trace.dispatches.height < 2:
        return None
    return _grouped(trace, "dispatch", lambda: _dispatches(trace), lambda n: f"dispatch {n + 1}")


def by_duration(trace: ThreadTrace) -> Timeline | None:
    """By how long they were resident, from short to long; None where there is none."""
    edges = _duration_edges(trace)
    if not edges:
        return None
    names = [
        f"up to {upper:,} cycles" if n == 0 else f"{lower + 1:,} to {upper:,} cycles"
        for n, (lower, upper) in enumerate(zip((0, *edges), edges, strict=False))
    ]
    kinds = [{"kind": n, "name": name, "colour": f"step {n} {len(edges)}"} for n, name in enumerate(names)]

    def values() -> pl.Series:
        return pl.Series(edges, dtype=pl.Int64).search_sorted(_lengths(trace), side="left").cast(pl.Int64)

    return _timeline(trace, "duration", values, kinds=kinds)


def _grouped(trace: ThreadTrace, name: str, values: Callable[[], pl.Series], label: Callable[[int], str]) -> Timeline:
    def kinds() -> tuple[dict[str, Any], ...]:
        numbers = values()
        named_kinds: list[dict[str, Any]] = [
            {"kind": n, "name": label(n)} for n in numbers.drop_nulls().unique().sort()
        ]
        unknown = [{"kind": NO_KIND, "name": f"{name} not known", "colour": "NONE"}] if numbers.null_count() else []
        return (*named_kinds, *unknown)

    return _timeline(trace, name, values, late_kinds=kinds)


def _timeline(trace: ThreadTrace, by: str, values: Callable[[], pl.Series], **kinds: Any) -> Timeline:
    tracks = slot_tracks(trace, trace.occupancy)

    def spans() -> pl.DataFrame:
        kind = values().clip(upper_bound=NO_KIND - 1).fill_null(NO_KIND).cast(pl.UInt16)
        return _spans(trace, tracks).with_columns(kind.alias("kind"))

    return timeline(trace, f"waves_by_{by}", f"Waves by {by}", tracks, tracks_of="waves", spans=spans, **kinds)


def _lengths(trace: ThreadTrace) -> pl.Series:
    return resident_waves(trace).select(pl.col("end_cycles") - pl.col("start_cycles")).to_series()


@once_per_trace
def _duration_edges(trace: ThreadTrace) -> tuple[int, ...]:
    """The longest duration of every kind."""
    lengths = _lengths(trace)
    if not lengths.len():
        return ()
    parts = [lengths.quantile((n + 1) / _STEPS, "higher") for n in range(_STEPS)]
    return tuple(sorted({int(part or 0) for part in parts}))


@once_per_trace
def _starts(trace: ThreadTrace) -> pl.DataFrame:
    """Of every resident wave what its start records: micro engine, pipe, workgroup where that is known."""
    columns = ("me", "pipe", "workgroup")
    workgroup = pl.when("is_ext").then(pl.col("workgroup")).cast(pl.Int64).alias("workgroup")
    keys = [*SLOT, "time_cycles"]
    starts = trace.occupancy.filter("start").select(*keys, "me", "pipe", workgroup).unique(keys, keep="first")
    table = resident_waves(trace)
    time = pl.when("has_begin").then("start_cycles").otherwise(0).alias("time_cycles")
    return table.with_columns(time).join(starts, on=keys, how="left", maintain_order="left").select(columns)


def _dispatches(trace: ThreadTrace) -> pl.Series:
    """Of every resident wave the last dispatch before it from the micro engine and pipe that started it."""
    keys = ["se", "me", "pipe"]
    table = pl.concat([resident_waves(trace).select("se", "start_cycles"), _starts(trace)], how="horizontal")
    launches = trace.dispatches.with_row_index("dispatch").select("dispatch", *keys, "time_cycles").sort("time_cycles")
    sorted_rows = table.with_row_index("at").sort("start_cycles", maintain_order=True)
    rows = sorted_rows.join_asof(
        launches, left_on="start_cycles", right_on="time_cycles", by=keys, strategy="backward", check_sortedness=False
    )
    return rows.sort("at")["dispatch"].cast(pl.Int64)


_MOST_CACHED = 2  #: Time grids whose sums are cached: the curves of all states ask for the same grid in turn.


@dataclass(frozen=True)
class StateCurve:
    """Number of waves in one state."""

    place: int  #: Of the state in `kinds`.
    kinds: bytes
    counts: _core.StateCounts
    step_count: int
    cached: dict[TimeBins, pl.DataFrame] = field(repr=False)  #: Sums of all states; shared by their curves.

    def sums(self, bins: TimeBins) -> Sums:
        """Wave-cycles, smallest and largest number in each bin. The last bin ends where all of them do."""
        counts, numbers = self.counts, (bins.numbers, bins.end_cycles, self.kinds)
        table = once(self.cached, bins, lambda: pl.DataFrame(counts.bins(*numbers)))
        for oldest in list(self.cached)[:-_MOST_CACHED]:
            self.cached.pop(oldest, None)
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
    start, first, count = waves["start_cycles"], waves["first_state"].fill_null(0), waves["state_count"].fill_null(0)
    state, duration = trace.states["state"], trace.states["duration_cycles"]
    kinds = bytes(state.unique().sort())
    counts = _core.StateCounts(start, first, count, state, duration, origin_cycles)
    cached: dict[TimeBins, pl.DataFrame] = {}
    return tuple(StateCurve(place, kinds, counts, state.len(), cached) for place in range(len(kinds)))
