"""`wavewright counters` and `compare` on real captures: the figures that are known, and every capture in every form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import call
from tests.kit.sampling import covering
from tests.unit.analysis.counters.test_l2 import worked_example

CAPTURES = (
    "golden/compute/inputs/path/MI100",
    "golden/compute/inputs/path/MI200",
    "golden/compute/inputs/path/MI300A_A1",
    "golden/compute/inputs/path/MI300X_A1",
    "golden/compute/inputs/synthetic/gfx908",
    "golden/compute/inputs/synthetic/gfx950",
    "golden/compute/inputs/vcopy/MI300X_A1_rocpd",
    "golden/compute/inputs/vcopy/MI350",
    "data/pmc-mi300x-bmm",
    "data/gfx1201-counters-pcsampling/gl2c_724",
    "data/gfx1151-rocprofv3-llama",
    "data/rocprofcompute-analysisdb/rocprof_compute_3kernels.db",
)
FORMS = ((), ("--all",), ("--by", "kernel"), ("--panel", "raw", "--panel", "system", "--panel", "top"))


def found(shared: Path, name: str) -> Path:
    path = shared / name
    if not path.exists():
        pytest.skip(f"{name} is not in ../shared")
    return path


def answer(*arguments: object) -> dict[str, Any]:
    done = call(*arguments, "--json")
    assert done.status == 0, done.stderr
    told = json.loads(done.stdout, parse_constant=lambda constant: pytest.fail(f"{constant} in the JSON"))
    assert isinstance(told, dict)
    return told


@pytest.mark.some_cases(4)
@pytest.mark.parametrize(("name", "form"), covering(CAPTURES, FORMS))
def test_every_capture_fits_a_narrow_terminal(
    name: str, form: tuple[str, ...], shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = call("counters", found(shared, name), *form)
    assert done.status == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for word in ("nan", " inf", "None"):
        assert word not in done.stdout.replace("instances", "").replace(" info", "")


@pytest.mark.first_case
@pytest.mark.parametrize("name", [name for name in CAPTURES if "inputs" in name or "bmm" in name])
def test_summaries_fit_two_screens(name: str, shared: Path) -> None:
    assert len(call("counters", found(shared, name)).stdout.splitlines()) <= 65


def test_hit_rates_of_the_batched_gemm(shared: Path) -> None:
    values = answer("counters", found(shared, "data/pmc-mi300x-bmm"), "--by", "kernel", "--metric", "17.1.2")["values"]
    gemm, fill = values["rows"]
    assert (gemm["dispatch_count"], fill["dispatch_count"]) == (150, 151)
    assert round(gemm["17.1.2"], 2) == 75.59
    assert round(fill["17.1.2"], 2) == 50.82


def test_raw_counters_of_the_batched_gemm(shared: Path) -> None:
    told = answer("counters", found(shared, "data/pmc-mi300x-bmm"), "--panel", "raw", "--kernel", "0")
    totals = {row["counter"]: row["total"] for row in told["raw"]["rows"]}
    assert totals["TCC_HIT"] == 251_669_556
    assert totals["TCC_MISS"] == 81_254_441
    assert totals["TCC_EA0_RDREQ"] == 61_679_312
    assert totals["SQ_WAVES"] == 1_228_800
    assert totals["SQ_INSTS_MFMA"] == 19_660_800


def test_values_of_dispatches_average_to_those_of_the_kernel(shared: Path) -> None:
    path = found(shared, "data/pmc-mi300x-bmm")
    asked = ("--kernel", "0", "--metric", "17.3.1")
    rows = answer("counters", path, "--by", "dispatch", *asked)["values"]["rows"]
    assert len(rows) == 150
    whole = answer("counters", path, *asked)["rows"]["rows"][0]
    each = [row["17.3.1"] for row in rows]
    assert sum(each) / 150 == pytest.approx(whole["average"], rel=1e-12)
    assert (min(each), max(each)) == (whole["minimum"], whole["maximum"])


def test_stopped_clocks_are_no_traffic_of_zero(shared: Path) -> None:
    told = answer("counters", found(shared, "data/gfx1201-counters-pcsampling/gl2c_724"), "--panel", "raw")
    totals = {row["counter"]: row["total"] for row in told["raw"]["rows"]}
    assert totals["GL2C_HIT"] is None
    assert totals["GL2C_EA_RDREQ"] is None
    assert totals["SQ_WAVES"] == 524_544
    assert any("clock" in loss["message"] for loss in told["losses"])


def test_captures_of_different_gpus_are_compared_by_name(shared: Path) -> None:
    """The reference shifts rows where a metric is on one side only (T13); MFMA FLOPs (F8) is such a metric."""
    paths = [found(shared, f"golden/compute/inputs/path/{name}") for name in ("MI200", "MI300X_A1")]
    told = answer("compare", *paths, "--panel", "2")
    sides = [
        {row["name"]: row["average"] for row in answer("counters", path, "--panel", "2")["rows"]["rows"]}
        for path in paths
    ]
    rows = told["metrics"]["rows"]
    assert {row["name"] for row in rows} == set(sides[0]) | set(sides[1])
    for row in rows:
        assert (row["base"], row["value"]) == (sides[0].get(row["name"]), sides[1].get(row["name"]))
    only = next(row for row in rows if row["name"] == "MFMA FLOPs (F8)")
    assert (only["base"], only["delta"], only["base_reason"]) == (None, None, "this GPU has no such metric")
    assert any("gfx90a" in note for note in told["notes"])


def assert_l2_agrees(path: Path, *options: str) -> None:
    """`l2` and `counters` of the same capture give the same hit rates, bytes per second and read sizes."""
    gpu = ("--target", options[1]) if options else ()
    kernels = {row["kernel_name"]: row for row in answer("l2", path, *gpu)["kernels"]["rows"]}
    told = answer("counters", path, *options, "--by", "kernel", "--panel", "17")
    assert len(told["values"]["rows"]) == len(kernels)
    for row in told["values"]["rows"]:
        kernel = kernels[row["kernel_name"]]
        assert row["17.1.2"] / 100 == pytest.approx(kernel["hit_rate"], rel=1e-12)
        assert row["17.1.3"] * 1e9 == pytest.approx(kernel["read_bytes_per_second"], rel=1e-12)
        if kernel["write_bytes_per_second"] is not None:
            assert row["17.1.4"] * 1e9 == pytest.approx(kernel["write_bytes_per_second"], rel=1e-12)


def test_l2_says_the_same_about_the_batched_gemm(shared: Path) -> None:
    assert_l2_agrees(found(shared, "data/pmc-mi300x-bmm"))


def test_l2_says_the_same_about_the_worked_example(tmp_path: Path) -> None:
    worked_example(tmp_path, bubble=True)
    assert_l2_agrees(tmp_path, "--target", "MI300X")


def test_sizes_and_shares_that_the_old_rocprof_derives(shared: Path) -> None:
    path = found(shared, "data/rocprofv1-mi200-stencils/laplacian_k1")
    told = answer("counters", path, "--panel", "raw", "--kernel", "laplacian")
    raw = {row["counter"]: row for row in told["raw"]["rows"]}
    assert round(raw["FETCH_SIZE"]["mean"], 1) == 1_984_890.8
    assert round(raw["WRITE_SIZE"]["mean"], 1) == 1_039_049.9
    assert raw["FETCH_SIZE"]["unit"] == "KiB"
    summary = call("counters", path).stdout
    assert "32 L2 channels, 1,638 GB/s of memory" in summary
    assert "derived by the profiler" in summary
    bound = answer("roofline", path)["kernels"]["rows"][0]
    assert bound["bound"] == "HBM"


def test_counters_that_no_metric_uses_are_shown_themselves(shared: Path) -> None:
    text = call("counters", found(shared, "data/rocprofv1-mi300a-hiptrace")).stdout
    assert "GPUBusy" in text
    assert "counters --plan" in text
    assert "panels: sol" not in text
    raw = answer("counters", found(shared, "data/gfx1151-rocprofv3-llama"), "--panel", "raw")["raw"]["rows"]
    hit = next(row for row in raw if row["counter"] == "L2CacheHit")
    assert (hit["unit"], hit["total"]) == ("%", None)


def test_l2_says_the_same_about_gfx12(shared: Path) -> None:
    path = found(shared, "data/gfx1201-counters-pcsampling/gl2c_714_profstd")
    told = {row["kernel_name"]: row for row in answer("l2", path)["kernels"]["rows"]}
    asked = ("--by", "kernel", "--metric", "L2-Fabric Read BW", "--panel", "sol")
    for row in answer("counters", path, *asked)["values"]["rows"]:
        assert told[row["kernel_name"]]["read_bytes_per_second"] / 1e9 == pytest.approx(row["2.1.7"], rel=0.02)


def test_bandwidths_of_an_analysis_database_are_in_bytes(shared: Path) -> None:
    path = found(shared, "data/rocprofcompute-analysisdb/rocprof_compute_3kernels.db")
    rows = answer("counters", path, "--panel", "sol")["rows"]["rows"]
    assert {row["unit"] for row in rows if row["name"].endswith("Cache BW")} == {"GB/s"}
