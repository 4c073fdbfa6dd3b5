"""Live registers of the code of a trace: by hand, against the pass over code objects, and below what is allocated."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from tests.e2e.inputs import real_trace
from tests.kit.small_traces import frame, small_trace
from wavewright.analysis.code.kernel import kernel_code
from wavewright.analysis.trace.code.live import live_rows
from wavewright.analysis.trace.occupancy.resources import registers
from wavewright.codeobj.code_object import CodeObject
from wavewright.model.trace import ThreadTrace, TraceSource

# v0 holds the ids. Beside each row: vector registers that are live before it, and after it with what it writes.
KERNEL = [
    "v_lshlrev_b32_e32 v1, 2, v0",  # v0; v0 v1
    "v_mov_b32_e32 v2, 0",  # v0 v1; v0 v1 v2
    "v_add_f32_e32 v3, v1, v2",  # v0 v1 v2; v0 v2 v3
    "v_add_f32_e32 v2, v3, v3",  # v0 v3; v0 v2
    "global_store_dword v0, v2, s[0:1]",  # v0 v2; none
    "s_endpgm",
]


def test_straight_code_by_hand() -> None:
    answer = live_rows(small_trace(KERNEL, [(0, "VALU", 0, 0, 4)]))
    assert answer["row"].to_list() == list(range(6))
    assert answer["live_vgprs"].to_list() == [2, 3, 3, 2, 2, 0]
    assert answer["live_agprs"].to_list() == [0] * 6
    assert answer["live_sgprs"].to_list() == [2, 2, 2, 2, 2, 0]
    assert answer["waves_per_simd"].to_list() == [8] * 6  # few registers: as many waves as the hardware has


def test_a_value_is_live_in_the_loop_that_reads_it() -> None:
    texts = [
        "v_mov_b32_e32 v1, 0",
        "v_mov_b32_e32 v2, 1.0",
        "v_add_f32_e32 v1, v1, v2",  # the loop: v1 and v2 are read again
        "s_cmp_lt_i32 s4, s5",
        "s_cbranch_scc1 65533",
        "global_store_dword v0, v1, s[0:1]",
        "s_endpgm",
    ]
    size = [4, 4, 4, 4, 4, 8, 4]
    address = [sum(size[:row]) for row in range(len(size))]
    made = small_trace(texts, [(0, "VALU", 0, 0, 4)])
    made.tables["code"] = made.code.with_columns(
        address=pl.Series(address, dtype=pl.UInt64),
        size=pl.Series(size, dtype=pl.UInt16),
        code_object=pl.lit(1, pl.UInt64),
    )
    assert live_rows(made)["live_vgprs"].to_list() == [2, 3, 3, 3, 3, 2, 0]


def test_code_without_operands_has_no_rows() -> None:
    code = frame("code", {"row": [0], "text": ["v_unheard_of v0, v1"], "address": [0]})
    assert live_rows(ThreadTrace({"code": code}, TraceSource(path="nothing"))).height == 0


@pytest.mark.parametrize("name", ["tiled_gemm", "reduction"])
def test_a_capture_has_the_counts_of_its_code_object(tmp_path: Path, name: str) -> None:
    kernel = compiled(name, "gfx942")
    write_capture(synthesize(Scenario(kernels=(kernel,), loop_trips=3)), tmp_path)
    trace = wavewright.open(tmp_path)
    answer = live_rows(trace)
    code_object = CodeObject.from_bytes(kernel.elf)
    static = kernel_code(code_object, code_object.kernels[0]).rows.filter("is_reached")
    merged = trace.code.select("row", "address").join(answer, on="row").join(static, on="address", suffix="_static")
    assert merged.height == static.height == answer.height
    assert (merged["live_vgprs"] == merged["live_vgprs_static"]).all()
    assert (merged["live_sgprs"] >= merged["live_sgprs_static"]).all()  # all scalar registers count as given
    allocated = trace.kernels["vgprs"][0]
    assert 0 < answer["live_vectors"].max() <= allocated  # type: ignore[operator]


def test_a_real_kernel_is_below_what_it_names() -> None:
    trace = wavewright.open(real_trace("flash_attn_func", 38430))
    answer = live_rows(trace)
    named = registers(trace).select(pl.col("vgprs", "agprs", "sgprs").max()).row(0, named=True)
    for kind, most in named.items():
        assert answer[f"live_{kind}"].max() <= most  # type: ignore[operator]
    assert answer["live_vgprs"].max() > 0.5 * named["vgprs"]  # type: ignore[operator]
