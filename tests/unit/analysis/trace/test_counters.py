"""Counters in the trace: names, sampling step, zero fill, curves, utilization."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.sampling import examples
from tests.kit.together import together
from tests.unit.analysis.counters.made_counters import counted
from wavewright.analysis.trace.derived_counters.sampled_counters import (
    counter_names,
    filled,
    gpu_curve,
    sampled_counters,
    samples,
    sampling_step,
)
from wavewright.errors import UsageError


def at(
    se: int, cu: int, cycle: int, first: int = 0, *others: int, bank: int = 0
) -> tuple[int, int, int, int, tuple[int, int, int, int]]:
    values = (first, *others, 0, 0, 0)
    return se, cu, bank, cycle, (values[0], values[1], values[2], values[3])


def test_names_of_the_trace_given_ones_and_numbers() -> None:
    sample = at(0, 0, 0, 1)
    assert counter_names(counted([sample])) == ["counter0", "counter1", "counter2", "counter3"]
    assert counter_names(counted([sample], ["SQ_A", "SQ_B"])) == ["SQ_A", "SQ_B", "counter2", "counter3"]
    assert counter_names(counted([sample], ["SQ_A", "SQ_B"]), ["X"]) == ["X", "SQ_B", "counter2", "counter3"]
    assert len(counter_names(counted([at(0, 0, 0, 1, bank=1)]))) == 8


@pytest.mark.parametrize(
    ("given_names", "said"), [(["A"] * 5, "5 counter names"), (["A", "A"], "two counters are called A")]
)
def test_wrong_names(given_names: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        counter_names(counted([at(0, 0, 0, 1)]), given_names)


@together(
    "trace_samples, step",
    [
        ([], 0),
        ([at(0, 0, 100)], 4096),  # one sample says nothing
        ([at(0, 0, 0), at(0, 0, 40), at(0, 0, 200)], 40),
        ([at(0, 0, 0), at(0, 0, 16), at(0, 0, 60)], 44),  # 16 cycles are too short to be a step
        ([at(0, 0, 0), at(0, 0, 90000)], 4096),
        ([at(0, 0, 0), at(0, 0, 40), at(1, 0, 0), at(1, 0, 44)], 44),  # second smallest, at most 8/7 of the smallest
        ([at(0, 0, 0), at(0, 0, 40), at(1, 0, 0), at(1, 0, 80)], 40),
        ([at(0, 0, 0), at(0, 0, 40), at(0, 1, 0), at(0, 1, 36)], 36),  # of one engine the smallest counts
        ([at(0, 0, 0), at(0, 0, 40), at(0, 0, 0, bank=1), at(0, 0, 42, bank=1)], 42),
    ],
)
def test_sampling_step(trace_samples: list[tuple[int, int, int, int, tuple[int, int, int, int]]], step: int) -> None:
    assert sampling_step(counted(trace_samples)) == step


def test_zeros_are_put_back() -> None:
    trace = counted([at(0, 0, 0, 5), at(0, 0, 40, 6), at(0, 0, 200, 7), at(0, 1, 10, 1)])
    rows = filled(samples(trace, 0), 40).select("cu", "time_cycles", "value").rows()
    assert rows == [(0, 0, 5), (0, 40, 6), (0, 80, 0), (0, 200, 7), (0, 240, 0), (1, 10, 1), (1, 50, 0)]


def test_the_curve_of_the_gpu_is_the_sum_of_the_latest_samples() -> None:
    trace = counted([at(0, 0, 0, 5), at(0, 0, 40, 6), at(0, 1, 20, 10), at(0, 1, 60, 20), at(1, 0, 41, 100)])
    # the step is 40 cycles; cycle 41 belongs to the clock of cycle 40
    assert gpu_curve(trace, 0).rows() == [(0, 5), (20, 15), (40, 116), (60, 126), (80, 20), (100, 0)]


def test_totals_and_curves() -> None:
    trace = counted([at(0, 0, 0, 5, 1), at(0, 0, 40, 6, 3), at(0, 1, 0, 10), at(0, 1, 40, 0)], ["A", "B"])
    answer = sampled_counters(trace, bins=2)
    assert answer.totals.rows()[:2] == [("A", 4, 21, 5.25, 10), ("B", 4, 4, 1.0, 3)]
    assert answer.by_cu.filter(name="A").rows() == [("A", 0, 0, 2, 11, 5.5, 6), ("A", 0, 1, 2, 10, 5.0, 10)]
    assert (answer.start_cycles, answer.end_cycles, answer.step_cycles) == (0, 80, 40)
    assert answer.curves.filter(name="A")["value_mean"].to_list() == [15.0, 6.0]
    assert answer.names_are_known


def test_hardware_utilization_and_its_factors() -> None:
    names = ["SQ_BUSY_CU_CYCLES", "SQ_VALU_MFMA_BUSY_CYCLES", "SQ_ACTIVE_INST_VALU", "SQ_ACTIVE_INST_LDS"]
    trace = counted([at(0, 0, 0, 10, 20, 5, 2), at(0, 0, 40, 10, 0, 9, 0), at(0, 1, 0, 20, 0, 2, 1)], names)
    answer = sampled_counters(trace)
    # sums: busy 40, MFMA 20 / 4, VALU 16, LDS 3 * 2; peaks: busy 30, MFMA 20 / 4, VALU 9, LDS 3 * 2
    assert answer.hardware.rows() == [
        ("MFMA", 5 / 40, 5 / 30),
        ("VALU", 16 / 40, 9 / 30),
        ("LDS", 6 / 40, 6 / 30),
    ]
    assert answer.hardware_by_cu.filter(unit="VALU").rows() == [("VALU", 0, 0, 14 / 20), ("VALU", 0, 1, 2 / 20)]


def test_no_utilization_without_the_busy_counter() -> None:
    answer = sampled_counters(counted([at(0, 0, 0, 4)], ["SQ_ACTIVE_INST_VALU"]))
    assert (answer.hardware.height, answer.hardware_by_cu.height) == (0, 0)


def test_a_trace_without_counters() -> None:
    answer = sampled_counters(counted([]))
    assert (answer.totals.height, answer.curves.height, answer.names_are_known) == (0, 0, False)


@settings(deadline=None, max_examples=examples(40))
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 40).map(lambda n: n * 40), st.integers(1, 99)),
        min_size=1,
        max_size=20,
        unique_by=lambda sample: sample[:3],
    ),
    st.integers(1, 12),
)
def test_means_of_curves_hold_the_area_under_them(drawn: list[tuple[int, int, int, int]], bins: int) -> None:
    trace = counted([at(se, cu, cycle, value) for se, cu, cycle, value in drawn])
    answer = sampled_counters(trace, bins=bins)
    curve = gpu_curve(trace, 0).rows()
    area = sum(value * (later - time) for (time, value), (later, _) in pairwise(curve))
    lengths = [
        min(answer.bin_cycles, answer.end_cycles - begin)
        for begin in answer.curves.filter(name="counter0")["start_cycles"]
    ]
    means = answer.curves.filter(name="counter0")["value_mean"].to_list()
    assert sum(mean * length for mean, length in zip(means, lengths, strict=True)) == pytest.approx(area)
    assert curve[-1][1] == 0
