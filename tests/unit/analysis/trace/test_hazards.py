"""What padding keeps apart; the pairs are hazards of AMD's ISA guides and of LLVM's hazard recognizer."""

from __future__ import annotations

import polars as pl

from tests.kit.together import together
from wavewright.analysis.trace.code import hazards
from wavewright.analysis.trace.code.hazards import NOT_KNOWN, family
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import with_operands
from wavewright.codeobj.registers import RowUses

MFMA = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"


def hazard_of(texts: list[str | None], row: int, target: str = "gfx950") -> str:
    code = pl.DataFrame({"text": texts, "function": ["kernel"] * len(texts)}, schema_overrides={"text": pl.String})
    return hazards.hazard_of(texts, RowUses(with_operands(classify_frame(code, target), target)), row)


@together(
    "before, padding, after, expected",
    [
        (
            ["v_cmp_gt_f32_e32 vcc, s2, v1"],
            "s_nop 1",
            "v_cndmask_b32_e32 v2, 0, v3, vcc",
            "v_cmp writes VCC before v_cndmask",
        ),
        (
            ["v_cmp_gt_f32_e64 s[4:5], s2, v1"],
            "s_nop 1",
            "v_cndmask_b32_e64 v2, 0, v3, s[4:5]",
            "v_cmp writes an SGPR before v_cndmask",
        ),
        (
            ["v_readfirstlane_b32 s6, v1"],
            "s_nop 3",
            "buffer_load_dword v2, v3, s[4:7], 0 offen",
            "v_readfirstlane writes an SGPR before buffer_load",
        ),
        (
            ["v_cmp_eq_u32_e32 vcc, 0, v1", "v_mov_b32_e32 v7, v8"],
            "s_nop 2",
            "v_div_fmas_f32 v4, v5, v6, v7",
            "v_cmp writes VCC before v_div_fmas",
        ),
        (
            ["s_mov_b32 m0, s7"],
            "s_nop 0",
            "buffer_load_dwordx4 v2, s[8:11], 0 offen sc0 lds",
            "s_mov writes M0 before buffer_load",
        ),
        (["v_rcp_f32_e32 v1, v2"], "s_nop 0", "v_mul_f32_e32 v3, v1, v1", "transcendental result before v_mul"),
        (
            ["v_add_f32_e32 v1, v2, v3"],
            "s_nop 1",
            "v_add_f32_dpp v4, v1, v5 row_shr:8 row_mask:0xf bank_mask:0xf",
            "VALU result before v_add, which reads other lanes",
        ),
        (
            ["v_mov_b32_e32 v1, v2"],
            "s_nop 1",
            "v_permlane32_swap_b32_e32 v1, v3",
            "VALU result before v_permlane32_swap, which reads other lanes",
        ),
        ([MFMA], "s_nop 15", "v_accvgpr_read_b32 v4, a3", "matrix result before v_accvgpr_read"),
        (
            [MFMA, "v_add_u32_e32 v8, v9, v9", "s_add_u32 s0, s0, 4"],
            "s_nop 7",
            "v_accvgpr_read_b32 v4, a3",
            "matrix result before v_accvgpr_read",
        ),
        (
            [MFMA, "v_fma_f32 v8, v9, v9, v9"],
            "s_nop 6",
            "v_fma_f32 v1, v8, v8, v8",
            "v_fma overwrites registers of a matrix instruction",
        ),
        (
            ["global_load_dwordx4 v[2:5], v[2:3], off"],
            "s_nop 0",
            "global_load_dword v10, v[6:7], off",
            "loads that overwrite their addresses",
        ),
        (
            ["buffer_store_dwordx4 v[4:7], v0, s[0:3], 0 offen"],
            "s_nop 0",
            "v_mov_b32_e32 v5, v9",
            "v_mov overwrites data of buffer_store",
        ),
        (
            ["v_pk_mul_f32 v[2:3], v[4:5], v[6:7]"],
            "s_nop 0",
            "v_fma_mixlo_f16 v8, v2, v3, 0",
            "v_pk_mul result before v_fma_mixlo",
        ),
        # masks: only what looks at other lanes needs EXEC settled, although all vector instructions read it
        (
            ["s_mov_b64 exec, s[4:5]"],
            "s_nop 3",
            "v_add_f32_dpp v4, v1, v5 row_shr:8 row_mask:0xf bank_mask:0xf",
            "s_mov writes EXEC before v_add",
        ),
        (["s_mov_b64 exec, s[4:5]"], "s_nop 0", "v_add_f32_e32 v4, v1, v5", NOT_KNOWN),
        # the result was overwritten on the way, or is too far away for what is padded, or nothing is shared
        (
            ["v_rcp_f32_e32 v1, v2", "s_load_dword s1, s[2:3], 0x0", "v_mov_b32_e32 v1, 0"],
            "s_nop 4",
            "v_mul_f32_e32 v3, v1, v1",
            NOT_KNOWN,
        ),
        (["v_cmp_gt_f32_e32 vcc, s2, v1"], "s_nop 7", "v_cndmask_b32_e32 v2, 0, v3, vcc", NOT_KNOWN),
        (["v_mov_b32_e32 v1, v2"], "s_nop 0", "s_barrier", NOT_KNOWN),
        (["v_mov_b32_e32 v1, v2", "s_branch 12"], "s_nop 0", "v_mul_f32_e32 v3, v1, v1", NOT_KNOWN),
    ],
)
def test_what_is_separated(before: list[str], padding: str, after: str, expected: str) -> None:
    assert hazard_of([*before, padding, after], len(before)) == expected


@together(
    "text, expected",
    [
        ("s_delay_alu instid0(VALU_DEP_1)", "VALU result before v_add"),
        (
            "s_delay_alu instid0(TRANS32_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)",
            "transcendental result before v_add",
        ),
        ("s_delay_alu instid0(SALU_CYCLE_1)", "scalar result before v_add"),
        ("s_delay_alu 0x0", NOT_KNOWN),
    ],
)
def test_rdna_says_the_dependency_itself(text: str, expected: str) -> None:
    assert hazard_of(["v_mov_b32_e32 v1, v2", text, "v_add_f32_e32 v3, v1, v1"], 1) == expected


def test_padding_in_several_instructions() -> None:
    code = [MFMA, "s_nop 7", "s_nop 7", "v_accvgpr_read_b32 v4, a3"]
    assert {hazard_of(code, 1), hazard_of(code, 2)} == {"matrix result before v_accvgpr_read"}


@together("row", [-1, 0, 1, 2, 9])
def test_what_is_no_padding_or_not_there_is_not_known(row: int) -> None:
    assert hazard_of([None, "s_nop 0", "s_endpgm"], row) == NOT_KNOWN
    assert hazard_of(["s_nop 0"], 0) == NOT_KNOWN


def test_families_of_mnemonics() -> None:
    texts = ["v_mfma_f32_32x32x8_f16 a0", "v_cmpx_lt_i32_e64 s0", "global_load_dwordx4 v0", "v_pk_fma_f32 v0", "s_nop"]
    assert [family(text) for text in texts] == ["v_mfma", "v_cmpx", "global_load", "v_pk_fma", "s_nop"]
    assert family("buffer_load_ushort v1") == "buffer_load"
    assert family("v_cvt_f32_u32_e32 v1, v2") == "v_cvt"
