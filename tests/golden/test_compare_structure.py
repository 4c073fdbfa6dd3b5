"""One model on two vendors: GPU time per lowest common ancestor, by an independent script and TraceLens' TraceDiff."""

from __future__ import annotations

from math import fsum
from shutil import copy
from typing import TYPE_CHECKING

import polars as pl
import pytest

from wavewright.analysis.run.compare.compare import compare_runs
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.analysis.run.compare.compare import RunComparison

UNLINKED = "launch not known"
#: Name -> pairs, microseconds and GPU events of A (MI300X) and B (H100); None = not in the specification.
TIMESFORMER = {
    "aten::_softmax": (24, 41_856.651, 24, 68_781.297, 24),
    "aten::bmm": (48, 41_328.781, 48, 44_998.353, 48),
    "aten::addmm": (85, 12_814.771, 85, 8_569.873, 169),
    "aten::mul": (24, 11_023.792, 24, 15_555.788, 24),
    "aten::copy_": (124, 6_140.188, 124, 10_842.243, 124),
    "aten::native_layer_norm": (37, 2_300.166, None, 2_202.649, None),
    "aten::cat": (38, 1_528.435, None, 3_083.117, None),
    "aten::gelu": (12, 1_209.566, None, 1_534.200, None),
    "aten::add": (38, 1_165.159, None, 1_500.442, None),
    "aten::_convolution": (1, 334.042, 5, 1_233.050, 6),
    "aten::add_": (1, 51.999, None, 64.864, None),
    "aten::mean": (12, 95.125, None, 64.993, None),
    "aten::upsample_nearest1d": (1, 4.208, None, 2.305, None),
}
QWEN = {
    "aten::mm": (None, 8_663.617, None, 6_668.679, None),
    "aten::mul": (None, 4_541.288, None, 6_752.901, None),
    "aten::_flash_attention_forward": (None, 4_016.343, 48, 2_722.705, 24),
    "aten::copy_": (None, 3_190.695, None, 5_101.933, None),
    "aten::addmm": (None, 2_954.763, None, 2_329.075, None),
    "aten::add": (None, 1_895.607, None, 2_607.512, None),
    "aten::rsqrt": (None, 215.446, None, 79.073, None),
}


def of(shared: Path, model: str) -> RunComparison:
    runs = [open_run(shared / "data" / folder / model) for folder in ("kineto-amd", "kineto-h100-twins")]
    assert ["other_vendor" in run.losses["kind"] for run in runs] == [False, True], "the one of NVIDIA is marked"
    return compare_runs(runs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "expected", "sums", "unlinked_us"),
    [
        (
            "facebook_timesformer-base-finetuned-k400__1016002.json.gz",
            TIMESFORMER,
            (445, 449, 534, 119_852.883, 158_433.174),
            None,
        ),
        (
            "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
            QWEN,
            (1030, 1054, 1198, 29_743.938, 31_905.473),
            (13_318.864, 13_741.827),
        ),
    ],
    ids=["timesformer", "qwen"],
)
def test_the_twins(shared: Path, model: str, expected: dict, sums: tuple, unlinked_us: tuple | None) -> None:
    answer = of(shared, model)
    rows = {row["name"]: row for row in answer.operators.to_dicts()}
    unlinked = rows.pop(UNLINKED, None)
    for name, (pairs, base_us, base_events, us, events) in expected.items():
        row = rows[name]
        assert (row["base_ns"] / 1e3, row["time_ns"] / 1e3) == pytest.approx((base_us, us), abs=0.0006), name
        counts = {"pair_count": pairs, "base_gpu_count": base_events, "gpu_count": events}
        assert {key: row[key] for key, count in counts.items() if count is not None} == {
            key: count for key, count in counts.items() if count is not None
        }, name
    columns = ("pair_count", "base_gpu_count", "gpu_count", "base_ns", "time_ns")
    found = [fsum(row[column] for row in rows.values()) / (1e3 if column.endswith("ns") else 1) for column in columns]
    assert found == pytest.approx(sums, abs=0.0006)
    assert all(row["base_gpu_count"] and row["gpu_count"] for row in rows.values()), "none is on one side only"
    if unlinked_us:
        assert unlinked
        assert (unlinked["base_ns"] / 1e3, unlinked["time_ns"] / 1e3) == pytest.approx(unlinked_us, abs=0.0006)
    if model.startswith("facebook"):
        assert len(rows) == len(TIMESFORMER)
        assert set(rows["aten::_convolution"]) >= {"base_only", "side_only"}
        assert "miopen_convolution" in rows["aten::_convolution"]["base_only"]
    else:
        assert len(rows) == 20
        assert "aten::zeros" in rows["aten::_flash_attention_forward"]["base_only"]


@pytest.mark.slow
def test_joined_and_not_joined_graphs_have_the_same_totals(shared: Path, tmp_path: Path) -> None:
    path = shared / "data/kineto-graphs/vllm_prefilldecode_piecewise/graph_execution.json.gz"
    joined, bare = open_run(path), open_run(copy(path, tmp_path))
    answer = compare_runs([joined, bare])
    assert answer.operators["delta_ns"].to_list() == [0] * answer.operators.height
    assert answer.operators.select(pl.col("base_gpu_count", "gpu_count").sum()).row(0) == (423, 423)
    assert fsum(answer.operators["base_ns"]) == pytest.approx(156_085_905)
    itself = compare_runs([joined, joined])
    assert (
        itself.operators.select(pl.col("base_only", "side_only").null_count()).row(0) == (itself.operators.height,) * 2
    )
    assert itself.operators["delta_ns"].abs().max() == 0
