"""Spills by place of scratch: as many as LLVM makes, and none of what only looks like one."""

from __future__ import annotations

import shutil
import subprocess

import polars as pl
import pytest

from wavewright.analysis.code.kernel import spills

ROWS = [
    ("scratch_store_dwordx4 off, v[0:3], off offset:16", 0),
    ("scratch_store_dword off, v7, s33 offset:8", 0),
    ("scratch_load_dwordx4 v[0:3], off, off offset:16", 1),
    ("scratch_load_dwordx4 v[4:7], off, off offset:16", 2),
    ("scratch_load_b32 v7, off, s33 offset:8", 0),
    ("scratch_store_b128 off, a[0:3], s32", 1),
    ("scratch_load_dword v1, v2, off", 1),  # an array of the program: its address is in a register
    ("scratch_store_dword v2, v1, s33", 1),
    ("buffer_load_dword v1, off, s[0:3], 0 offset:4", 1),
    ("v_mov_b32_e32 v0, v1", 1),
]


def test_places_with_their_stores_and_reloads() -> None:
    texts, depths = zip(*ROWS, strict=True)
    frame = pl.DataFrame({"row": range(len(ROWS)), "text": texts, "is_reached": True, "depth": depths})
    assert spills(frame).rows() == [
        ("off", 16, "v[0:3], v[4:7]", 1, 2, 0, 2, 0, 2),
        ("s33", 8, "v7", 1, 1, 0, 0, 1, 4),
        ("s32", 0, "a[0:3]", 1, 0, 1, 0, 5, None),
    ]
    assert spills(frame.with_columns(is_reached=pl.lit(value=False))).is_empty()


PROGRAM = """
define amdgpu_kernel void @k(ptr addrspace(1) %p) #0 {
  %a = load volatile <32 x float>, ptr addrspace(1) %p
  %b = load volatile <32 x float>, ptr addrspace(1) %p
  %s = fadd <32 x float> %a, %b
  %t = fmul <32 x float> %a, %s
  store volatile <32 x float> %t, ptr addrspace(1) %p
  store volatile <32 x float> %s, ptr addrspace(1) %p
  ret void
}
attributes #0 = { "amdgpu-num-vgpr"="32" }
"""


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_what_llvm_calls_a_spill(target: str) -> None:
    """The program has no memory of its own: whatever goes to scratch is a spill, and LLVM comments it as one."""
    if shutil.which("llc-22") is None:
        pytest.skip("llc-22 is not installed (make test-llvm)")
    command = ["llc-22", "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={target}", "-o", "-"]
    code = subprocess.run(command, input=PROGRAM, capture_output=True, text=True, check=True).stdout
    lines = [line.strip() for line in code.splitlines()]
    expected = [sum(line.startswith(f"scratch_{word}") for line in lines) for word in ("store", "load")]
    assert min(expected) > 0 and "Folded Spill" in code and "Folded Reload" in code
    texts = [line.partition(";")[0].strip() for line in lines]
    found = spills(pl.DataFrame({"row": range(len(texts)), "text": texts, "is_reached": True, "depth": 0}))
    assert list(found.select("store_count", "reload_count").sum().row(0)) == expected
    assert found["store_row"].null_count() == 0
