"""Operators by the shapes of their inputs: who owns the GPU work, and how many operations it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tests.kit.made_runs import Row, rows, run, source, spans
from tests.kit.together import together
from wavewright.analysis.run.kernels.operators import (
    combine_operators,
    named_operators,
    operators,
    partial_operators,
)
from wavewright.errors import UsageError
from wavewright.facts.metrics.operators import cost, own_models
from wavewright.model.blocks import Preformatted
from wavewright.model.run import Run
from wavewright.words.run.operators import operators_report

if TYPE_CHECKING:
    from pathlib import Path

BF16 = "c10::BFloat16"


def asked(name: str, dims: Any, types: Any, values: Any = None) -> tuple[int, int | None]:
    found = cost(name, json.dumps(dims), json.dumps(types), None if values is None else json.dumps(values))
    assert found is not None
    return found.flops, found.bytes


def test_products_of_matrices() -> None:
    assert asked("aten::mm", [[8, 4], [4, 2]], [BF16, BF16]) == (128, 2 * (32 + 8 + 16))
    assert asked("aten::mm", [[8, 4], [4, 2], [8, 2]], [BF16] * 3) == (128, 112), "mm.out names its result"
    assert asked("aten::addmm", [[2], [8, 4], [4, 2], [], []], [BF16] * 3) == (128 + 16, 112 + 4)
    assert asked("aten::bmm", [[3, 8, 4], [3, 4, 2]], ["float"] * 2) == (384, 4 * 3 * 56)
    assert asked("aten::baddbmm", [[3, 8, 2], [3, 8, 4], [3, 4, 2]], ["float"] * 3) == (384 + 48, 4 * 3 * (56 + 16))
    assert asked("aten::linear", [[5, 2, 4], [3, 4], [3]], [BF16] * 3) == (2 * 10 * 3 * 4 + 30, 2 * (40 + 12 + 30 + 3))
    assert asked("aten::linear", [[5, 2, 4], [3, 4], []], [BF16, BF16, ""]) == (240, 2 * (40 + 12 + 30))
    fp8 = "c10::Float8_e4m3fnuz"
    scaled = [[8, 4], [4, 2], [], [], [], [], [], []]
    assert asked("aten::_scaled_mm", scaled, [fp8, fp8], ["", "", "", "", "", "", "15", "False"]) == (128, 32 + 8 + 32)
    assert asked("aten::_scaled_mm", scaled, [fp8, fp8]) == (128, None), "the type of the result is not known"


def test_attention() -> None:
    query, flash = [2, 3, 10, 4], "aten::_scaled_dot_product_flash_attention"
    values = ["", "", "", "0.", "False", "False", "0.5"]
    flops, moved = asked(flash, [query] * 3, [BF16] * 3, values)
    assert (flops, moved) == (4 * 2 * 3 * 10 * 10 * 4, 4 * 240 * 2)
    causal = [*values[:4], "True", *values[5:]]
    assert asked(flash, [query] * 3, [BF16] * 3, causal) == (4 * 2 * 3 * (10 * 11 // 2) * 4, moved), "with the diagonal"
    heads_last = asked("flash_attn::_flash_attn_forward", [[2, 10, 3, 4]] * 3, [BF16] * 3, [""] * 5 + ["False"])
    assert heads_last == (flops, moved)
    grouped = asked(flash, [query, [2, 1, 7, 4], [2, 1, 7, 4]], [BF16] * 3)
    assert grouped == (4 * 2 * 3 * 10 * 7 * 4, 2 * (240 + 56 + 56 + 240))


def test_convolutions() -> None:
    parameters = ["[16, 16]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"]
    data, weight, gradient = [128, 3, 224, 224], [768, 3, 16, 16], [128, 768, 14, 14]
    once = (29_595_009_024, 78_249_984)
    assert asked("aten::convolution", [data, weight, [768]], [BF16] * 3, ["", "", "", *parameters]) == once
    spread = ["", "", "", "[2]", "[1]", "[2]", "False", "[0]", "2"]
    assert asked("aten::convolution", [[1, 4, 9], [6, 2, 3], []], ["float"] * 2, spread) == (
        2 * 6 * 4 * 2 * 3,
        4 * (36 + 36 + 24),
    )
    for wanted, times in (("[False, True, False]", 1), ("[True, True, False]", 2)):
        values = ["", "", "", "", *parameters, wanted]
        flops, moved = asked("aten::convolution_backward", [gradient, data, weight, []], [BF16] * 3, values)
        assert (flops, moved) == (once[0] * times, once[1] * times)


@together(
    "name, dims",
    [
        ("aten::mul", "[[8, 4], [4, 2]]"),
        ("aten::mm", None),
        ("aten::mm", "[[8, 4], [5, 2]]"),
        ("aten::mm", "[[8, 4]]"),
        ("aten::mm", "[[8, -4], [-4, 2]]"),
        ("aten::mm", '[["8", 4], [4, 2]]'),
        ("aten::mm", "[[8, 4], [4, 0]]"),
        ("aten::mm", f"[[{1 << 61}, {1 << 61}], [{1 << 61}, 2]]"),
        ("aten::mm", "{}"),
        ("aten::mm", "not json"),
        ("aten::mm", "[" * 100_000),
        ("aten::bmm", "[[3, 8, 4], [2, 4, 2]]"),
        ("aten::convolution", "[[1, 4, 9], [6, 2, 3]]"),
        ("aten::convolution_backward", "[[1, 4, 9], [1, 4, 9], [6, 2, 3]]"),
    ],
)
def test_what_cannot_be_counted_is_not(name: str, dims: str | None) -> None:
    assert cost(name, dims, '["float", "float"]', None) is None


def test_a_stride_of_zero_is_not_counted() -> None:
    values = json.dumps(["", "", "", "[0]", "[1]", "[1]", "False", "[0]", "1"])
    assert cost("aten::convolution", "[[1, 4, 9], [6, 4, 3]]", "[]", values) is None


def operator(begin: int, end: int, name: str, dims: Any = None) -> Row:
    recorded = {} if dims is None else {"Input Dims": dims, "Input type": [BF16] * len(dims), "Concrete Inputs": [""]}
    return {
        "start_ns": begin,
        "end_ns": end,
        "name": name,
        "thread": 0,
        "domain": "OPERATOR",
        "event_properties": json.dumps(recorded),
    }


def launch(at: int, correlation: int) -> Row:
    name = "hipLaunchKernel"
    return {"start_ns": at, "end_ns": at + 1, "name": name, "thread": 0, "domain": "HIP", "correlation": correlation}


def products() -> dict[str, list[Row]]:
    shapes = [[8, 4], [4, 2]]
    return {
        "regions": [
            operator(0, 40, "aten::linear", [[8, 4], [2, 4]]),
            operator(2, 38, "aten::mm", shapes),
            operator(4, 8, "aten::fill_", [[1]]),
            launch(5, 1),
            launch(20, 2),
            operator(50, 60, "aten::mm", shapes),
            launch(55, 3),
            operator(70, 80, "aten::mul", [[8, 2], []]),
            launch(75, 4),
            operator(90, 95, "aten::view", [[8, 2]]),
            launch(100, 5),
        ],
        "dispatches": [
            row for n, length in enumerate((3, 60, 65, 7, 11), 1) for row in spans((100, 100 + length), correlation=n)
        ],
    }


def test_work_belongs_to_the_innermost_operator_that_can_be_counted() -> None:
    found = operators(run(**products()))
    assert rows(found.operators, "name", "input_dims", "call_count", "gpu_count", "gpu_ns", "flops") == [
        ("aten::mm", "[[8,4],[4,2]]", 2, 3, 128, 128),
        ("aten::mul", "[[8,2],[]]", 1, 1, 7, 16),
    ]
    assert "operators launched 135 ns of the 146 ns of GPU time" in str(next(iter(operators_report(found))))
    assert found.operators["flops_per_second"].to_list() == [2e9, pytest.approx(16 / 7e-9)]
    assert found.operators["bytes_per_second"][0] == pytest.approx(2 * 112 / 128e-9)
    assert (found.gpu_ns, found.counted_gpu_ns, found.counted_flops) == (135, 135, 272.0)
    assert (found.operator_count, found.unlinked_gpu_ns) == (6, 11)
    assert named_operators(found, "mul").operators["name"].to_list() == ["aten::mul"]


def test_files_are_added_up() -> None:
    parts = Run([source("a.db", pid=1, **products()), source("b.db", pid=2, **products())])
    assert rows(operators(parts).operators, "call_count", "gpu_ns", "mean_gpu_ns") == [(4, 256, 64.0), (2, 14, 7.0)]


def test_only_calls_that_launched_work_count() -> None:
    made = products()
    made["dispatches"] = made["dispatches"][2:3]  # as in a window with the work of the second product alone
    (row,) = operators(run(**made)).operators.to_dicts()
    assert (row["call_count"], row["gpu_ns"], row["mean_gpu_ns"]) == (1, 65, 65.0)
    assert row["flops_per_second"] == pytest.approx(128 / 65e-9)


@together("properties", ["", "{", "[]", "null", '{"Input Dims": 7}', '{"Input Dims": {"a": [1]}}'])
def test_names_and_properties_of_any_kind(properties: str) -> None:
    made = [operator(0, 9, "a\x1fb\x1f\x1fc") | {"event_properties": properties}, launch(1, 1)]
    found = operators(run(regions=made, dispatches=spans((1, 5), correlation=1)))
    assert rows(found.operators, "name", "gpu_ns", "flops") == [("a\x1fb\x1f\x1fc", 4, None)]


def test_nothing_recorded() -> None:
    assert operators(run(regions=[launch(0, 1)], dispatches=spans((1, 5), correlation=1))).operators.is_empty()
    assert operators(Run([])).operators.is_empty()
    plain = operators(run(regions=[operator(0, 9, "aten::mm"), launch(1, 1)], dispatches=spans((1, 5), correlation=1)))
    assert rows(plain.operators, "name", "input_dims", "flops", "gpu_ns") == [("aten::mm", None, None, 4)]


def test_a_run_without_operators_can_be_searched() -> None:
    answer = named_operators(operators(run(dispatches=spans((0, 10)))), "")
    assert (answer.operators.height, answer.unlinked_gpu_ns) == (0, 10)


def test_the_roof_is_that_of_the_recorded_gpu() -> None:
    made = products()
    part = source("a.db", **made)
    agents = part.tables["agents"].with_columns(product=pl.lit("AMD Instinct MI300X"))
    part.tables["agents"] = agents
    first = operators(Run([part])).operators.row(0, named=True)
    assert first["roof_ns"] == pytest.approx(2 * 112 / 5.3248e12 * 1e9), "both products are bound by memory"
    assert (first["roof_share"], first["limit"]) == (pytest.approx(first["roof_ns"] / 128), "size")
    assert first["mean_host_ns"] == (36 + 10) / 2


def test_models_of_the_user_count_first(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('["my product"]\noperators = ["aten::mul"]\nflops = "7*n0"\nbytes = "b0"\n')
    made = run(**products())
    answer = combine_operators([partial_operators(made, models=own_models([file]))])
    (mine,) = answer.operators.filter(pl.col("name") == "aten::mul").to_dicts()
    assert (mine["flops"], mine["moved_bytes"], mine["model"]) == (7 * 16, 32, "my product")
    for mistake in ('operators = ["("]', 'flops = "n0 **2"', "flops = 7", 'unknown = "x"'):
        key = mistake.split(" = ")[0]
        lines = {"operators": 'operators = ["a"]', "flops": 'flops = "n0"', "bytes": 'bytes = "b0"', key: mistake}
        file.write_text("[x]\n" + "\n".join(lines.values()))
        with pytest.raises(UsageError):
            own_models([file])


def test_calls_of_two_kinds_are_not_averaged() -> None:
    name, step = (
        "vllm::unified_attention_with_output",
        "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk9sqsq2sqsk9)",
    )
    regions: list[Row] = [{"start_ns": 0, "end_ns": 999, "name": step, "thread": 0, "domain": "MARKER"}]
    dispatches: list[Row] = []
    for n in range(8):
        regions += [operator(10 * n, 10 * n + 9, name, [[2, 4, 16], [2, 1, 16], [2, 1, 16]]), launch(10 * n + 1, n + 1)]
        dispatches += spans((100 * n, 100 * n + (20 if n % 2 else 61)), correlation=n + 1)
    answer = operators(run(regions=regions, dispatches=dispatches))
    assert rows(answer.operators, "times", "call_count", "gpu_ns", "flops") == [
        ("longer", 4, 244, 4 * 4 * 16 * 9),
        ("shorter", 4, 80, None),
    ]


def test_a_gather_moves_its_result_at_least() -> None:
    """The index of a lookup of embeddings is one column seen 64 times: its bytes are not moved 64 times."""
    gather = operator(0, 9, "aten::gather", [[1000, 64], [], [32, 64], [], [32, 64]])
    gather["event_properties"] = json.dumps(
        json.loads(gather["event_properties"]) | {"Input type": ["float", "Scalar", "long int", "Scalar", "float"]}
    )
    (row,) = operators(
        run(regions=[gather, launch(1, 1)], dispatches=spans((100, 200), correlation=1))
    ).operators.to_dicts()
    assert (row["model"], row["flops"], row["moved_bytes"]) == ("rows of a table", 0, 32 * 64 * 4)


_MX = "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x32x64x1"


def experts(workgroups: tuple[int, int], second: str = _MX) -> dict[str, list[Row]]:
    """10 tokens of 48 to 3 of 4 experts: 30 rows in 2 + 3 tiles of 16."""
    top = operator(1, 2, "TopK", [[10, 4]])
    top["event_properties"] = json.dumps({"Concrete Inputs": ["", "3"]})
    names = (f"{_MX}_swiglu", second)
    return {
        "regions": [
            operator(0, 40, "vllm::moe_forward", [[10, 48], [10, 4], [], []]),
            top,
            launch(5, 1),
            launch(20, 2),
        ],
        "dispatches": [
            {"start_ns": 100, "end_ns": 150, "name": name, "correlation": at, "grid_x": count * 64, "workgroup_x": 64}
            for at, (name, count) in enumerate(zip(names, workgroups, strict=True), 1)
        ],
    }


def test_experts_by_the_tiles_of_their_kernels() -> None:
    (row,) = operators(run(**experts((5 * 3, 5 * 2)))).operators.to_dicts()
    # Gate and up are 65 to 96 wide, the second product 48: 2 tiles of 32. At least 3 experts are read, at most 4.
    assert (row["flops"], row["flops_max"]) == (3 * 30 * 48 * 65, 3 * 30 * 48 * 96)
    low, high = (960 + used * 48 * up * 1.5 * 17 / 32 + 30 * (up + 48) * 2 for used, up in ((3, 65), (4, 96)))
    assert (row["moved_bytes"], row["moved_bytes_max"]) == (round(low), round(high))
    (row,) = operators(run(**experts((15, 10), second=_MX.replace("mxfp4", "mxint3")))).operators.to_dicts()
    assert (row["flops"], row["moved_bytes"]) == (3 * 30 * 48 * 65, None), "of these weights the size is not known"


@pytest.mark.parametrize("workgroups", [(16, 10), (15, 5), (15, 15), (0, 10), (15, 1 << 40)])
def test_a_grid_that_fits_no_shape_gives_no_number_but_a_model_to_fill_in(
    workgroups: tuple[int, int], tmp_path: Path
) -> None:
    made = run(**experts(workgroups))
    answer = operators(made)
    assert rows(answer.operators, "name", "flops", "flops_max") == [("vllm::moe_forward", None, None)]
    (text,) = (block.text for block in operators_report(answer) if isinstance(block, Preformatted))
    models = tmp_path / "experts.toml"
    models.write_text(text)
    assert operators_with(made, models)["flops"] is None, "as long as nothing is filled in"
    models.write_text(
        text.replace("topk = 0", "topk = 3").replace("inner = 0", "inner = 40").replace("size = 0", "size = 2")
    )
    row = operators_with(made, models)
    assert (row["flops"], row["flops_max"]) == (6 * 30 * 48 * 40,) * 2
    assert (row["moved_bytes"], row["moved_bytes_max"]) == tuple(2 * 960 + 3 * used * 48 * 40 * 2 for used in (3, 4))


def operators_with(made: Run, models: Path) -> dict[str, Any]:
    (row,) = combine_operators([partial_operators(made, models=own_models([models]))]).operators.to_dicts()
    return row


def test_experts_with_recorded_weights() -> None:
    shapes = [[10, 48], [4, 80, 48], [4, 48, 40], [10, 3], [10, 3]]
    types = [BF16, "c10::Float8_e4m3fnuz", "c10::Float8_e4m3fnuz", "float", "int"]
    flops, weights = 2 * 30 * 48 * 80 + 2 * 30 * 40 * 48, 80 * 48 + 48 * 40
    for name in ("aiter::fused_moe_", "vllm::rocm_aiter_fused_moe", "vllm::outplace_fused_experts"):
        found = cost(name, json.dumps(shapes), json.dumps(types), None)
        assert found
        assert (found.flops, found.flops_max) == (flops, flops)
        assert (found.bytes, found.bytes_max) == tuple(2 * 960 + used * weights + 120 for used in (3, 4))
    packed = [shapes[0], [4, 80, 24], [4, 48, 20], *shapes[3:]]
    assert cost("aiter::fused_moe_", json.dumps(packed), json.dumps(types), None) is None, "two weights in one element"
    values = ["", "", "", "", "", "", "", "", "3"]
    assert asked("aiter::fmoe_g1u1", [shapes[0], *shapes[:3]], [BF16, *types[:3]], values) == (
        flops,
        2 * 960 + 3 * weights,
    )
    first = [shapes[0], shapes[1], shapes[2], [], [], [], [10, 3, 40]]
    assert asked("aiter::ck_moe_stage1", first, [*types[:3], "", "", "", BF16], values[1:]) == (
        2 * 30 * 48 * 80,
        960 + 3 * 80 * 48 + 2400,
    )
    second = [[10, 3, 40], shapes[1], shapes[2], [], [], [], shapes[0]]
    assert asked("aiter::ck_moe_stage2", second, [*types[:3], "", "", "", BF16], values[1:]) == (
        2 * 30 * 48 * 40,
        2400 + 3 * 48 * 40 + 960,
    )
