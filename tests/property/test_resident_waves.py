"""Achieved occupancy against a cycle by cycle count."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.analysis.trace.test_resident_waves import trace_of
from wavewright.analysis.trace.occupancy.resident_waves import achieved
from wavewright.analysis.trace.waves.resident import residency, resident_waves

Slot = tuple[int, int, int, int]
_SLOTS = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1), st.integers(0, 2))
_LENGTHS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=4)


def _spans(lengths: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Gaps and lengths as stretches of residence."""
    spans, at = [], 0
    for gap, length in lengths:
        spans.append((at + gap, at + gap + length))
        at += gap + length
    return spans


@settings(deadline=None)
@given(st.dictionaries(_SLOTS, _LENGTHS, min_size=1, max_size=8))
def test_counts_equal_a_count_of_every_cycle(lengths: dict[Slot, list[tuple[int, int]]]) -> None:
    spans = {slot: _spans(chosen) for slot, chosen in lengths.items()}
    events = {
        slot: [(t, start) for a, b in mine for t, start in ((a, True), (b, False))] for slot, mine in spans.items()
    }
    trace = trace_of(events)
    found = achieved(resident_waves(trace))
    resident: dict[tuple[int, int, int], dict[int, int]] = {}
    for (se, cu, simd, _), mine in spans.items():
        counts = resident.setdefault((se, cu, simd), {})
        for begin, end in mine:
            for cycle in range(begin, end):
                counts[cycle] = counts.get(cycle, 0) + 1
    assert found.waves_per_simd_max == max(max(counts.values()) for counts in resident.values())
    firsts = {se: min(a for s, m in spans.items() if s[0] == se for a, _ in m) for se in {s[0] for s in spans}}
    lasts = {se: max(b for s, m in spans.items() if s[0] == se for _, b in m) for se in firsts}
    time = sum(lasts[se] - firsts[se] for se, _, _ in resident)
    busy = sum(sum(counts.values()) for counts in resident.values())
    assert found.waves_per_simd_mean == pytest.approx(busy / time)
    for curve in residency(trace, bins=lasts[0] - firsts[0] if 0 in firsts else 3):
        mine = [counts for (se, _, _), counts in resident.items() if se == curve.se]
        length = (curve.end_cycles - curve.start_cycles) / len(curve.waves_mean)
        assert sum(curve.waves_mean) * length == pytest.approx(sum(sum(counts.values()) for counts in mine))
        if curve.se == 0:  # one bin per cycle
            expected = [
                sum(counts.get(cycle, 0) for counts in mine) for cycle in range(curve.start_cycles, curve.end_cycles)
            ]
            assert list(curve.waves_mean) == pytest.approx(expected)
