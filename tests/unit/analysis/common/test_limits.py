from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.kit.judges import llvm_program
from tests.kit.together import together
from wavewright.analysis.common.occupancy.limits import Limits, Resources, Step, amounts, limits
from wavewright.errors import UsageError
from wavewright.facts import gpus


def _waves(found: Limits) -> dict[str, int]:
    return {limiter.name: limiter.waves_per_simd for limiter in found.limiters}


def test_paged_attention_on_gfx942() -> None:
    asked = Resources(vgprs=144, agprs=136, sgprs=112, lds_bytes=12800, workgroup_size=256)
    found = limits(gpus.of("gfx942"), asked)
    assert (found.waves_per_simd, found.bound_by) == (1, "VGPR")
    assert _waves(found) == {"VGPR": 1, "LDS": 5, "SGPR": 7, "workgroup": 8, "hardware": 8}
    assert found.next_waves_per_simd == 2
    assert found.steps == (Step("VGPR", now=280, at_most=256, unit="registers"),)


def test_flash_attention_depends_on_the_lds_of_its_gpu() -> None:
    asked = Resources(vgprs=242, sgprs=112, lds_bytes=49152, workgroup_size=256)
    there = limits(gpus.of("gfx950"), asked)
    assert (there.waves_per_simd, there.bound_by) == (2, "VGPR")
    assert _waves(there)["LDS"] == 3
    elsewhere = limits(gpus.of("gfx942"), asked)
    assert (elsewhere.waves_per_simd, elsewhere.bound_by) == (1, "LDS")
    assert elsewhere.steps == (Step("LDS", now=49152, at_most=32768, unit="bytes"),)


def test_gfx908_has_two_files() -> None:
    found = limits(gpus.of("gfx908"), Resources(vgprs=128, agprs=128))
    assert (found.waves_per_simd, found.bound_by) == (2, "VGPR")
    assert limits(gpus.of("gfx90a"), Resources(vgprs=128, agprs=128)).waves_per_simd == 2
    assert limits(gpus.of("gfx90a"), Resources(vgprs=128)).waves_per_simd == 4


def test_accumulation_registers_start_at_a_multiple_of_four() -> None:
    found = limits(gpus.of("gfx90a"), Resources(vgprs=121, agprs=4))
    assert found.limiters[0].used == 128
    assert found.waves_per_simd == 4


def test_whole_workgroups_only() -> None:
    found = limits(gpus.of("gfx942"), Resources(vgprs=96, workgroup_size=1024))
    assert _waves(found)["VGPR"] == 5
    assert (found.waves_per_simd, found.bound_by) == (4, "workgroup")
    assert found.next_waves_per_simd == 8
    assert found.steps == (Step("VGPR", now=96, at_most=64, unit="registers"),)


def test_several_resources_may_have_to_shrink_together() -> None:
    found = limits(gpus.of("gfx942"), Resources(vgprs=168, sgprs=100, lds_bytes=21504, workgroup_size=256))
    assert (found.waves_per_simd, found.bound_by) == (3, "VGPR")
    assert [step.resource for step in found.steps] == ["VGPR", "LDS"]
    assert [step.at_most for step in found.steps] == [128, 16384]


def test_the_hardware_binds_when_everything_fits() -> None:
    found = limits(gpus.of("gfx950"), Resources(vgprs=24, sgprs=32, lds_bytes=512, workgroup_size=256))
    assert (found.waves_per_simd, found.bound_by, found.next_waves_per_simd) == (8, "hardware", None)
    assert limits(gpus.of("gfx908"), Resources(vgprs=8)).waves_per_simd == 8


def test_barriers_limit_workgroups_of_two_waves() -> None:
    found = limits(gpus.of("gfx900"), Resources(vgprs=8, workgroup_size=128))
    assert found.waves_per_simd == 8
    assert limits(gpus.of("gfx1010"), Resources(vgprs=8, workgroup_size=64)).waves_per_simd == 16
    single = limits(gpus.of("gfx1010"), Resources(vgprs=8, workgroup_size=32))
    assert single.waves_per_simd == 20


def test_uneven_workgroups_fill_one_simd_more() -> None:
    found = limits(gpus.of("gfx942"), Resources(vgprs=8, lds_bytes=13000, workgroup_size=64))
    assert (found.waves_per_simd, found.waves_per_simd_peak) == (1, 1)
    found = limits(gpus.of("gfx942"), Resources(vgprs=8, lds_bytes=12800, workgroup_size=64))
    assert (found.waves_per_simd, found.waves_per_simd_peak) == (1, 2)


def test_rdna_modes_and_wave_sizes() -> None:
    asked = Resources(vgprs=144, lds_bytes=32768, workgroup_size=256)
    found = limits(gpus.of("gfx1100"), asked)
    assert found.resources.wave_size == 32
    assert (_waves(found)["VGPR"], _waves(found)["LDS"]) == (10, 8)
    assert "SGPR" not in _waves(found)
    cu_mode = limits(gpus.of("gfx1100"), asked, wgp_mode=False)
    assert (cu_mode.simd_count, _waves(cu_mode)["LDS"]) == (2, 8)
    wide = limits(gpus.of("gfx1100"), Resources(vgprs=144, workgroup_size=256, wave_size=64))
    assert _waves(wide)["VGPR"] == 5


