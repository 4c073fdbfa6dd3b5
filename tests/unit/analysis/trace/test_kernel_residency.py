"""Resident waves per shader engine and per kernel over time."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_traces import made
from tests.kit.sampling import examples
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.waves.resident import kernel_residency
from wavewright.model.trace import ThreadTrace


def traced(events: list[tuple[int, int, int, bool, int | None]]) -> ThreadTrace:
    """Events: shader engine, cycle, slot, start, kernel."""
    names = ("se", "time_cycles", "slot", "start", "kernel")
    columns = dict(zip(names, ([event[at] for event in events] for at in range(5)), strict=True))
    return made([], occupancy=frame("occupancy", columns, cu=0, simd=0))


def means(curves: pl.DataFrame, **group: int) -> list[float]:
    return curves.filter(**group)["wave_count_mean"].to_list()


def test_curves_per_engine_and_kernel() -> None:
    events = [
        (0, 10, 0, True, 0),
        (0, 20, 1, True, 1),
        (0, 30, 1, False, 1),
        (0, 50, 0, False, 0),
        (1, 10, 0, True, 1),
        (1, 50, 0, False, 1),
    ]
    answer = kernel_residency(traced(events), bins=4)
    assert answer.engines.rows() == [(0, 2, 2), (1, 1, 1)]
    assert answer.kernels.rows() == [(0, "main_kernel", 1, 1), (1, None, 2, 2)]
    assert means(answer.engine_curves, se=0) == [1.0, 2.0, 1.0, 1.0]
    assert means(answer.kernel_curves, kernel=1) == [1.0, 2.0, 1.0, 1.0]


def test_ends_without_a_start_and_starts_without_an_end() -> None:
    events = [(0, 10, 0, False, 0), (0, 10, 1, True, 0), (0, 20, 1, True, 0), (0, 30, 2, True, 0)]
    answer = kernel_residency(traced(events), bins=2)
    assert answer.engines.rows() == [(0, 2, 2)]
    assert means(answer.engine_curves, se=0) == [1.0, 1.0]


def test_a_slot_that_is_taken_again_at_once() -> None:
    events = [(0, 10, 0, True, 0), (0, 20, 0, True, 1), (0, 20, 0, False, 0), (0, 30, 0, False, 1)]
    answer = kernel_residency(traced(events), bins=2)
    assert means(answer.kernel_curves, kernel=0) == [1.0, 0.0]
    assert means(answer.kernel_curves, kernel=1) == [0.0, 1.0]


def test_starts_before_the_trace_do_not_stretch_it() -> None:
    events = [(0, 0, 0, True, None), (0, 1000, 0, False, None), (0, 1000, 1, True, None), (0, 1010, 1, False, None)]
    answer = kernel_residency(traced(events), bins=1)
    assert (answer.start_cycles, answer.end_cycles) == (1000, 1010)
    assert means(answer.engine_curves, se=0) == [1.0]


lives = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 30)), min_size=1, max_size=6)


@settings(deadline=None, max_examples=examples(40))
@given(lives, st.integers(1, 9))
def test_means_equal_counting_every_cycle(spans: list[tuple[int, int]], bins: int) -> None:
    events = [(0, begin, slot, True, 0) for slot, (begin, _) in enumerate(spans)]
    events += [(0, begin + length, slot, False, 0) for slot, (begin, length) in enumerate(spans)]
    answer = kernel_residency(traced(events), bins=bins)
    curve = means(answer.engine_curves, se=0)
    assert len(curve) == answer.bin_count
    for number, mean in enumerate(curve):
        begin = answer.start_cycles + number * answer.bin_cycles
        cycles = range(begin, min(begin + answer.bin_cycles, answer.end_cycles))
        resident = sum(b <= cycle < b + length for b, length in spans for cycle in cycles)
        assert abs(mean - resident / len(cycles)) < 1e-9
