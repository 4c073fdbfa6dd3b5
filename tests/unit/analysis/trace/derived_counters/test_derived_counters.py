"""Derived counters of traces: raw tensors, the built-in set, definitions of the user."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.analysis.counters.made_counters import Sample, counted
from wavewright.analysis.trace.derived_counters import derived_counters
from wavewright.analysis.trace.derived_counters.tensors import raw_tensors
from wavewright.errors import UsageError

BUSY = ["SQ_BUSY_CU_CYCLES", "SQ_VALU_MFMA_BUSY_CYCLES", "SQ_ACTIVE_INST_VALU", "SQ_ACTIVE_INST_LDS"]
ACTIVE = ["SQ_ACTIVE_INST_VMEM", "SQ_ACTIVE_INST_FLAT", "SQ_ACTIVE_INST_SCA", "SQ_ACTIVE_INST_MISC"]
PAIRS = [(0, 1000, 5000), (0, 3000, 5100)]  # 2000 cycles in 1 us


def activity() -> list[Sample]:
    """Two CUs, three steps of 40 cycles."""
    first = [(0, 0, 0, 0, (10, 20, 5, 2)), (0, 0, 0, 40, (8, 40, 8, 1)), (0, 0, 0, 80, (10, 0, 2, 0))]
    second = [(0, 1, 0, 2, (30, 4, 3, 0)), (0, 1, 0, 41, (20, 8, 6, 9))]
    other_bank = [(0, 0, 1, 0, (1, 2, 3, 4)), (0, 0, 1, 40, (5, 0, 1, 1))]
    return first + second + other_bank


def curve(text: str | None, name: str) -> list[float]:
    answer = derived_counters(counted(activity(), BUSY + ACTIVE, PAIRS), definitions=text)
    values: list[float] = answer.curves.filter(name=name)["value_mean"].to_list()
    return values


def test_raw_tensors_have_four_axes_and_steps_of_the_sampling() -> None:
    raw = raw_tensors(counted(activity(), BUSY + ACTIVE, PAIRS))
    assert (raw.start_cycles, raw.step_cycles, raw.sample_count) == (0, 40, 3)
    busy = raw.values["SQ_BUSY_CU_CYCLES"]
    assert busy.shape == (1, 1, 2, 3) and busy.dtype == np.float32
    assert busy[0, 0].tolist() == [[10, 8, 10], [30, 20, 0]]
    assert raw.values["BUSY_CU_CYCLES"] is busy
    assert raw.values["SCLOCK"].ravel().tolist() == [0, 40, 80]
    assert raw.values["RCLOCK"].tolist() == [[[[1000, 3000], [0, 100]]]]
    constants = ["NUM_XCC", "NUM_SE", "NUM_CU", "NUM_SAMPLES", "RCLOCK_MHZ"]
    assert [raw.values[name].item() for name in constants] == [1, 1, 2, 3, 100]


def test_samples_that_come_a_little_early_go_to_their_step() -> None:
    samples: list[Sample] = [(0, 0, 0, time, (1, 0, 0, 0)) for time in (80, 120, 155, 160)]
    raw = raw_tensors(counted(samples))
    # 155 + 10 lies in the step of 160; steps begin at 80
    assert raw.values["counter0"].ravel().tolist() == [1, 1, 2]


def test_built_in_utilization() -> None:
    busy = 10 + 30 + 1e-6  # the most of each CU
    assert curve(None, "VALU_util") == pytest.approx([800 / busy, 1400 / busy, 200 / busy])
    assert curve(None, "LDS_util") == pytest.approx([400 / busy, 2000 / busy, 0])
    assert curve(None, "VMEM_util") == pytest.approx([200 / busy, 1000 / busy, 0])
    assert curve(None, "FLAT_util") == pytest.approx([400 / busy, 0, 0])
    assert curve(None, "SCA_util") == pytest.approx([300 / busy, 100 / busy, 0])
    assert curve(None, "MISC_util") == pytest.approx([400 / busy, 100 / busy, 0])
    assert curve(None, "MFMA_util") == pytest.approx([600 / busy, 1200 / busy, 0])


def test_built_in_gpu_utilization_takes_the_largest() -> None:
    answer = curve(None, "GPUutil")
    mfma, valu, lds = (curve(None, f"{name}_util") for name in ("MFMA", "VALU", "LDS"))
    for at in range(3):
        share = mfma[at] / 100
        math = min(mfma[at] + valu[at] * (1 - share) / (1.7 - share), 100)
        assert answer[at] == pytest.approx(max(math, lds[at]), rel=1e-5)


def test_built_in_clock_and_floating_point_rate() -> None:
    assert curve(None, "SHADER_MHZ") == pytest.approx([2000])
    samples: list[Sample] = [(0, 0, 0, time, (100, 0, 0, 0)) for time in (0, 40, 80)]
    trace = counted(samples, ["SQ_INSTS_VALU_MFMA_MOPS_F16"], PAIRS)
    answer = derived_counters(trace)
    assert answer.summary["name"].to_list() == ["SHADER_MHZ", "F16_TFLOPS"]
    # 100 x 512 operations in 40 cycles at 2 GHz = 20 ns
    assert answer.curves.filter(name="F16_TFLOPS")["value_mean"].to_list() == pytest.approx([51200 / 20e-9 / 1e12] * 3)
    assert answer.problems.height == 0


@pytest.mark.parametrize("first", [0, 1 << 31, 1 << 40])
def test_rates_do_not_depend_on_where_the_clock_stands(first: int) -> None:
    """Clocks that run for hours do not fit into the 32-bit tensors of the language; numbers of the trace do."""
    samples: list[Sample] = [(0, 0, 0, first + 40 * at, (100, 0, 0, 0)) for at in range(3)]
    pairs = [(0, first + 100, 10**14), (0, first + 2100, 10**14 + 100)]
    answer = derived_counters(counted(samples, ["SQ_INSTS_VALU_MFMA_MOPS_F16"], pairs))
    assert answer.curves.filter(name="SHADER_MHZ")["value_mean"].to_list() == pytest.approx([2000])
    assert answer.curves.filter(name="F16_TFLOPS")["value_mean"].to_list() == pytest.approx([51200 / 20e-9 / 1e12] * 3)


def test_one_sample_gives_no_rate() -> None:
    answer = derived_counters(counted([(0, 0, 0, 0, (100, 0, 0, 0))], ["SQ_INSTS_VALU_MFMA_MOPS_F16"], PAIRS))
    assert answer.summary.filter(name="F16_TFLOPS")["finite_share"].to_list() == [0]


def test_definitions_of_the_user_may_use_the_built_in_ones() -> None:
    text = "double := 2 * VALU_util\n_hidden := 1\nper_cu := BUSY_CU_CYCLES + _hidden"
    answer = derived_counters(counted(activity(), BUSY + ACTIVE, PAIRS), definitions=text)
    assert answer.summary.select("name", "shape").rows() == [("double", "1 x 1 x 1 x 3"), ("per_cu", "1 x 1 x 2 x 3")]
    assert answer.curves.filter(name="per_cu", cu=1)["value_mean"].to_list() == [31, 21, 1]
    assert answer.curves.filter(name="per_cu", cu=1)["start_cycles"].to_list() == [0, 40, 80]


def test_problems_of_the_user_are_rows_and_the_rest_goes_on() -> None:
    answer = derived_counters(counted(activity(), BUSY), definitions="a := GONE / 2\nb := 1 / 0\nc := F16_TFLOPS")
    assert answer.problems.rows() == [
        (1, 6, "a", "unknown name GONE"),
        (3, 6, "c", "needs F16_TFLOPS, which has no value"),
    ]
    (row,) = answer.summary.iter_rows(named=True)
    assert (row["name"], row["value_mean"], row["finite_share"]) == ("b", None, 0.0)


def test_definitions_that_cannot_be_read_are_an_error_with_places() -> None:
    with pytest.raises(UsageError, match=r"2 definitions cannot be read: 1:5: a: .*; 2:1: a definition starts"):
        derived_counters(counted(activity()), definitions="a := \n1 := 2")


def test_names_from_the_command_line() -> None:
    answer = derived_counters(counted(activity()), definitions="x := sum[MINE]", names=["MINE"])
    assert answer.summary["value_mean"].to_list() == [78]


def test_long_curves_are_averaged_and_wide_ones_cut() -> None:
    samples: list[Sample] = [(0, cu, 0, 40 * time, (time, 0, 0, 0)) for time in range(100) for cu in range(16)]
    answer = derived_counters(counted(samples), definitions="x := counter0", bins=10)
    assert answer.curves["cu"].unique().sort().to_list() == list(range(10))
    assert answer.curves.filter(cu=3)["value_mean"].to_list() == [4.5 + 10 * at for at in range(10)]


def test_times_far_apart_are_refused_not_allocated() -> None:
    samples: list[Sample] = [(0, 0, 0, 0, (1, 0, 0, 0)), (900, 200, 0, 40 << 30, (1, 0, 0, 0))]
    with pytest.raises(UsageError, match="too many for derived counters"):
        derived_counters(counted(samples))


def test_no_counters() -> None:
    answer = derived_counters(counted([]))
    assert (answer.summary.height, answer.curves.height) == (0, 0)
