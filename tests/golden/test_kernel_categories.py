"""Categories of all kernels of the public runs, and TraceLens' categories of the operators that launch them."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.opened import open_run
from wavewright.analysis.run.collectives.collectives import names_collective
from wavewright.analysis.run.kernels.categories import categories_of, category
from wavewright.analysis.run.kernels.top import top
from wavewright.facts.kernel_titles import kernel_head, kernel_title

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUNS = (
    *("kineto-amd/*.json.gz", "kineto-multirank-2of4", "rpd", "rocprofv3-mi350x-flydsl", "gfx1151-rocprofv3-llama"),
    *("att-mi300x-bmm", "rocprofv1-mi200-stencils", "rocprofv3-doc-samples", "rocprofv3-json-mi350x"),
)
#: Names of programs and examples that say nothing about what they do, by their starts.
OTHERS = (
    "compute_fd_",
    "laplacian_",
    "initialize_polynomial",
    "test_function",
    "check_kernel",
    "at::native::triu_tril",
)
#: TraceLens: category of the operator -> what its kernels may do.
TRACELENS = {
    "GEMM": {"GEMM"},
    "elementwise": {"elementwise"},
    "reduce": {"reduction"},
    "NORM_fwd": {"normalisation"},
    "CONV_fwd": {"convolution", "copy", "elementwise"},  # with the changes of layout around it
    "triton": {"elementwise", "reduction", "normalisation"},
}
OPERATORS = {
    "aten::_flash_attention_forward": "attention",
    "aten::cat": "copy",
    "aten::index_select": "embedding and index",
    "aten::_softmax": "softmax",
    "aten::arange": "elementwise",
}


@pytest.fixture(scope="module")
def names(shared: Path) -> set[str]:
    return {
        name for each in RUNS for name in open_run(shared / "data" / each).read("dispatches", ["name"])["name"].unique()
    }


@pytest.mark.slow
def test_nearly_all_public_names_have_a_category(names: set[str]) -> None:
    categories = categories_of(names)
    others = {kernel_head(kernel_title(name)) for name, category in categories.items() if category == "other"}
    assert len(names) > 400
    assert {name for name in others if not name.startswith(OTHERS)} == set()
    assert len(set(categories.values())) == 16


@pytest.mark.slow
def test_communication_is_the_same_as_in_overlap(names: set[str]) -> None:
    table = pl.DataFrame({"name": sorted(names)})
    marked = table.select(a=category(pl.col("name")) == "communication", b=names_collective("name"))
    assert marked["a"].equals(marked["b"].alias("a"))


def _told(folder: Path) -> Iterator[dict[str, str]]:
    with (folder / "kernel_summary.csv").open(newline="") as stream:
        yield from csv.DictReader(stream)


def test_tracelens_agrees(shared: Path) -> None:
    rows = 0
    for folder in sorted((shared / "data/kineto-amd").glob("expected_*")):
        for row in _told(folder):
            operator, name = row.get("Parent cpu_op"), row["Kernel name"]
            allowed = (
                {OPERATORS[operator]}
                if operator in OPERATORS
                else TRACELENS.get(row.get("Parent op category", ""), set())
            )
            if allowed:
                rows += 1
                assert categories_of([name])[name] in allowed
    assert rows > 60


@pytest.mark.parametrize("name", ["Qwen_Qwen1.5-0.5B-Chat__1016005", "torch_compile_triton", "gpu_only_trace"])
def test_time_per_category(shared: Path, name: str) -> None:
    """GEMM and attention by the starts of their names, in the shares that TraceLens gives to names."""
    folder = shared / "data/kineto-amd"
    answer = top(open_run(folder / f"{name}.json.gz"))
    table = dict(answer.categories.select("category", "share").iter_rows())
    assert sum(table.values()) == pytest.approx(1)
    assert answer.categories["total_ns"].sum() == answer.total_ns
    for start, category_name in (("Cijk_", "GEMM"), ("attn_fwd", "attention"), ("igemm_", "convolution")):
        shares = [
            float(row["Percent of kernels time (%)"])
            for row in _told(folder / f"expected_{name}")
            if row["Kernel name"].startswith(start)
        ]
        assert table.get(category_name, 0) == pytest.approx(sum(shares) / 100, abs=2e-3)
