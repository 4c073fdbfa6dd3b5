"""Registers, access and counters of instructions.

The cases are worked out by hand from AMD's ISA documents (operand tables and pseudo code) and from LLVM's records
(`Uses`, `Defs`, constraints).
"""

from __future__ import annotations

import polars as pl

from tests.kit.together import together
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import OPERAND_COLUMNS, columns_for, with_operands
from wavewright.codeobj.registers import EXEC, FIRST_VECTOR, M0, SCC, VCC, RowUses, registers, spelled

GFX9 = [
    # text, writes, reads, implicit writes, implicit reads, tied, access, counters
    ("v_add_co_u32_e32 v2, vcc, s4, v6", "v2 vcc", "s4 v6", "", "exec", "", None, None),
    ("v_addc_co_u32_e32 v1, vcc, v2, v3, vcc", "v1 vcc", "v2 v3 vcc", "", "exec", "", None, None),
    ("v_mad_u64_u32 v[0:1], s[2:3], v4, v5, v[6:7]", "v[0:1] s[2:3]", "v4 v5 v[6:7]", "", "exec", "", None, None),
    ("v_div_fmas_f32 v4, v5, v6, v7", "v4", "v5 v6 v7", "", "exec mode vcc", "", None, None),
    ("v_cmp_gt_f32_e32 vcc, s23, v81", "vcc", "s23 v81", "", "exec mode", "", None, None),
    ("v_cmpx_gt_u32_e64 s[0:1], v0, v1", "s[0:1]", "v0 v1", "exec", "exec", "", None, None),
    ("v_cndmask_b32_e32 v2, 0, v3, vcc", "v2", "v3 vcc", "", "exec", "", None, None),
    ("v_readfirstlane_b32 s6, v1", "s6", "v1", "", "exec", "", None, None),
    ("v_swap_b32 v1, v2", "v1 v2", "v1 v2", "", "exec", "v1 v2", None, None),
    ("s_add_u32 s0, s1, 4", "s0", "s1", "scc", "", "", None, None),
    ("s_addc_u32 s7, s7, 0", "s7", "s7", "scc", "scc", "", None, None),
    ("s_cmp_lg_u64 s[0:1], s[2:3]", "", "s[0:1] s[2:3]", "scc", "", "", None, None),
    ("s_and_saveexec_b64 s[0:1], vcc", "s[0:1]", "vcc", "exec scc", "exec", "", None, None),
    ("s_cbranch_vccnz 12", "", "", "", "vcc", "", None, None),
    ("s_cbranch_scc1 65534", "", "", "", "scc", "", None, None),
    ("s_swappc_b64 s[30:31], s[12:13]", "s[30:31]", "s[12:13]", "", "", "", None, None),
    ("s_load_dwordx2 s[4:5], s[0:1], 0x10", "s[4:5]", "s[0:1]", "", "", "", "load", "lgkmcnt"),
    ("buffer_load_dwordx4 v[64:67], v1, s[16:19], 0 offen", "v[64:67]", "v1 s[16:19]", "", "exec", "", "load", "vmcnt"),
    ("buffer_load_dword v1, s[20:23], 0 offen lds", "", "v1 s[20:23]", "", "exec m0", "", "load_to_lds", "vmcnt"),
    ("global_store_dwordx2 v[0:1], v[2:3], off", "", "v[0:1] v[2:3]", "", "exec", "", "store", "vmcnt"),
    ("global_atomic_add v0, v1, s[2:3]", "", "v0 v1 s[2:3]", "", "exec", "", "atomic", "vmcnt"),
    ("ds_write_b64 v0, v[2:3]", "", "v0 v[2:3]", "", "exec", "", "store", "lgkmcnt"),
    ("ds_add_rtn_u32 v5, v0, v1", "v5", "v0 v1", "", "exec", "", "atomic_return", "lgkmcnt"),
    ("ds_bpermute_b32 v5, v0, v1", "v5", "v0 v1", "", "exec", "", None, "lgkmcnt"),
    ("buffer_load_short_d16_hi v3, v1, s[4:7], 0 offen", "v3", "v1 s[4:7] v3", "", "exec", "v3", "load", "vmcnt"),
    ("s_waitcnt vmcnt(0) lgkmcnt(0)", "", "", "", "", "", None, None),
    ("s_barrier", "", "", "", "", "", None, None),
]
OTHERS = {
    "gfx906": [("v_fmac_f32_e32 v0, v1, v2", "v0", "v0 v1 v2", "", "exec mode", "v0", None, None)],
    "gfx908": [("v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]", "a[0:15]", "v[0:1] v[2:3] a[0:15]")],
    "gfx90a": [
        ("global_atomic_add v4, v0, v1, s[2:3] glc", "v4", "v0 v1 s[2:3]", "", "exec", "", "atomic_return", "vmcnt"),
        ("v_pk_mul_f32 v[2:3], v[4:5], s[6:7]", "v[2:3]", "v[4:5] s[6:7]", "", "exec mode", "", None, None),
        ("v_accvgpr_write_b32 a0, v1", "a0", "v1", "", "exec", "", None, None),
    ],
    "gfx942": [
        ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "a[0:15]", "v[0:1] v[2:3] a[0:15]"),
        ("global_atomic_add v4, v0, v1, s[2:3] sc0", "v4", "v0 v1 s[2:3]", "", "exec", "", "atomic_return", "vmcnt"),
    ],
    "gfx950": [
        ("v_permlane32_swap_b32_e32 v1, v3", "v1 v3", "v1 v3", "", "exec", "v1 v3", None, None),
    ],
    "gfx1030": [
        ("v_cmp_gt_f32_e32 vcc_lo, s2, v1", "vcc_lo", "s2 v1", "", "exec_lo mode", "", None, None),
        ("v_cmpx_gt_u32_e32 v0, v1", "", "v0 v1", "exec_lo", "exec_lo", "", None, None),
        ("v_add_co_ci_u32_e32 v1, vcc_lo, v2, v3, vcc_lo", "v1 vcc_lo", "v2 v3 vcc_lo", "", "exec_lo", "", None, None),
        ("v_mov_b32_e32 v1, 0x41", "v1", "", "", "exec_lo", "", None, None),
        ("global_store_dword v0, v1, s[2:3]", "", "v0 v1 s[2:3]", "", "exec_lo", "", "store", "vscnt"),
        ("v_add_co_u32 v1, null, v2, v3", "v1", "v2 v3", "", "exec_lo", "", None, None),
    ],
    "gfx1100": [
        (
            "v_dual_mul_f32 v196, v12, v98 :: v_dual_add_nc_u32 v9, v4, v74",
            "v196 v9",
            "v12 v98 v4 v74",
            "",
            "exec_lo mode",
            "",
            None,
            None,
        ),
        ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "v[0:7]", "v[8:15] v[16:23] v[0:7]"),
        ("s_delay_alu instid0(VALU_DEP_1)", "", "", "", "", "", None, None),
        ("ds_load_b64 v[0:1], v2", "v[0:1]", "v2", "", "exec_lo", "", "load", "lgkmcnt"),
    ],
    "gfx1151": [
        ("v_log_f16_e32 v50.h, v28.l", "v50.h", "v28.l", "", "exec_lo mode", "", None, None),
        ("s_add_f32 s0, s1, s2", "s0", "s1 s2", "", "mode", "", None, None),
    ],
    "gfx1201": [
        ("global_load_b128 v[0:3], v4, s[0:1]", "v[0:3]", "v4 s[0:1]", "", "exec_lo", "", "load", "loadcnt"),
        (
            "global_atomic_add_u32 v1, v2, v3, s[0:1] th:TH_ATOMIC_RETURN",
            "v1",
            "v2 v3 s[0:1]",
            "",
            "exec_lo",
            "",
            "atomic_return",
            "loadcnt",
        ),
        ("global_atomic_add_u32 v2, v3, s[0:1]", "", "v2 v3 s[0:1]", "", "exec_lo", "", "atomic", "storecnt"),
        ("s_wait_loadcnt 0x0", "", "", "", "", "", None, None),
    ],
    "gfx1250": [
        ("tensor_load_to_lds s[0:3], s[4:11]", "", "s[0:3] s[4:11]", "", None, "", "load_to_lds", "tensorcnt"),
        ("global_prefetch_b8 v0, s[0:1]", "", "v0 s[0:1]", "", None, "", None, None),
    ],
}
CASES = [(target, case) for target in ("gfx900", "gfx908", "gfx90a", "gfx942", "gfx950") for case in GFX9]
CASES += [(target, case) for target, cases in OTHERS.items() for case in cases]


