"""GEMMs, convolutions and attention of public traces against the tables that TraceLens made of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from tests.kit.opened import open_run
from tests.kit.sampling import every_third
from wavewright.analysis.run.contents.regions import regions
from wavewright.analysis.run.diagnose import diagnose_run
from wavewright.analysis.run.kernels.operators import combine_operators, partial_operators
from wavewright.analysis.run.kernels.operators import operators as operators_of
from wavewright.facts.metrics.operators import own_models
from wavewright.words.run.operators import operators_report

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
    operators = operators_of(open_run(folder / f"{name}.json.gz")).operators
    expected = expected_rows(folder / f"expected_{name}", "GEMM.csv", "SDPA_fwd.csv", "CONV_fwd.csv")
    assert len(expected) == TRACES[name]
    for row in expected:
        dims = json.dumps(json.loads(row["Input Dims_first"]), separators=(",", ":"))
        (ours,) = operators.filter((pl.col("name") == row["name"]) & (pl.col("input_dims") == dims)).to_dicts()
        assert ours["call_count"] == int(row["name_count"])
        theirs = round(float(row["GFLOPS_first"]) * 1e9)
        if ours["input_values"] and "True" in ours["input_values"] and "attention" in row["name"]:
            # They leave out half of the diagonal, that every query attends to itself.
            assert theirs < ours["flops"] < theirs * 1.002
        else:
            assert ours["flops"] == theirs
        assert ours["moved_bytes"] == round(float(row["Data Moved (MB)_first"]) * (1 << 20))
        time_us = float(row["Kernel Time (µs)_sum"])
        assert ours["gpu_ns"] / 1e3 == pytest.approx(time_us, abs=0.01)
        rate = float(row["GFLOPS_first"]) * 1e9 * int(row["name_count"]) / (time_us / 1e6)
        assert ours["flops_per_second"] == pytest.approx(rate, rel=2e-3)
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


GRAPHS = ("kineto-graphs", "vllm_prefilldecode_piecewise"), ("kineto-graphs", "sglang_decode")
MIB = 1 << 20
#: Operator, calls and GPU time in ns -> operations and MiB of a call, worked out by scripts of their own.
SERVING: dict[tuple[str, int, int], tuple[int, float]] = {
    ("aten::addmm", 24, 9_153_921): (241_633_853_440, 153.134766),
    ("aten::addmm", 24, 7_556_131): (193_297_121_280, 131.505493),
    ("aten::mm", 36, 2_417_659): (6_442_450_944, 193.75),
    ("sglang_profiler::attention_paged_attention_ragged_100", 36, 2_127_869): (537_149_440, 128.566406),
    ("vllm::unified_attention_with_output", 12, 3_562_649): (65_076_985_856, 211.826172),
    ("aiter::rmsnorm2d_fwd_with_add_ck", 48, 3_367_740): (117_964_800, 180.005493),
    ("sgl_kernel::silu_and_mul", 36, 324_367): (1_966_080, 2.25),
    ("sgl_kernel::rotary_embedding", 36, 195_815): (491_520, 0.633057),
    ("_C::rotary_embedding", 24, 1_706_329): (113_246_208, 145.0625),
    ("_C_cache_ops::reshape_and_cache_flash", 24, 586_371): (0, 32.0625),
    ("triton_poi_fused_constant_pad_nd_moe_forward_0", 24, 1_566_326): (0, 93.0),
    ("triton_poi_fused__to_copy_1", 23, 435_695): (0, 48.0),
}


@pytest.mark.slow
def test_operators_of_serving(shared: Path) -> None:
    answers = [operators_of(open_run(shared / "data" / folder / name)) for folder, name in GRAPHS]
    found = {
        (row["name"], row["call_count"], row["gpu_ns"]): row
        for answer in answers
        for row in answer.operators.to_dicts()
    }
    for key, (flops, mib) in SERVING.items():
        assert found[key]["flops"] == flops, key
        assert found[key]["moved_bytes"] / MIB == pytest.approx(mib, abs=1e-6), key
    vllm, sglang = answers
    assert (vllm.gpu, sglang.gpu) == ("MI300X by its 304 CUs", "MI300X")
    # With 5.3 TB/s, as the product is sold, 39.7 %; with its clock and width 5.3248 TB/s.
    assert sglang.roof_ns / 9_778_614 == pytest.approx(0.3943, abs=0.003)
    addmm = found["aten::addmm", 24, 9_153_921]
    assert (addmm["roof_share"], addmm["limit"]) == (pytest.approx(0.485, abs=1e-3), "computation")
    attention = [row for row in vllm.operators.to_dicts() if "unified_attention" in row["name"]]
    assert [(row["times"], row["call_count"], row["flops"] is None) for row in attention] == [
        ("longer", 12, False),
        ("shorter", 12, True),
    ]


def test_a_busy_gpu_gets_advice_about_operators(shared: Path) -> None:
    run = open_run(shared / "data" / "kineto-amd" / "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz")
    (note,) = [note for note in diagnose_run(run).notes if note.rule == "N4"]
    assert note.text.startswith("aten::_scaled_dot_product_flash_attention takes 13.5 %")
    assert "8.2 % of the peak of memory (MI300X)" in note.text


@pytest.mark.slow
def test_experts_follow_from_the_grid_of_their_kernels(shared: Path, tmp_path: Path) -> None:
    """Workgroups, tiles and shapes as `args` of the capture have them; the division by hand."""
    run = open_run(shared / "data/kineto-graphs/vllm_prefilldecode_piecewise/graph_execution.json.gz")
    answer = operators_of(run)
    (experts,) = answer.operators.filter(pl.col("name") == "vllm::moe_forward").to_dicts()
    rows, hidden, tiles_of_rows = 8192 * 4, 3072, 256 + 31
    assert (tiles_of_rows * 46, tiles_of_rows * (hidden // 128)) == (13_202, 6_888)
    assert (experts["flops"], experts["flops_max"]) == (
        3 * rows * hidden * (45 * 128 + 1),
        3 * rows * hidden * 46 * 128,
    )
    # vLLM rounds 2,880 up to a multiple of 128 for this GPU: 2 x 2,944 columns, within the interval.
    assert experts["flops"] < 3 * rows * hidden * 2 * 2944 <= experts["flops_max"]
    bytes_of = [
        2 * 8192 * hidden + used * hidden * width * 3 * 17 / 64 + rows * (width + hidden) * 2
        for used, width in ((4, 45 * 128 + 1), (32, 46 * 128))
    ]
    assert [experts["moved_bytes"], experts["moved_bytes_max"]] == pytest.approx(bytes_of, abs=1)
    assert (round(experts["roof_share"], 3), round(experts["roof_share_max"], 3)) == (0.255, 0.260)
    assert answer.rated_gpu_ns / answer.gpu_ns == pytest.approx(0.9895, abs=0.0005)
    assert "with a model take 99.0 % of it" in str(next(iter(operators_report(answer))))
    # The documented model for those who know the rest: 1,236.950581 and 618.475291 GFLOP, 546 and 537 MiB by a script.
    text = (Path(__file__).parents[2] / "docs/reference/operators.md").read_text(encoding="utf-8")
    (block,) = (part for part in text.split("```toml\n") if part.startswith('["experts'))
    models = tmp_path / "models.toml"
    models.write_text(block.split("```")[0], encoding="utf-8")
    answer = combine_operators([partial_operators(part, models=own_models([models])) for part in run.parts])
    (experts,) = answer.operators.filter(pl.col("name") == "vllm::moe_forward").to_dicts()
    assert experts["flops"] == pytest.approx(1_236.950581e9 + 618.475291e9, rel=1e-6)
    assert experts["moved_bytes_max"] == pytest.approx((546 + 537) * 2**20, rel=1e-3)
