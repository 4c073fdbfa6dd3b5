"""Registers of real kernels: what the code names equals the compiler's count, and the peak is within it."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.kernels import kernel_path
from tests.kit.together import together
from wavewright import _core
from wavewright.analysis.code.kernel import KernelCode, kernel_code
from wavewright.codeobj.code_object import CodeObject, Kernel
from wavewright.codeobj.targets import family_of

BUILT = sorted(kernel_path("saxpy", "gfx942").parent.glob("*.co"))
COMPILED = (
    "gfx1030/gpuReadWrite_kernels.hsaco",
    "gfx90a/gpuReadWrite_kernels.hsaco",
    "gfx942/triton_poi_fused_relu_0.hsaco",
    "gfx942/unified_memory.co",
)
#: Written by hand: their descriptors give more than the code names, or name vector registers beyond the split.
BY_HAND = ("gfx950/f4gemm_192x256.co", "gfx950/fwd_hd128_bf16_causal.co")


def kernels(path: Path) -> list[tuple[CodeObject, Kernel, KernelCode]]:
    code_object = CodeObject.read(path)
    return [(code_object, kernel, kernel_code(code_object, kernel)) for kernel in code_object.kernels]


def counts(code: KernelCode, column: str) -> dict[str, int]:
    return dict(code.registers.select("kind", column).iter_rows())


def extra_sgprs(target: str, *, uses_vcc: bool) -> set[int]:
    """Scalar registers that LLVM adds for vcc, xnack_mask and flat_scratch (AMDGPUBaseInfo, getNumExtraSGPRs)."""
    if family_of(target) != "gfx9":
        return {2 if uses_vcc else 0}
    return {6} if target in ("gfx942", "gfx950") else {2 if uses_vcc else 0, 4, 6}


def check_compiled(path: Path) -> None:
    for code_object, kernel, code in kernels(path):
        used, peak, target = counts(code, "used"), counts(code, "peak"), code_object.target or ""
        accumulated = -(-used["vgprs"] // 4) * 4 + used["agprs"]
        has_one_file = target != "gfx908"  # which has a file of its own for accumulation registers
        assert kernel.vgprs_used == (accumulated if used["agprs"] and has_one_file else used["vgprs"])
        assert used["agprs"] == (kernel.agprs_used or 0)
        uses_vcc = code.rows["text"].str.contains("vcc|v_(cmp|add_co|addc).*_e32").any()
        assert (kernel.sgprs_used or 0) - used["sgprs"] in extra_sgprs(target, uses_vcc=uses_vcc)
        for kind in ("vgprs", "agprs", "sgprs"):
            assert 0 <= peak[kind] <= used[kind] <= getattr(kernel, kind)
        if not path.stem.startswith("lane_"):  # whose accesses come one after the other, volatile
            assert peak["vgprs"] >= 0.8 * used["vgprs"] - 2  # compilers leave few registers idle at the peak
        assert code.losses == ()


@pytest.mark.slow
@together("path", BUILT)
def test_our_kernels(path: Path) -> None:
    check_compiled(path)


@pytest.mark.parametrize("name", COMPILED)
def test_kernels_of_compilers(name: str, shared: Path) -> None:
    check_compiled(shared / "data" / "codeobj" / name)


@pytest.mark.parametrize("name", BY_HAND)
def test_kernels_written_by_hand(name: str, shared: Path) -> None:
    """One register file: the sum counts."""
    for _, kernel, code in kernels(shared / "data" / "codeobj" / name):
        used, peak = counts(code, "used"), counts(code, "peak")
        assert peak["vgprs"] <= used["vgprs"]
        assert peak["agprs"] <= used["agprs"]
        assert used["vgprs"] + used["agprs"] <= (kernel.vgprs or 0) + (kernel.agprs or 0)
        assert used["sgprs"] <= (kernel.sgprs or 0)


def test_every_target_of_our_kernels_is_in_the_tables() -> None:
    targets = {path.name.split(".")[1] for path in BUILT}
    assert targets <= set(_core.isa_targets())


def test_the_prefetching_gemm_worked_out_by_hand() -> None:
    """gfx942, 512 registers per lane: 8 waves at 64 or less; the peak of 45 is in the loop."""
    (_, _, code), *_ = kernels(kernel_path("tiled_gemm_prefetch", "gfx942"))
    assert (code.waves_per_simd_limit, code.bound_by, code.steps.height) == (8, "hardware", 0)
    assert code.peak_row is not None
    assert code.rows["loop"][code.peak_row] is not None
    assert code.loops.height >= 1


def test_what_a_wave_more_needs() -> None:
    """fwd_hd128-like: by hand, a kernel of 256 registers on gfx942 has 2 waves; 3 need 168, 4 need 128."""
    from dataclasses import replace

    code_object = CodeObject.read(kernel_path("tiled_gemm", "gfx942"))
    kernel = replace(code_object.kernels[0], vgprs=256, agprs=0)
    code = kernel_code(code_object, kernel)
    steps = code.steps.select("waves_per_simd", "vgprs_at_most", "peak_above", "rows_above").rows()
    assert steps[:2] == [(3, 168, 42 - 168, 0), (4, 128, 42 - 128, 0)]
