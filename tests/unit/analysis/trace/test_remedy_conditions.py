"""Every remedy with a condition is given where the capture fulfils it, and silent in a twin that does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wavewright.analysis.trace.diagnose.facts import Producer, RowView
from wavewright.analysis.trace.diagnose.remedies import (
    CAPTURE_CONDITIONS,
    CONDITIONS,
    GROUPS,
    CaptureFacts,
    general_remedy,
    remedies_for,
)
from wavewright.analysis.trace.diagnose.row_code import RowCode
from wavewright.facts.stall_classes import RemedyClause, all_clauses, stall_class, stall_remedies

# Condition -> a capture that fulfils it, and its twin.
CAPTURES = {
    "bank_conflicts": (CaptureFacts(conflict_cycles=896), CaptureFacts(conflict_cycles=0)),
    "conflicts_not_known": (
        CaptureFacts(lds_access_bytes=frozenset({8})),
        CaptureFacts(lds_access_bytes=frozenset({8}), conflict_cycles=0),
    ),
    "narrow_lds": (CaptureFacts(lds_access_bytes=frozenset({4, 16})), CaptureFacts(lds_access_bytes=frozenset({16}))),
    "narrow_memory": (
        CaptureFacts(memory_access_bytes=frozenset({2})),
        CaptureFacts(memory_access_bytes=frozenset({16})),
    ),
    "narrow_scalar_loads": (
        CaptureFacts(scalar_load_bytes=frozenset({8})),
        CaptureFacts(scalar_load_bytes=frozenset({64})),
    ),
    "single_arithmetic": (
        CaptureFacts(mnemonics=frozenset({"v_fma_f32"})),
        CaptureFacts(mnemonics=frozenset({"v_fma_f32", "v_pk_fma_f32"})),
    ),
    "conversions": (
        CaptureFacts(mnemonics=frozenset({"v_cvt_f32_f16"})),
        CaptureFacts(mnemonics=frozenset({"v_mov_b32"})),
    ),
    "permutes": (
        CaptureFacts(mnemonics=frozenset({"ds_bpermute_b32"})),
        CaptureFacts(mnemonics=frozenset({"ds_swizzle_b32"})),
    ),
    "matrix": (
        CaptureFacts(mnemonics=frozenset({"v_mfma_f32_32x32x8_f16"})),
        CaptureFacts(mnemonics=frozenset({"v_mov_b32"})),
    ),
    "returning_atomics": (
        CaptureFacts(mnemonics=frozenset({"ds_add_rtn_u32"})),
        CaptureFacts(mnemonics=frozenset({"ds_add_u32"})),
    ),
    "uneven_waves": (CaptureFacts(wave_instruction_excess=0.4), CaptureFacts(wave_instruction_excess=0.01)),
    "several_waves": (CaptureFacts(waves_per_simd_max=4), CaptureFacts(waves_per_simd_max=1)),
    "several_rounds": (CaptureFacts(round_count=2.5), CaptureFacts(round_count=1.0)),
    "large_code": (CaptureFacts(code_bytes=100_000), CaptureFacts(code_bytes=2_000)),
    "one_memory_counter": (CaptureFacts(gfxip=9), CaptureFacts(gfxip=12)),
}


def test_every_condition_has_its_captures() -> None:
    assert set(CAPTURES) == set(CAPTURE_CONDITIONS) == {clause.needs for clause in all_clauses()}


@pytest.mark.parametrize("clause", all_clauses(), ids=lambda clause: f"{clause.needs}-{clause.of[0]}")
def test_a_clause_needs_its_condition(clause: RemedyClause) -> None:
    fulfils, twin = CAPTURES[clause.needs]
    for name in clause.of:
        assert clause.text in general_remedy(name, "always", fulfils)
        assert clause.text not in general_remedy(name, "always", twin)
        assert general_remedy(name, "always", CaptureFacts()) == "always", "what is not known fulfils nothing"


def test_a_mixture_has_the_clauses_of_its_kinds() -> None:
    name = "wait LDS + vector load"
    text = general_remedy(name, stall_class(name).remedy, CaptureFacts(conflict_cycles=5))
    assert "different banks" in text
    assert "prefetch" in text


LOAD = "global_load_dwordx4 v[0:3], v4, s[0:1]"
NARROW_LOAD = "global_load_ushort v1, v2, s[0:1]"
VIEW = RowView(
    row=50, stall_class="wait vector load", text="s_waitcnt vmcnt(3)", file=None, line=None, address=0,
    execution_count=10, stall_cycles_total=5000, exposed_cycles_total=5000, in_loop=False, loop_has_matrix=False,
    loop_has_wide_loads=False, matrix_between=0, producers=(), code=RowCode(waves_per_simd_max=4),
)  # fmt: skip


def by(row: int, text: str, cycles: float = 100.0, instructions: float = 8.0) -> Producer:
    return Producer(row, text, "vmem_load", "vmcnt", 10, cycles, instructions, 50.0)


NEAR = (by(40, LOAD),)
FAR = (by(10, LOAD, instructions=300.0),)
# Condition -> a row that fulfils it, and its twin.
ROWS = {
    "in_loop": (replace(VIEW, in_loop=True), VIEW),
    "in_loop_and_near": (replace(VIEW, in_loop=True, producers=NEAR), replace(VIEW, in_loop=True, producers=FAR)),
    "narrow_and_near": (
        replace(VIEW, loop_has_wide_loads=True, producers=(by(40, NARROW_LOAD),)),
        replace(VIEW, loop_has_wide_loads=True, producers=NEAR),
    ),
    "drains_young_and_old": (
        replace(VIEW, text="s_waitcnt vmcnt(0)", producers=(by(10, LOAD, 3000.0), by(45, LOAD, 50.0))),
        replace(VIEW, producers=(by(10, LOAD, 3000.0), by(45, LOAD, 50.0))),
    ),
    "between_matrix": (
        replace(VIEW, loop_has_matrix=True, matrix_between=4, producers=NEAR),
        replace(VIEW, loop_has_matrix=True, matrix_between=0, producers=NEAR),
    ),
    "prefetched": (
        replace(VIEW, in_loop=True, producers=(by(60, LOAD),)),
        replace(VIEW, in_loop=True, producers=NEAR),
    ),
    "unrolled": (replace(VIEW, code=RowCode(is_unrolled=True)), VIEW),
    "first": (replace(VIEW, code=RowCode(is_first=True)), VIEW),
    "narrow": (replace(VIEW, code=RowCode(access_bytes=(2,))), replace(VIEW, code=RowCode(access_bytes=(16,)))),
    "accesses": (replace(VIEW, code=RowCode(access_bytes=(16,))), VIEW),
    "preloadable": (replace(VIEW, code=RowCode(can_preload=True)), VIEW),
    "after_matrix": (replace(VIEW, code=RowCode(hazard="a matrix result")), VIEW),
    "after_comparison": (replace(VIEW, code=RowCode(hazard="v_cmp and its mask")), VIEW),
    "before_other_lanes": (replace(VIEW, code=RowCode(hazard="reads of other lanes")), VIEW),
    "after_m0": (replace(VIEW, code=RowCode(hazard="a write of M0")), VIEW),
}
CLASS_OF_GROUP = {
    "loads": "wait vector load",
    "pressure": "VMEM issue",
    "lds": "wait LDS",
    "scalar": "wait scalar load",
    "padding": "s_nop",
}


def test_every_row_condition_has_its_rows() -> None:
    assert set(ROWS) == set(CONDITIONS) - {"always"}
    assert set(CLASS_OF_GROUP) == set(GROUPS)


@pytest.mark.parametrize(
    ("group", "number"),
    [
        (group, at)
        for group, listed in stall_remedies().items()
        for at, each in enumerate(listed)
        if each.fits != "always"
    ],
)
def test_a_remedy_for_rows_needs_its_condition(group: str, number: int) -> None:
    remedy = stall_remedies()[group][number]
    fulfils, twin = (replace(view, stall_class=CLASS_OF_GROUP[group]) for view in ROWS[remedy.fits])
    assert CONDITIONS[remedy.fits](fulfils)
    assert not CONDITIONS[remedy.fits](twin)
    (told,) = remedies_for([twin])
    assert remedy.text.split("{")[0] not in told.text or not remedy.text.split("{")[0]
    assert (told.name, told.text) != (remedy.name, remedy.text)
