"""Theoretical against measured occupancy of the decoded directories from an MI350X."""

from __future__ import annotations

from pathlib import Path

import pytest

import wavewright
from wavewright.analysis.trace.occupancy import occupancy

# Most waves on one SIMD in occupancy.json, and the limit that the registers, LDS and workgroup of the CSV give.
MEASURED = {
    "blockscale_preshuffle_gemm": (1, 6, "VGPR"),
    "flash_attn_func": (2, 2, "VGPR"),
    "fused_rope_cache": (1, 8, "hardware"),
    "hgemm_splitk": (1, 1, "VGPR"),
    "layernorm": (1, 7, "VGPR"),
    "moe_blockscale": (1, 2, "VGPR"),
    "moe_gemm": (2, 3, "VGPR"),
    "pa": (2, 2, "VGPR"),
    "preshuffle_gemm": (3, 3, "VGPR"),
    "rmsnorm": (4, 8, "hardware"),
    "vec_add": (8, 8, "hardware"),
    "moe_reduce": (8, 8, "hardware"),
    "softmax": (8, 8, "hardware"),
}


@pytest.mark.first_case
@pytest.mark.parametrize("kernel", MEASURED)
def test_measured_residency_never_exceeds_the_limit(kernel: str, shared: Path) -> None:
    most, limit, bound_by = MEASURED[kernel]
    directory = min((shared / "data/uiout-mi350x-flydsl" / kernel / "big").iterdir())
    trace = wavewright.open(directory, resources=[shared / "data/rocprofv3-mi350x-flydsl" / kernel])
    answer = occupancy(trace)
    row = answer.kernels.row(0, named=True)
    assert answer.target == "gfx950"
    assert row["waves_per_simd_max"] == most
    assert (row["waves_per_simd_limit"], row["bound_by"]) == (limit, bound_by)
    assert row["registers_from"] == "metadata (doubled)"
    assert not [note for note in answer.notes if note.startswith("WRONG")]


def test_flash_attention_alone(shared: Path) -> None:
    """The directory without its CSV: the code says which GPU, and its registers bind."""
    trace = wavewright.open(shared / "data/uiout-mi350x-flydsl/flash_attn_func/small/ui_output_agent_32235_dispatch_44")
    answer = occupancy(trace)
    row = answer.kernels.row(0, named=True)
    assert (answer.target, answer.target_is_certain) == ("gfx950", True)
    assert (row["vgprs"], row["waves_per_simd_limit"], row["bound_by"]) == (242, 2, "VGPR")
    assert answer.limiters.filter(limiter="VGPR")["next_at_most"][0] == 168