def described(texts: list[str], target: str | None, wave64: tuple[str, ...] = ()) -> list[dict[str, str | None]]:
    code = pl.DataFrame({"text": texts, "function": ["f"] * len(texts)})
    return with_operands(classify_frame(code, target), target, wave64).select(OPERAND_COLUMNS).to_dicts()


@together("target, case", CASES)
def test_instructions_worked_out_by_hand(target: str, case: tuple[str | None, ...]) -> None:
    text, *expected = case
    assert text is not None
    (answer,) = described([text], target)
    for column, wanted in zip(OPERAND_COLUMNS, expected, strict=False):
        if wanted is None and column.startswith("implicit"):
            continue
        answered = answer[column]
        if answered is not None and wanted is not None and column not in ("writes", "access"):
            assert sorted(answered.split()) == sorted(wanted.split()), column
        else:
            assert answered == wanted, column


def test_what_no_table_has_is_not_known() -> None:
    rows = described(["v_hello_f32 v0, v1", "", "v_mov_b32_e32 v[5:99999], v[9999:1]", ".long 0x12345678"], "gfx942")
    assert all(row["access"] is None and row["counters"] is None for row in rows)
    assert [row["writes"] for row in rows[:2]] == [None, None]


def test_no_text_at_all_is_not_known() -> None:
    code = pl.DataFrame(
        {"text": [None], "function": [None], "class": ["unknown"]}, schema_overrides={"text": pl.String}
    )
    answer = with_operands(code, "gfx942")
    assert answer.columns == ["text", "function", "class", *OPERAND_COLUMNS]
    assert answer.select(OPERAND_COLUMNS).row(0) == (None,) * len(OPERAND_COLUMNS)


