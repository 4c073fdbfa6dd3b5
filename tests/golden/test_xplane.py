"""A run of JAX on eight MI300X against what a decoding by hand of the same file gives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.opened import open_run
from wavewright.analysis.run.gpu_time.busy import busy
from wavewright.analysis.run.steps import steps
from wavewright.readers.run.xplane.planes import read_space

if TYPE_CHECKING:
    from pathlib import Path

_FILE = "data/xplane-mi300x/jax_conv_minimal_08.xplane.pb"


def test_counts_and_times(shared: Path) -> None:
    run = open_run(shared / _FILE)
    assert run.losses.height == 0
    assert run.nodes["hostname"].to_list() == ["tw003"]
    assert run.agents.select("absolute_index", "cu_count").rows() == [(number, 304) for number in range(8)]
    kernels = run.dispatches
    per_gpu = kernels.group_by("agent").len().sort("agent")["len"].to_list()
    assert per_gpu == [60, 25, 25, 25, 25, 25, 25, 25]
    assert kernels["start_ns"].min() == 1_771_595_639_214_724_894 + 911_061 + 700_301
    assert run.streams.height == 11
    calls = run.regions.filter(pl.col("domain") == "HIP")
    assert calls.height == 234
    assert kernels.join(calls, on="correlation", how="semi").height == 235
    first = kernels.filter(pl.col("name") == "loop_transpose_fusion").row(0, named=True)
    assert (first["grid_x"], first["workgroup_x"], first["lds_bytes"]) == (1280 * 256, 256, 0)
    assert json.loads(first["properties"])["hlo_module"] == "jit_forward_3d_conv"
    assert busy(run).gpus.height == 8


def test_steps_are_the_calls_of_the_compiled_function(shared: Path) -> None:
    """`PJRT_LoadedExecutable_Execute` is there five times; it has no marker, and 235 kernels on 8 GPUs."""
    run = open_run(shared / _FILE)
    executions = run.regions.filter(pl.col("name") == "PJRT_LoadedExecutable_Execute").sort("start_ns")
    answer = steps(run)
    assert (executions.height, answer.source) == (5, "calls of forward_3d_conv (jax.jit)")
    assert answer.steps["kernel_count"].to_list() == [47] * 5
    inside = zip(answer.steps.iter_rows(named=True), executions["start_ns"], strict=True)
    assert all(step["start_ns"] <= start < step["end_ns"] for step, start in inside)


def test_allocations_reach_what_the_allocator_counted(shared: Path) -> None:
    run = open_run(shared / _FILE)
    memory = run.allocations.sort("start_ns")
    assert dict(memory.group_by("type").len().iter_rows()) == {"ALLOC": 115, "FREE": 115}
    one = memory.filter(pl.col("agent") == 0)
    counted = one["properties"].str.json_path_match("$.bytes_allocated").cast(pl.Int64)
    change = pl.Series([json.loads(text)["allocation_bytes"] for text in one["properties"]])
    signed = change * one["type"].cast(pl.String).replace_strict({"ALLOC": 1, "FREE": -1})
    assert (counted.diff().drop_nulls() == signed[1:]).all()


@pytest.mark.slow
def test_cut_at_every_97th_byte(shared: Path) -> None:
    content = (shared / _FILE).read_bytes()
    counts = []
    for end in range(97, len(content), 97 * 41):
        space = read_space(content[:end])
        assert space.damage_count > 0
        counts.append(sum(len(line.events) for plane in space.planes for line in plane.lines))
    assert counts == sorted(counts)
    assert counts[-1] > 3000
