from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavewright.analysis.counters.roofline.kinds import KINDS, LEVELS, chosen_levels, chosen_precisions
from wavewright.analysis.counters.roofline.points import (
    Work,
    disprove,
    kernel_row,
    limits,
    operation_rows,
    point_rows,
    roof_of,
)
from wavewright.errors import UsageError

RATES: dict[str, float | None] = {"HBM": 1000.0, "L2": 4000.0, "L1": 8000.0, "LDS": 16000.0} | {
    name: 1000.0 * number for number, name in enumerate(KINDS, 1)
}
AMOUNT = st.floats(1, 1e12)


def work(operations: dict[str, float | None], moved: dict[str, float | None], time: float | None = 1000.0) -> Work:
    who = {"kernel": 0, "kernel_name": "k", "dispatch": None, "dispatch_count": 1, "duration_share": 1.0}
    return Work(who, time, operations, moved)


def point(made: Work, level: str, kinds: str = "flop", rates: dict[str, float | None] = RATES) -> dict[str, object]:
    (row,) = (row for row in point_rows(made, rates) if (row["level"], row["work"]) == (level, kinds))
    return row


@given(AMOUNT, AMOUNT, st.sampled_from(sorted(KINDS)))
def test_one_precision_is_the_classic_roofline(operations: float, moved: float, kind: str) -> None:
    row = point(work({kind: operations}, {"HBM": moved}, 1e9), "HBM", KINDS[kind].work)
    bandwidth, peak = 1000.0, RATES[kind]
    assert peak
    attainable = min(bandwidth * operations / moved, peak)
    assert row["intensity"] == pytest.approx(operations / moved)
    assert row["roof_gops_per_second"] == pytest.approx(attainable)
    assert row["share"] == pytest.approx(operations / 1e9 / attainable)
    ridge = peak / bandwidth
    if not math.isclose(operations / moved, ridge, rel_tol=1e-9):
        assert row["roof"] == ("HBM" if operations / moved < ridge else kind)


@given(st.dictionaries(st.sampled_from(sorted(KINDS)), AMOUNT, min_size=1), AMOUNT)
def test_precisions_of_a_pipe_take_turns_and_pipes_overlap(operations: dict[str, float], moved: float) -> None:
    times = {"HBM": moved / 1000.0, "VALU": 0.0, "MFMA": 0.0, "WMMA": 0.0}
    for name, count in operations.items():
        times[KINDS[name].pipe] += count / (RATES[name] or 1)
    row = kernel_row(work(dict(operations), {"HBM": moved}, 1e12), RATES)
    assert row["share"] == pytest.approx(max(times.values()) / 1e12)
    assert row["flops"] == pytest.approx(sum(n for k, n in operations.items() if KINDS[k].work == "flop")) or (
        row["flops"] is None and all(KINDS[k].work == "iop" for k in operations)
    )


def test_a_pipe_is_named_after_the_precision_that_takes_its_time() -> None:
    one = limits(work({"VALU FP32": 1e6, "VALU FP64": 1.0}, {}), RATES)
    assert [limit.name for limit in one] == ["VALU FP32"]
    both = limits(work({"VALU FP32": 2e6, "VALU FP64": 3e6}, {}), RATES)
    assert [limit.name for limit in both] == ["VALU"]


def test_without_operations_only_bandwidth_is_compared() -> None:
    copy = work({"VALU FP32": 0.0, "MFMA FP16": 0.0}, {"HBM": 500_000.0, "LDS": 0.0})
    row = point(copy, "HBM")
    assert (row["intensity"], row["roof"], row["share"], row["gb_per_second"]) == (None, "HBM", 0.5, 500.0)
    assert row["reason"] == "no floating-point operations: bandwidth only"
    lds = point(copy, "LDS")
    assert (lds["intensity"], lds["roof"], lds["reason"]) == (None, None, "no bytes at LDS")
    assert kernel_row(copy, RATES)["verdict"] == "bound by HBM bandwidth, at 50 % of it"


