"""Shares of wave states, and their curves over time."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_traces import made, one_wave
from tests.kit.sampling import examples
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.waves.states import state_curves, states


def test_shares_of_all_waves_engines_and_kernels() -> None:
    first = {"begin": 0, "end": 12, "states": [(1, 4), (2, 8)]}
    second = {"begin": 0, "end": 4, "states": [(3, 4)], "se": 2}
    trace = made([first, second])
    trace.tables["waves"] = trace.waves.with_columns(kernel=pl.Series([0, None], dtype=pl.UInt32))
    answer = states(trace)
    assert answer.total.rows() == [("IDLE", 4, 0.25), ("EXEC", 8, 0.5), ("WAIT", 4, 0.25)]
    assert answer.by_engine.rows() == [(0, "IDLE", 4, 1 / 3), (0, "EXEC", 8, 2 / 3), (2, "WAIT", 4, 1.0)]
    assert answer.by_kernel.rows() == [
        (0, "main_kernel", "IDLE", 4, 1 / 3),
        (0, "main_kernel", "EXEC", 8, 2 / 3),
        (None, None, "WAIT", 4, 1.0),
    ]


def test_curves_are_on_the_aligned_clock() -> None:
    pairs = {"se": [0, 0, 1, 1], "shader_clock_cycles": [900, 3100, 500, 2700]}
    clocks = frame("realtime", pairs | {"realtime_ticks": [5_000_000, 5_000_100, 5_000_000, 5_000_100]})
    engines = frame("shader_engines", {"se": [0, 1]}, gfxip=9, realtime_hz=100_000_000)
    waves = [
        {"begin": 1000, "end": 1020, "states": [(2, 20)]},
        {"begin": 601, "end": 621, "states": [(2, 10), (4, 10)], "se": 1},
    ]
    answer = states(made(waves, realtime=clocks, shader_engines=engines), bins=2)
    assert (answer.start_cycles, answer.end_cycles, answer.bin_cycles, answer.bin_count) == (1000, 1020, 10, 2)
    assert answer.over_time.rows() == [
        (0, "EXEC", 0, 1000, 10, 1.0),
        (0, "EXEC", 1, 1010, 10, 1.0),
        (1, "EXEC", 0, 1000, 10, 1.0),
        (1, "STALL", 1, 1010, 10, 1.0),
    ]


def test_a_last_bin_that_ends_early_is_a_mean_over_what_there_is() -> None:
    answer = states(made([{"begin": 0, "end": 7, "states": [(2, 7)]}]), bins=2)
    assert answer.over_time["cycles_total"].to_list() == [4, 3]
    assert answer.over_time["wave_count_mean"].to_list() == [1.0, 1.0]


def test_states_of_no_known_number_are_not_lost() -> None:
    answer = states(made([{"begin": 0, "end": 8, "states": [(2, 4), (77, 4)]}]))
    assert answer.total.rows() == [("EXEC", 4, 0.5), ("OTHER", 4, 0.5)]


def test_waves_without_states() -> None:
    answer = states(made([one_wave() | {"states": []}]))
    assert (answer.total.height, answer.over_time.height) == (0, 0)


@pytest.mark.parametrize("begin", [-(1 << 63), (1 << 63) - 1])
def test_times_of_damaged_files_do_not_break_it(begin: int) -> None:
    answer = states(made([{"begin": begin, "end": begin, "states": [(2, 4)]}, one_wave()]))
    assert answer.total.filter(state="EXEC")["cycles_total"].item() == 16


runs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40)), max_size=12)


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 100), runs), min_size=1, max_size=6), st.integers(1, 20))
def test_curves_hold_what_the_totals_hold(made_waves: list[tuple[int, int, list[tuple[int, int]]]], bins: int) -> None:
    waves = [
        {"se": se, "begin": begin, "end": begin + sum(cycles for _, cycles in run), "states": run}
        for se, begin, run in made_waves
    ]
    trace = made(waves)
    answer = states(trace, bins=bins)
    assert answer.bin_count <= bins
    expected = {(se, s): 0 for se in range(3) for s in range(5)}
    for wave in waves:
        for state, cycles in wave["states"]:
            expected[wave["se"], state] += cycles
    names = ["EMPTY", "IDLE", "EXEC", "WAIT", "STALL"]
    wanted = {(se, names[s]): cycles for (se, s), cycles in expected.items() if cycles}
    for table in (answer.by_engine, answer.over_time):
        sums = table.group_by("se", "state").agg(pl.col("cycles_total").sum())
        assert {(se, state): cycles for se, state, cycles in sums.rows()} == wanted
    steps = state_curves(trace)
    assert int(steps["wave_count"].min() or 0) == 0