def test_waves_of_64_lanes_have_whole_masks() -> None:
    text = "s_cbranch_vccnz 12"
    assert described([text], "gfx1100")[0]["implicit_reads"] == "vcc_lo"
    assert described([text], "gfx1100", wave64=("f",))[0]["implicit_reads"] == "vcc"
    assert described([text], "gfx1100", wave64=("g",))[0]["implicit_reads"] == "vcc_lo"


def test_a_generation_alone_is_enough() -> None:
    texts = ["v_permlane32_swap_b32_e32 v1, v3", "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]"]
    assert [row["writes"] for row in described(texts, "gfx9-generic")] == ["v1 v3", "a[0:3]"]
    assert described(["tensor_load_to_lds s[0:3], s[4:11]"], "gfx12-generic")[0]["writes"] == ""
    assert described(["v_mov_b32_e32 v1, v2"], None)[0]["writes"] == "v1"
    assert columns_for("gfx90a") == ("gfx90a",)


def test_registers_are_spelled_and_read() -> None:
    words = {"s7": {7}, "s[4:5]": {4, 5}, "vcc": {VCC, VCC + 1}, "exec_hi": {EXEC + 1}, "m0": {M0}, "scc": {SCC}}
    words |= {"v[255:256]": {FIRST_VECTOR + 255, FIRST_VECTOR + 256}, "a255": {1280 + 255}, "ttmp[2:3]": {110, 111}}
    for word, numbers in words.items():
        assert registers(word) == numbers
        assert spelled(min(numbers), len(numbers)) == word
    assert registers(" ".join(words)) == set().union(*words.values())
    assert registers("v7.h") == {FIRST_VECTOR + 7}
    assert registers("hello v[9:3] v99999 s[0:99999") == set()
    assert max(registers("s[0:9999]")) < VCC


def test_uses_of_rows_are_named_and_implicit_ones() -> None:
    rows = pl.DataFrame(described(["s_addc_u32 s7, s8, 0", "no instruction"], "gfx942"))
    uses = RowUses(rows.with_columns(pl.Series("class", ["salu", None])))
    assert uses[0] == ({7, SCC}, {8, SCC}, "salu")
    assert uses[1] == (set(), set(), "")
