"""Properties of the occupancy model that hold for any kernel on any GPU."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from wavewright.analysis.common.occupancy.limits import Resources, limits
from wavewright.facts import gpus

_FIELD = {"VGPR": "vgprs", "SGPR": "sgprs", "LDS": "lds_bytes"}


@st.composite
def _kernels(draw: st.DrawFn) -> tuple[gpus.Arch, Resources, bool]:
    facts = gpus.of(draw(st.sampled_from(gpus.TARGETS)))
    most = facts.vgprs_per_wave_max
    resources = Resources(
        vgprs=draw(st.integers(1, most)),
        sgprs=draw(st.integers(1, 102)),
        lds_bytes=draw(st.integers(0, facts.lds_bytes_per_workgroup_max)),
        workgroup_size=draw(st.integers(1, facts.workgroup_size_max)),
        wave_size=draw(st.sampled_from(facts.wave_sizes)),
    )
    return facts, resources, draw(st.booleans())


@settings(deadline=None)
@given(_kernels())
def test_a_limit_is_the_least_of_its_limiters_and_within_the_hardware(case: tuple[gpus.Arch, Resources, bool]) -> None:
    facts, resources, wgp_mode = case
    found = limits(facts, resources, wgp_mode=wgp_mode)
    assert found.waves_per_simd == min(limiter.waves_per_simd for limiter in found.limiters)
    assert 0 <= found.waves_per_simd <= found.waves_per_simd_peak <= facts.waves_per_simd_max
    for limiter in found.limiters:
        assert limiter.used <= limiter.allocated


@settings(deadline=None)
@given(_kernels(), st.sampled_from(sorted(_FIELD.values())), st.integers(0, 1024))
def test_asking_for_less_never_costs_waves(case: tuple[gpus.Arch, Resources, bool], name: str, less: int) -> None:
    facts, resources, wgp_mode = case
    before = limits(facts, resources, wgp_mode=wgp_mode)
    smaller = replace(resources, **{name: max(1, getattr(resources, name) - less)})
    assert limits(facts, smaller, wgp_mode=wgp_mode).waves_per_simd >= before.waves_per_simd


@settings(deadline=None)
@given(_kernels())
def test_the_next_step_is_reached_by_its_steps_and_not_by_less(case: tuple[gpus.Arch, Resources, bool]) -> None:
    facts, resources, wgp_mode = case
    found = limits(facts, resources, wgp_mode=wgp_mode)
    if found.next_waves_per_simd is None:
        return
    taken = {_FIELD[step.resource]: step.at_most for step in found.steps}
    if any(amount <= 0 for name, amount in taken.items() if name != "lds_bytes"):
        return
    after = limits(facts, replace(resources, **taken), wgp_mode=wgp_mode)
    assert after.waves_per_simd >= found.next_waves_per_simd > found.waves_per_simd
    for name, amount in taken.items():
        almost = limits(facts, replace(resources, **(taken | {name: amount + 1})), wgp_mode=wgp_mode)
        assert almost.waves_per_simd < after.waves_per_simd or almost.waves_per_simd_peak <= found.waves_per_simd_peak