def test_what_is_not_known_is_empty_and_named() -> None:
    made = Work(
        {"kernel": 0, "dispatch": None},
        1000.0,
        {"VALU FP32": 5e5, "MFMA FP8": None},
        {"HBM": None, "L2": 1e6},
        {"HBM": "needs TCC_EA0_RDREQ", "MFMA FP8": "needs SQ_INSTS_VALU_MFMA_MOPS_F8"},
    )
    hbm = point(made, "HBM")
    assert (hbm["intensity"], hbm["share"], hbm["reason"]) == (None, None, "needs TCC_EA0_RDREQ")
    assert point(made, "L2")["intensity"] == 0.5
    row = kernel_row(made, RATES)
    assert row["flops_missing"] == "MFMA FP8"
    assert row["verdict"].endswith("; not known: HBM")
    reasons = {row["kind"]: row["reason"] for row in operation_rows(made, RATES)}
    assert reasons == {"VALU FP32": "", "MFMA FP8": "needs SQ_INSTS_VALU_MFMA_MOPS_F8"}


def test_without_a_duration_there_are_intensities_but_no_rates() -> None:
    row = point(work({"VALU FP32": 10.0}, {"HBM": 5.0}, None), "HBM")
    assert (row["intensity"], row["gops_per_second"], row["share"]) == (2.0, None, None)
    assert row["reason"] == "no sound timestamps"
    assert "no duration" in kernel_row(work({"VALU FP32": 10.0}, {"HBM": 5.0}, None), RATES)["verdict"]


def test_a_missing_ceiling_gives_no_roof() -> None:
    rates = RATES | {"MFMA FP16": None}
    made = work({"MFMA FP16": 1e9}, {"HBM": 1.0})
    assert roof_of(made, "HBM", "flop", rates) is None
    assert point(made, "HBM", rates=rates)["reason"] == "no ceiling of MFMA FP16"
    assert kernel_row(work({"MFMA FP16": 1e9}, {}), rates)["verdict"] == "no roof to compare with"
    assert kernel_row(work({"MFMA FP16": 0.0}, {"HBM": 0.0}), RATES)["verdict"] == "no work counted"


@pytest.mark.parametrize(
    ("moved", "begins"),
    [
        (4e5, "below every roof; HBM"),
        (6e5, "bound by HBM bandwidth, at 60 %"),
        (3e6, "above the roof of HBM: the roof is too low"),
    ],
)
def test_verdicts(moved: float, begins: str) -> None:
    assert kernel_row(work({}, {"HBM": moved}), RATES)["verdict"].startswith(begins)


def test_a_benchmark_that_is_exceeded_is_no_roof() -> None:
    row = {"name": "HBM", "pipe": None, "used": 1000.0, "used_from": "empirical", "theoretical": 1500.0, "reason": ""}
    slow, fast = work({}, {"HBM": 9e5}), work({}, {"HBM": 1.2e6})
    assert disprove([row], [slow]) == [row]
    (changed,) = disprove([row], [slow, fast])
    assert (changed["used"], changed["used_from"]) == (1500.0, "theoretical")
    assert kernel_row(fast, {"HBM": changed["used"]})["share"] == pytest.approx(0.8)
    assert kernel_row(fast, {"HBM": 1000.0})["share"] is None, "no share of a roof that is too low"


def test_choices() -> None:
    assert chosen_precisions("") == ()
    assert chosen_precisions("FP16,int8,fp16") == ("fp16", "i8")
    assert chosen_levels("lds, TCC") == ("LDS", "L2")
    assert chosen_levels(",".join(LEVELS)) == tuple(LEVELS)
    with pytest.raises(UsageError, match="no precision 'fp12'"):
        chosen_precisions("fp12")
    with pytest.raises(UsageError, match="no level 'l3'"):
        chosen_levels("l3")
