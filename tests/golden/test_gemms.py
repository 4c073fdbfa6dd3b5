"""GEMMs, convolutions and attention of public traces against the tables that TraceLens made of them."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.opened import open_run
from tests.kit.sampling import every_third
from wavewright.analysis.run.contents.regions import regions
from wavewright.analysis.run.kernels.gemms import gemms

if TYPE_CHECKING:
    from pathlib import Path

TRACES = {
    "Qwen_Qwen1.5-0.5B-Chat__1016005": 6,
    "facebook_timesformer-base-finetuned-k400__1016002": 12,
    "gaunernst_bert-small-uncased__1016001": 5,
    "torch_compile_triton": 4,
}
"""Trace -> rows of the tables of GEMMs, attention and convolutions."""


def expected_rows(folder: Path, *tables: str) -> list[dict[str, str]]:
    listed = []
    before = csv.field_size_limit(1 << 28)
    try:
        for table in tables:
            if (folder / table).is_file():
                with (folder / table).open(newline="") as lines:
                    listed += list(csv.DictReader(lines))
    finally:
        csv.field_size_limit(before)
    return listed


@pytest.mark.first_case
@pytest.mark.parametrize("name", TRACES)
def test_operations_and_times_of_shapes(name: str, shared: Path) -> None:
    folder = shared / "data" / "kineto-amd"
    operators = gemms(open_run(folder / f"{name}.json.gz")).operators
    expected = expected_rows(folder / f"expected_{name}", "GEMM.csv", "SDPA_fwd.csv", "CONV_fwd.csv")
    assert len(expected) == TRACES[name]
    for row in expected:
        dims = json.dumps(json.loads(row["Input Dims_first"]), separators=(",", ":"))
        (ours,) = operators.filter((pl.col("name") == row["name"]) & (pl.col("input_dims") == dims)).to_dicts()
        assert ours["call_count"] == int(row["name_count"])
        assert ours["flops"] == round(float(row["GFLOPS_first"]) * 1e9)
        assert ours["moved_bytes"] == round(float(row["Data Moved (MB)_first"]) * (1 << 20))
        time_us = float(row["Kernel Time (µs)_sum"])
        assert ours["gpu_ns"] / 1e3 == pytest.approx(time_us, abs=0.01)
        rate = float(row["GFLOPS_first"]) * 1e9 * int(row["name_count"]) / (time_us / 1e6)
        assert ours["flops_per_second"] == pytest.approx(rate, rel=1e-3)
    if name.startswith("Qwen"):
        first = operators.row(0, named=True)
        assert (first["call_count"], round(first["mean_gpu_ns"] / 1e3, 1)) == (48, 110.6)
        assert round(first["flops_per_second"] / 1e12) == 466


@pytest.mark.parametrize("name", every_third(TRACES))
def test_gpu_time_of_operators(name: str, shared: Path) -> None:
    folder = shared / "data" / "kineto-amd"
    launchers = regions(open_run(folder / f"{name}.json.gz")).launchers.filter(pl.col("domain") == "OPERATOR")
    ours = {row["name"]: row["gpu_ns"] for row in launchers.to_dicts()}
    expected = {
        row["name"]: float(row["total_direct_kernel_time_sum"])
        for row in expected_rows(folder / f"expected_{name}", "ops_summary.csv")
    }
    assert expected
    for operator, time_us in expected.items():
        assert ours.get(operator, 0) / 1e3 == pytest.approx(time_us, abs=0.01), operator