def test_what_is_unknown_is_said() -> None:
    assert limits(gpus.of("gfx942"), Resources(vgprs=64)).unknown == ("SGPR", "LDS", "workgroup size")
    assert limits(gpus.of("gfx1201"), Resources(vgprs=64, lds_bytes=0, workgroup_size=64)).unknown == ()


@together(
    "gpu, asked",
    [
        ("gfx942", Resources(vgprs=600)),
        ("gfx942", Resources(vgprs=8, lds_bytes=65537, workgroup_size=64)),
        ("gfx942", Resources(vgprs=8, workgroup_size=2048)),
        ("gfx942", Resources(vgprs=8, workgroup_size=0)),
        ("gfx942", Resources(vgprs=-8)),
        ("gfx942", Resources(vgprs=8, wave_size=32)),
        ("gfx1100", Resources(vgprs=300)),
    ],
)
def test_impossible_resources_are_refused(gpu: str, asked: Resources) -> None:
    with pytest.raises(UsageError):
        limits(gpus.of(gpu), asked)


_LDS_KERNEL = """
@block{n} = internal addrspace(3) global [{n} x i8] poison
define amdgpu_kernel void @lds{n}(i32 %i) #0 {{
  %p = getelementptr i8, ptr addrspace(3) @block{n}, i32 %i
  store volatile i8 0, ptr addrspace(3) %p
  ret void
}}
"""
_VGPR_KERNEL = """
define amdgpu_kernel void @vgpr{n}() #0 {{
  call void asm sideeffect "", "~{{v{last}}}"()
  ret void
}}
"""
_VGPRS = (24, 36, 40, 65, 72, 84, 96, 128, 129, 144, 168, 170, 240, 256)
_LDS = (5120, 10240, 20480, 40960, 61440)  # multiples of every granule: the compiler does not round


@pytest.mark.parametrize(
    "target",
    [
        "gfx900",
        "gfx908",
        "gfx90a",
        "gfx942",
        "gfx950",
        "gfx1010",
        "gfx1030",
        "gfx1100",
        "gfx1102",
        "gfx1150",
        "gfx1151",
        "gfx1200",
        "gfx1250",
    ],
)
def test_llvm_agrees(target: str, tmp_path: Path) -> None:
    """`llc` prints the occupancy that the compiler works with, one per kernel."""
    kernels = [_LDS_KERNEL.format(n=n) for n in _LDS] + [_VGPR_KERNEL.format(n=n, last=n - 1) for n in _VGPRS]
    source = tmp_path / "kernels.ll"
    size = 'attributes #0 = { "amdgpu-flat-work-group-size"="256,256" "amdgpu-waves-per-eu"="1" }'
    source.write_text("".join(kernels) + size)
    command = [llvm_program("llc"), "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={target}", str(source), "-o", "-"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    said = [int(part.split()[0]) for part in text.split("; Occupancy: ")[1:]]
    facts = gpus.of(target)
    hardware = limits(facts, Resources()).limiters[-1].waves_per_simd
    ours = [limits(facts, Resources(lds_bytes=n, workgroup_size=256)).waves_per_simd for n in _LDS]
    ours += [limits(facts, Resources(vgprs=n)).waves_per_simd for n in _VGPRS]  # it does not count whole workgroups
    assert [min(waves, hardware) for waves in said] == ours


@together("target", ["gfx908", "gfx942", "gfx950", "gfx1100", "gfx1201"])
@together("resources", [
    Resources(vgprs=96, sgprs=48, lds_bytes=16384, workgroup_size=256),
    Resources(vgprs=40, lds_bytes=0, workgroup_size=1024),
    Resources(vgprs=200, lds_bytes=60000, workgroup_size=64),
    Resources(vgprs=64),
])  # fmt: skip
def test_waves_of_every_amount_of_registers_and_lds(target: str, resources: Resources) -> None:
    arch = gpus.of(target)
    told = amounts(arch, resources)
    for name, field, most, step in (
        ("VGPR", "vgprs", arch.vgprs_per_wave_max, 4),
        ("LDS", "lds_bytes", arch.lds_bytes_per_workgroup_max if resources.workgroup_size else -1, 256),
    ):
        rungs = [row for row in told if row.resource == name]
        assert [row.waves_per_simd for row in rungs] == sorted({row.waves_per_simd for row in rungs}, reverse=True)
        for amount in range(step, most + 1, step):
            fitting = limits(arch, replace(resources, **{field: amount})).waves_per_simd
            told_waves = next((row.waves_per_simd for row in rungs if row.at_most >= amount), 0)
            assert fitting == told_waves, (name, amount)
