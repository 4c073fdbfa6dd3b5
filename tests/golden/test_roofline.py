"""Rooflines of real and made-up captures against the same numbers spelled out from the CSV files."""

from __future__ import annotations

import csv
import gzip
import sqlite3
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

from wavewright.analysis.counters.roofline import Roofline, roofline
from wavewright.readers.counters import open_counters

SYNTHETIC = {"gfx90a": ("TCC_EA_", False), "gfx942": ("TCC_EA0_", True), "gfx950": ("TCC_EA0_", True)}


def plain_points(
    file: Path, fabric: str, has_bubble: bool, *, has_fp8: bool, has_fp4: bool
) -> dict[str, dict[str, float]]:
    """Kernel -> FLOP, time and bytes per level, each the mean per call: the reference's formulas, row by row."""
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    with gzip.open(file, "rt", newline="") if file.suffix == ".gz" else file.open(newline="") as stream:
        for row in csv.DictReader(stream):
            value = {name: float(text or 0) for name, text in row.items() if name.isupper() or name.endswith("_sum")}
            total = sums[row["Kernel_Name"].removesuffix(" [clone .kd]")]
            total["calls"] += 1
            total["time"] += float(row["End_Timestamp"]) - float(row["Start_Timestamp"])
            for precision in ("F16", "F32", "F64"):
                ones = sum(value[f"SQ_INSTS_VALU_{word}_{precision}"] for word in ("ADD", "MUL", "TRANS"))
                total["flop"] += 64 * (ones + 2 * value[f"SQ_INSTS_VALU_FMA_{precision}"])
            types = ["F16", "BF16", "F32", "F64"] + ["F8"] * has_fp8 + ["F6F4"] * has_fp4
            total["flop"] += 512 * sum(value[f"SQ_INSTS_VALU_MFMA_MOPS_{name}"] for name in types)
            requests = ("READ_REQ", "WRITE_REQ", "ATOMIC_WITH_RET_REQ", "ATOMIC_WITHOUT_RET_REQ")
            total["L2"] += 64 * sum(value[f"TCP_TCC_{name}_sum"] for name in requests)
            total["L1"] += 64 * value["TCP_TOTAL_CACHE_ACCESSES_sum"]
            total["LDS"] += 128 * (value["SQ_LDS_IDX_ACTIVE"] - value["SQ_LDS_BANK_CONFLICT"])
            small, reads = value[f"{fabric}RDREQ_32B_sum"], value[f"{fabric}RDREQ_sum"]
            large = value["TCC_BUBBLE_sum"] if has_bubble else 0.0
            full, writes = value[f"{fabric}WRREQ_64B_sum"], value[f"{fabric}WRREQ_sum"]
            total["HBM"] += 128 * large + 32 * small + 64 * (reads - large - small) + 64 * full + 32 * (writes - full)
    return {name: {key: amount / total["calls"] for key, amount in total.items()} for name, total in sums.items()}


def checked(answer: Roofline, expected: dict[str, dict[str, float]]) -> None:
    assert set(answer.kernels["kernel_name"]) == set(expected)
    for row in answer.points.filter(pl.col("work") == "flop", pl.col("level") != "MALL").iter_rows(named=True):
        own = expected[row["kernel_name"]]
        assert row["bytes"] == pytest.approx(own[row["level"]], rel=1e-12)
        assert row["operations"] == pytest.approx(own["flop"], rel=1e-12)
        assert row["gops_per_second"] == pytest.approx(own["flop"] / own["time"], rel=1e-12)
        if own["flop"] and own[row["level"]]:
            assert row["intensity"] == pytest.approx(own["flop"] / own[row["level"]], rel=1e-12)
        else:
            assert row["intensity"] is None
            assert row["reason"]


@pytest.mark.parametrize("target", SYNTHETIC)
def test_points_of_made_up_captures_are_those_of_the_reference(shared: Path, target: str) -> None:
    folder = shared / "golden/compute/inputs/synthetic" / target
    prefix, has_bubble = SYNTHETIC[target]
    expected = plain_points(
        folder / "pmc_perf.csv", prefix, has_bubble, has_fp8=target != "gfx90a", has_fp4=target == "gfx950"
    )
    checked(roofline(open_counters(folder), amd=True), expected)


