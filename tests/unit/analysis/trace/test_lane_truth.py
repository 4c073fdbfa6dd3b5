"""Lane addresses against what the HIP sources mean: the truth does not come from machine code."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl
import pytest

import wavewright
from synth.kernels import LANE_KERNELS, LANE_TARGETS
from synth.lanes import LaneLaunch, lane_truth
from tests.kit.sampling import every_third_pair
from wavewright.analysis.trace.lanes.evaluated import LaneOptions, executions

if TYPE_CHECKING:
    from pathlib import Path

    from synth.lanes import LaneTruth
    from wavewright.model.trace import ThreadTrace


def _options(truth: LaneTruth, trace: ThreadTrace, *, given: bool) -> LaneOptions:
    kernel = trace.compiled_kernel(trace.kernels["kernel"][0])
    scalars = [argument for argument in kernel.arguments if argument.value_kind == "by_value"]
    values = truth.launch.arguments.values()
    arguments = [f"0x{scalar.offset_bytes:x}={value}" for scalar, value in zip(scalars, values, strict=True)]
    return LaneOptions(arguments=tuple(arguments) if given else (), workgroup_size=truth.launch.workgroup_size)


def _verdicts(truth: LaneTruth, *, given: bool) -> Counter[str]:
    """How often an execution is equal, unknown, known although it depends on data, or wrong."""
    trace = wavewright.open(truth.capture)
    verdicts: Counter[str] = Counter()
    answers = executions(trace, _options(truth, trace, given=given))
    expected = truth.executed(trace).join(truth.frame, on=["workgroup", "wave", "line", "execution"])
    joined = expected.join(
        answers,
        left_on=["instruction", "wave", "part"],
        right_on=["instruction", "place_in_workgroup", "place"],
        how="left",
    )
    assert joined.height == expected.height
    for row in joined.iter_rows(named=True):
        depends = row["data_dependent"] or (not given and row["needs"])
        if not row["is_known"]:
            verdicts["unknown, depends" if depends else f"unknown: {row['label']}"] += 1
            continue
        if row["data_dependent"]:
            verdicts[f"known, but depends on data: {row['label']}"] += 1
            continue
        addresses = [address for lane, address in enumerate(row["address"]) if row["active"] >> lane & 1]
        is_equal = row["active"] == row["active_mask"] and _relative(addresses) == _relative(row["addresses"])
        if row["space"] == "lds" and not row["has_base"]:
            is_equal = is_equal and addresses == list(row["addresses"])
        verdicts["equal" if is_equal else f"wrong: {row['label']}"] += 1
    return verdicts


def _relative(addresses: list[int]) -> list[int]:
    return [address - addresses[0] for address in addresses]


@pytest.mark.some_cases(5)
@pytest.mark.parametrize(("kernel", "target"), every_third_pair(LANE_KERNELS, LANE_TARGETS))
def test_known_addresses_are_those_that_the_source_means(kernel: str, target: str, tmp_path: Path) -> None:
    truth = lane_truth(LaneLaunch(kernel, target, waves=2), tmp_path)
    verdicts = _verdicts(truth, given=True)
    assert set(verdicts) <= {"equal", "unknown, depends"}, verdicts
    assert verdicts["equal"] > 0


@pytest.mark.first_case
@pytest.mark.parametrize("target", ["gfx942", "gfx1201"])
@pytest.mark.parametrize("kernel", ["lane_division", "lane_pointers"])
def test_without_arguments_only_what_needs_none_is_known(kernel: str, target: str, tmp_path: Path) -> None:
    truth = lane_truth(LaneLaunch(kernel, target, waves=2), tmp_path)
    verdicts = _verdicts(truth, given=False)
    assert not [name for name in verdicts if name.startswith(("wrong", "known"))], verdicts
    assert verdicts["equal"] > 0
    assert verdicts["unknown, depends"] > 0


def test_executions_say_why_they_are_unknown(tmp_path: Path) -> None:
    truth = lane_truth(LaneLaunch("lane_data", "gfx942", waves=2), tmp_path)
    trace = wavewright.open(truth.capture)
    unknown = executions(trace, _options(truth, trace, given=True)).filter(~pl.col("is_known"))
    assert unknown.height
    assert unknown["reason"].str.contains("depends on data|which lanes are active").all()
