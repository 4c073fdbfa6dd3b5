"""rocprofv3 JSON of MI350X: counts and sums, and runs of thread traces without dispatch records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from wavescope.readers.run.inputs import open_profile

if TYPE_CHECKING:
    from pathlib import Path


def test_dispatches_of_a_training_run(shared: Path) -> None:
    profile = open_profile(shared / "data/rocprofv3-json-mi350x/908_first8000_results.json.gz")
    kernels = profile.kernels.with_columns(pl.col("name").cast(pl.String), ns=pl.col("end_ns") - pl.col("begin_ns"))
    assert (kernels.height, kernels["name"].n_unique(), kernels["ns"].sum()) == (8000, 80, 2402077915)
    nccl = kernels.filter(pl.col("name").str.starts_with("ncclDevKernel_Generic_1"))
    assert (nccl.height, nccl["ns"].sum()) == (174, 2357204841)
    assert profile.queues.height == 5
    assert set(profile.agents["product"].gather(kernels["agent"].unique())) == {"AMD Instinct MI350X"}
    assert profile.processes["pid"].to_list() == [908]
    assert not profile.losses.height


@pytest.mark.parametrize(
    ("file", "symbols"),
    [("flash_attn_func/big", 2216), ("flash_attn_func/small", None), ("vec_add/big", 1515)],
)
def test_thread_trace_runs_have_agents_and_kernels_but_no_dispatches(
    shared: Path, file: str, symbols: int | None
) -> None:
    profile = open_profile(shared / f"data/rocprofv3-mi350x-flydsl/{file}_results.json.gz")
    assert (profile.kernels.height, profile.agents.height) == (0, 10)
    assert profile.symbols.height == symbols if symbols else profile.symbols.height
    assert not profile.losses.height
