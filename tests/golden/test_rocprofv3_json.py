"""rocprofv3 JSON of MI350X: counts and sums, and runs of thread traces without dispatch records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.opened import open_run

if TYPE_CHECKING:
    from pathlib import Path


def test_dispatches_of_a_training_run(shared: Path) -> None:
    run = open_run(shared / "data/rocprofv3-json-mi350x/908_first8000_results.json.gz")
    kernels = run.dispatches.with_columns(pl.col("name").cast(pl.String), ns=pl.col("end_ns") - pl.col("start_ns"))
    assert (kernels.height, kernels["name"].n_unique(), kernels["ns"].sum()) == (8000, 80, 2402077915)
    nccl = kernels.filter(pl.col("name").str.starts_with("ncclDevKernel_Generic_1"))
    assert (nccl.height, nccl["ns"].sum()) == (174, 2357204841)
    assert run.queues.height == 5
    assert set(run.agents["product"].gather(kernels["agent"].unique())) == {"AMD Instinct MI350X"}
    assert run.processes["pid"].to_list() == [908]
    assert not run.losses.height


@pytest.mark.parametrize(
    ("file", "symbols"),
    [("flash_attn_func/big", 2216), ("flash_attn_func/small", None), ("vec_add/big", 1515)],
)
def test_thread_trace_runs_have_agents_and_kernels_but_no_dispatches(
    shared: Path, file: str, symbols: int | None
) -> None:
    run = open_run(shared / f"data/rocprofv3-mi350x-flydsl/{file}_results.json.gz")
    assert (run.dispatches.height, run.agents.height) == (0, 10)
    assert run.symbols.height == symbols if symbols else run.symbols.height
    assert not run.losses.height
