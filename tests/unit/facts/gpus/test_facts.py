from __future__ import annotations

import pytest

from tests.kit.together import together
from wavewright.codeobj.targets import TARGET_OF_MACH, family_of
from wavewright.errors import UsageError
from wavewright.facts import gpus


def test_every_target_that_code_objects_name_has_facts() -> None:
    assert {target for target in TARGET_OF_MACH.values() if family_of(target)} <= set(gpus.TARGETS)


@together("target", gpus.TARGETS)
def test_facts_are_consistent(target: str) -> None:
    facts = gpus.of(target)
    assert facts.target == target
    assert set(facts.vgprs_per_simd) == set(facts.vgpr_granule) == set(facts.wave_sizes)
    for size in facts.wave_sizes:
        assert facts.vgprs_per_simd[size] % facts.vgpr_granule[size] == 0
    assert facts.lds_bytes_per_cu % facts.lds_granule_bytes == 0
    assert facts.accumulation in {"none", "separate", "unified"}
    assert facts.product in facts.products or not facts.products


def test_products_choose_target_and_peaks() -> None:
    assert gpus.of("MI300X").product.memory_bytes_per_second_peak == 5_324_800_000_000
    assert gpus.of("AMD Instinct MI350X").target == "gfx950"
    assert gpus.of("Radeon RX 9070 XT").target == "gfx1201"
    assert gpus.of("MI325X").product.memory_bytes_per_second_peak == 6_000_000_000_000
    assert gpus.of("gfx942:sramecc+:xnack-").target == "gfx942"
    assert gpus.of("amdgcn-amd-amdhsa--gfx90a").target == "gfx90a"


def test_pipe_cycles_of_a_target_stand_before_those_of_its_base() -> None:
    gfx942, gfx950 = gpus.of("gfx942").pipe_cycles, gpus.of("gfx950").pipe_cycles
    assert gpus.of("gfx941").pipe_cycles == gfx942
    assert set(gfx942) <= set(gfx950)
    assert list(gfx950)[-1] == list(gfx942)[-1]
    assert (gfx942["v_mfma_f64_16x16x4"], gfx950["v_mfma_f64_16x16x4"]) == (32, 64)
    assert "v_mfma_.32_32x32x" in gpus.of("gfx90a").pipe_cycles
    assert "v_mfma_.32_32x32x" not in gfx942


def test_what_is_not_known_is_absent() -> None:
    assert gpus.of("gfx1250").product.memory_bytes_per_second_peak is None
    assert gpus.of("gfx1100").sgprs_per_simd is None


def test_an_unknown_gpu_gets_the_list() -> None:
    with pytest.raises(UsageError, match="gfx999") as caught:
        gpus.of("gfx999")
    assert "gfx942" in caught.value.advice
    assert "MI300X" in caught.value.advice