def test_line_sizes_are_corrected(shared: Path) -> None:
    capture = open_counters(shared / "golden/compute/inputs/synthetic/gfx942")
    ours, theirs = roofline(capture).points, roofline(capture, amd=True).points
    for level, low, high in (("L1", 2.0, 2.0), ("L2", 1.0, 2.0), ("HBM", 1.0, 1.0), ("LDS", 1.0, 1.0)):
        ratios = ours.filter(pl.col("level") == level)["bytes"] / theirs.filter(pl.col("level") == level)["bytes"]
        assert all(low <= ratio <= high for ratio in ratios)


def test_a_vector_copy_has_bandwidth_only(shared: Path) -> None:
    folder = shared / "golden/compute/inputs/path/MI200"
    answer = roofline(open_counters(folder))
    checked(answer, plain_points(folder / "pmc_perf.csv", "TCC_EA_", False, has_fp8=False, has_fp4=False))
    (kernel,) = answer.kernels.iter_rows(named=True)
    assert kernel["flops"] == 0
    assert kernel["bound"] == "HBM"
    hbm = answer.points.filter(pl.col("level") == "HBM", pl.col("work") == "flop").row(0, named=True)
    assert hbm["intensity"] is None
    assert hbm["reason"] == "no floating-point operations: bandwidth only"
    assert hbm["share"] == pytest.approx(hbm["gb_per_second"] / 1388.9302)
    assert hbm["bytes"] < 2 * 8 * 2**20 * 1.01, "one million doubles read and written, some of them from L2"
    ceilings = {row["name"]: row for row in answer.ceilings.iter_rows(named=True)}
    assert (ceilings["HBM"]["empirical_low"], ceilings["HBM"]["empirical_high"]) == (1388.3835, 1389.4768)
    assert ceilings["HBM"]["theoretical"] == pytest.approx(1638.4)
    assert ceilings["MFMA INT8"]["empirical"] == 166402.27
    assert ceilings["VALU FP16"]["used_from"] == "theoretical", "this benchmark did not measure it"


def test_a_real_gemm(shared: Path) -> None:
    folder = shared / "data/pmc-mi300x-bmm"
    capture = open_counters(folder)
    answer = roofline(capture)
    gemm, fill = answer.kernels.iter_rows(named=True)
    assert (gemm["dispatch_count"], fill["dispatch_count"]) == (150, 151)
    kinds = answer.operations.filter(pl.col("kernel") == 0, pl.col("operations") > 0, pl.col("work") == "flop")
    assert kinds["kind"].to_list() == ["MFMA BF16"]
    assert gemm["flops"] == pytest.approx(2 * 64 * 64 * 4 * 2**16, rel=0.5)
    assert fill["bound"] == "HBM"
    assert "MALL" in set(answer.points["level"])
    lookups = roofline(capture, ceilings="theoretical").kernels.row(0, named=True)
    assert gemm["share"] == lookups["share"] == pytest.approx(0.594, abs=5e-4), "48.5 of 81.7 TB/s"
    assert any("the roof of L1 is the theoretical one" in caveat for caveat in answer.caveats)
    expected = plain_points(folder / "pmc_perf.csv.gz", "TCC_EA0_", True, has_fp8=True, has_fp4=False)
    checked(roofline(capture, amd=True), expected)


def test_what_the_analysis_database_stored(shared: Path) -> None:
    file = shared / "data/rocprofcompute-analysisdb/rocprof_compute_3kernels.db"
    answer = roofline(open_counters(file))
    with sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True) as database:
        stored = database.execute(
            "SELECT kernel_name, total_flops, l1_cache_data, l2_cache_data, hbm_cache_data"
            " FROM compute_kernel_roofline_data JOIN compute_kernel USING (kernel_uuid)"
        ).fetchall()
    assert len(stored) == 3
    points = answer.points.filter(pl.col("work") == "flop")
    for name, speed, *intensities in stored:
        own = points.filter(pl.col("kernel_name") == name)
        assert own["gops_per_second"][0] == pytest.approx(speed)  # the column is called total_flops, but is a rate
        for level, intensity in zip(("L1", "L2", "HBM"), intensities, strict=True):
            row = own.filter(pl.col("level") == level).row(0, named=True)
            assert (row["intensity"] or 0.0) == pytest.approx(intensity)


@pytest.mark.parametrize("name", ["path/MI100", "path/MI300A_A1", "path/MI300X_A1", "vcopy/MI350"])
def test_other_real_captures(shared: Path, name: str) -> None:
    answer = roofline(open_counters(shared / "golden/compute/inputs" / name))
    assert answer.kernels.height == 1
    for row in answer.points.iter_rows(named=True):
        assert row["intensity"] is not None or row["reason"]
        assert row["share"] is None or 0 <= row["share"] < 1.02
