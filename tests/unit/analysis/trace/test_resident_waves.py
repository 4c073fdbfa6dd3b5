from __future__ import annotations

import polars as pl
import pytest

from wavewright.analysis.trace.occupancy.resident_waves import achieved, chosen_waves
from wavewright.analysis.trace.selection import Selection
from wavewright.analysis.trace.waves.resident import RESIDENT_WAVES, residency, resident_waves
from wavewright.model.schema import THREAD_TRACE, empty_frame
from wavewright.model.trace import ThreadTrace, TraceSource

Event = tuple[int, bool]


def trace_of(slots: dict[tuple[int, int, int, int], list[Event]], kernel: int | None = 0) -> ThreadTrace:
    """A trace with events (time, start) per (se, cu, simd, slot)."""
    rows = [
        {"se": se, "cu": cu, "simd": simd, "slot": slot, "time_cycles": time, "start": start, "kernel": kernel}
        for (se, cu, simd, slot), events in slots.items()
        for time, start in events
    ]
    empty = empty_frame(THREAD_TRACE["occupancy"])
    frame = pl.DataFrame(
        {name: [row.get(name) for row in rows] for name in empty.columns}, schema=dict(empty.schema)
    ).sort("time_cycles", maintain_order=True)
    return ThreadTrace({"occupancy": frame}, TraceSource(path="made", target="gfx942"))


def _spans(trace: ThreadTrace) -> list[tuple[int, int, bool, bool]]:
    columns = ("start_cycles", "end_cycles", "has_begin", "has_end")
    return sorted(resident_waves(trace).select(columns).rows())


def test_starts_and_ends_are_paired_within_a_slot() -> None:
    trace = trace_of(
        {(0, 1, 0, 0): [(10, True), (30, False), (30, True), (50, False)], (0, 1, 0, 1): [(20, True), (40, False)]}
    )
    assert _spans(trace) == [(10, 30, True, True), (20, 40, True, True), (30, 50, True, True)]
    assert resident_waves(trace).columns == [column.name for column in RESIDENT_WAVES.columns]


def test_open_ends_reach_to_the_last_event() -> None:
    trace = trace_of({(0, 1, 0, 0): [(10, True)], (0, 1, 0, 1): [(20, True), (90, False)]})
    assert _spans(trace) == [(10, 90, True, False), (20, 90, True, True)]


def test_waves_from_before_the_trace_begin_with_its_first_event() -> None:
    trace = trace_of({(0, 1, 0, 0): [(0, True), (60, False)], (0, 1, 0, 1): [(20, True), (90, False)]})
    assert _spans(trace) == [(20, 60, False, True), (20, 90, True, True)]


def test_lost_events_do_not_invent_waves() -> None:
    two_starts = trace_of({(0, 1, 0, 0): [(10, True), (30, True), (50, False)]})
    assert _spans(two_starts) == [(10, 30, True, False), (30, 50, True, True)]
    two_ends = trace_of({(0, 1, 0, 0): [(10, True), (30, False), (50, False)]})
    assert _spans(two_ends) == [(10, 30, True, True), (30, 50, False, True)]
    only_end = trace_of({(0, 1, 0, 0): [(50, False)], (0, 1, 0, 1): [(10, True), (60, False)]})
    assert _spans(only_end) == [(10, 50, False, True), (10, 60, True, True)]


def test_a_slot_that_changes_hands_in_one_cycle_holds_one_wave() -> None:
    found = achieved(resident_waves(trace_of({(0, 1, 0, 0): [(10, True), (30, False), (30, True), (50, False)]})))
    assert (found.waves_per_simd_max, found.waves_per_simd_mean, found.wave_count) == (1, 1.0, 2)
    assert not found.all_at_once


def test_means_count_every_simd_that_held_a_wave() -> None:
    slots = {
        (0, 1, 0, 0): [(0, True), (100, False)],
        (0, 1, 0, 1): [(1, True), (100, False)],
        (0, 1, 3, 0): [(1, True), (51, False)],
    }
    found = achieved(resident_waves(trace_of(slots)))
    assert (found.simd_count, found.waves_per_simd_max, found.all_at_once) == (2, 2, True)
    assert found.waves_per_simd_mean == pytest.approx((99 + 99 + 50) / (99 * 2))
    assert found.drain_share == 1.0


def test_the_choice_of_time_cuts_waves() -> None:
    trace = trace_of({(0, 1, 0, 0): [(10, True), (30, False)], (1, 1, 2, 1): [(20, True), (40, False)]})
    waves = resident_waves(trace)
    cut = chosen_waves(waves, trace, Selection(start_cycles=15, end_cycles=35))
    assert cut.select("start_cycles", "end_cycles").rows() == [(15, 30), (20, 35)]
    assert chosen_waves(waves, trace, Selection(shader_engines=(1,)))["simd"].to_list() == [2]
    assert chosen_waves(waves, trace, Selection(simds=(0,)))["se"].to_list() == [0]


def test_curves_are_exact_means() -> None:
    slots = {(0, 1, 0, 0): [(100, True), (200, False)], (0, 1, 1, 0): [(150, True), (300, False)]}
    (curve,) = residency(trace_of(slots), bins=4)
    assert (curve.start_cycles, curve.end_cycles) == (100, 300)
    assert curve.waves_mean == pytest.approx((1.0, 2.0, 1.0, 1.0))


def test_curves_conserve_wave_cycles_at_large_times() -> None:
    base = 1 << 45
    slots = {
        (0, cu, simd, 0): [(base + 7 * cu + simd, True), (base + 1000 + 3 * cu, False)]
        for cu in range(50)
        for simd in range(4)
    }
    trace = trace_of(slots)
    (curve,) = residency(trace, bins=37)
    waves = resident_waves(trace)
    total = (waves["end_cycles"] - waves["start_cycles"]).sum()
    width = (curve.end_cycles - curve.start_cycles) / 37
    assert sum(curve.waves_mean) * width == pytest.approx(total)
