"""Registers, LDS and GPU of the MI350X directories, from the CSV and JSON files of the same runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import wavewright

USES = {
    "blockscale_preshuffle_gemm": (40, 0, 32, 8192, 256),
    "flash_attn_func": (124, 0, 112, 49152, 256),
    "fused_rope_cache": None,
    "hgemm_splitk": (132, 0, 112, 98304, 256),
    "layernorm": (36, 0, 32, 512, 256),
    "moe_blockscale": None,
    "moe_gemm": (80, 0, 32, 16384, 256),
    "pa": (96, 0, 112, 13312, 256),
    "preshuffle_gemm": (84, 0, 112, 32768, 256),
    "rmsnorm": (32, 0, 32, 512, 256),
    "vec_add": (8, 0, 32, 0, 256),
}
"""VGPR_Count, Accum_VGPR_Count, SGPR_Count, LDS_Block_Size and work-items of the kernel's rows in the CSV."""


@pytest.mark.first_case
@pytest.mark.parametrize("kernel", USES)
def test_the_run_beside_tells_registers_and_gpu(shared: Path, kernel: str) -> None:
    data = shared / "data"
    trace = wavewright.open(
        data / "uiout-mi350x-flydsl" / kernel, resources=[data / "rocprofv3-mi350x-flydsl" / kernel]
    )
    assert trace.source.target == "gfx950"
    ran = trace.kernels.filter(pl.col("kernel").is_in(trace.waves["kernel"].unique().to_list()))
    columns = ("vgprs", "agprs", "sgprs", "lds_bytes", "workgroup_size")
    told = set(ran.select(columns).rows())
    assert len(told) == 1
    if USES[kernel]:
        assert told == {USES[kernel]}
    else:
        assert None not in told.pop()
    assert not trace.losses["kind"].is_in(["resources_ambiguous", "resources_unread"]).any()


def test_a_result_file_tells_the_same(shared: Path) -> None:
    data = shared / "data"
    results = data / "rocprofv3-mi350x-flydsl" / "flash_attn_func" / "big_results.json.gz"
    trace = wavewright.open(data / "uiout-mi350x-flydsl" / "flash_attn_func" / "big", resources=[results])
    ran = trace.kernels.filter(pl.col("name") == "flash_attn_func_kernel_0")
    assert ran.select("vgprs", "sgprs", "lds_bytes", "kernarg_bytes").row(0) == (124, 112, 49152, 64)
    assert (trace.source.target, trace.source.target_origin) == ("gfx950", results.name)


def test_a_run_of_another_kernel_is_refused(shared: Path) -> None:
    data = shared / "data"
    directory = next((data / "uiout-mi350x-flydsl" / "layernorm" / "big").glob("ui_output*"))
    table = data / "rocprofv3-mi350x-flydsl" / "softmax" / "discover_kernel_trace.csv"
    with pytest.raises(wavewright.UsageError, match="nothing here about the kernels of the trace"):
        wavewright.open(directory, resources=[table])


def test_code_objects_of_the_capture_tell_about_its_decoded_directories(shared: Path) -> None:
    for capture in ("c01", "c08"):
        for directory in (shared / "data" / "att-mi300x-bmm" / capture).glob("ui_output*"):
            trace = wavewright.open(directory)
            assert trace.source.target == "gfx942"
            ran = trace.kernels.filter(pl.col("kernel").is_in(trace.waves["kernel"].unique().to_list()))
            assert ran["vgprs"].null_count() == 0
            assert ran["workgroup_size_max"].null_count() == 0


def test_other_runs_beside_tell_nothing(shared: Path) -> None:
    """Sets of other GPUs stand beside this one, which does not say on which GPU it was made."""
    assert wavewright.open(shared / "data" / "pcsampling-rcv").source.target is None
