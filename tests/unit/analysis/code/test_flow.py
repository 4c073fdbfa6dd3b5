"""What rows do to control and to the mask, from their texts."""

from __future__ import annotations

import polars as pl

from tests.kit.together import together
from wavewright.analysis.code.flow import (
    ANYWHERE,
    BACK,
    BRANCH,
    CALL,
    END,
    JUMP,
    NEXT,
    flow_rows,
    innermost_loops,
    loop_spans,
)
from wavewright.analysis.code.machine_code import MachineCode
from wavewright.codeobj.code_object import Function, Kernel

EXEC = 126
NARROWS, WIDENS, ANY = 1, 2, 3


def code_of(texts: list[str], writes: dict[int, int] | None = None, size: int = 4) -> MachineCode:
    """Rows of 4 bytes each from address 0x100 on; `writes`: row -> a register that it writes."""
    rows = pl.DataFrame(
        {
            "row": pl.Series(range(len(texts)), dtype=pl.Int32),
            "address": pl.Series([0x100 + size * row for row in range(len(texts))], dtype=pl.UInt64),
            "size": pl.Series([4] * len(texts), dtype=pl.UInt8),
            "text": texts,
            "function": pl.Series([0] * len(texts), dtype=pl.UInt32),
        }
    )
    operands = pl.DataFrame(
        [(row, register, 1, 2) for row, register in (writes or {}).items()],
        schema={"row": pl.UInt32, "register": pl.UInt16, "count": pl.UInt8, "role": pl.UInt8},
        orient="row",
    )
    kernel = Kernel("k", 0x100, 4 * len(texts))
    functions = (Function(0x100, 4 * len(texts), "k"),)
    return MachineCode(kernel, "gfx942", functions, rows, operands, True, "made", ())


@together(
    "text, flow",
    [
        ("v_add_f32_e32 v0, v1, v2", NEXT),
        ("s_branch 1", JUMP),
        ("s_cbranch_vccnz 1", BRANCH),
        ("s_endpgm", END),
        ("s_endpgm_saved", END),
        ("s_swappc_b64 s[30:31], s[4:5]", CALL),
        ("s_swap_pc_i64 s[30:31], s[4:5]", CALL),
        ("s_setpc_b64 s[30:31]", BACK),
        ("s_setpc_b64 s[4:5]", ANYWHERE),
        ("s_add_pc_i64 s[4:5]", ANYWHERE),
    ],
)
def test_what_follows(text: str, flow: int) -> None:
    assert flow_rows(code_of([text, "s_nop 0", "s_nop 0", "s_endpgm"]))["flow"][0] == flow


def test_nothing_falls_through_a_gap() -> None:
    assert flow_rows(code_of(["s_nop 0", "s_nop 0"], size=8))["flow"].to_list() == [END, END]


@together(
    "text, change",
    [
        ("s_and_saveexec_b64 s[0:1], vcc", NARROWS),
        ("s_andn2_saveexec_b64 s[0:1], s[2:3]", ANY),  # gives the lanes of its operand that were not active
        ("s_and_b64 exec, exec, s[0:1]", NARROWS),
        ("s_andn2_b64 exec, exec, s[0:1]", NARROWS),
        ("s_and_not1_b32 exec_lo, exec_lo, s0", NARROWS),
        ("s_andn2_b64 exec, s[0:1], exec", ANY),
        ("v_cmpx_gt_i32_e32 v0, v1", NARROWS),
        ("s_or_b64 exec, exec, s[0:1]", WIDENS),
        ("s_or_b32 exec_lo, exec_lo, s0", WIDENS),
        ("s_or_saveexec_b64 s[0:1], s[2:3]", WIDENS),
        ("s_mov_b64 exec, -1", WIDENS),
        ("s_mov_b64 exec, s[0:1]", ANY),
        ("s_xor_b64 exec, exec, s[0:1]", ANY),
    ],
)
def test_the_mask(text: str, change: int) -> None:
    assert flow_rows(code_of([text, "s_endpgm"], {0: EXEC}))["mask_change"][0] == change


def test_rows_that_do_not_write_the_mask_do_not_change_it() -> None:
    assert flow_rows(code_of(["s_and_saveexec_b64 s[0:1], vcc"]))["mask_change"][0] == 0


@together(
    "text, habits",
    [
        ("v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]", 1 | 2),
        ("v_readlane_b32 s0, v1, 3", 2),
        ("v_writelane_b32 v1, s0, 3", 4),
        ("s_cmov_b32 s0, s1", 4),
        ("v_mov_b32_sdwa v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0", 4),
        ("v_movrels_b32_e32 v0, v1", 8),
        ("v_add_f32_e32 v0, v1, v2", 0),
        ("v_pk_add_f16 v0, v1, v2 op_sel:[0,1]", 0),
    ],
)
def test_habits(text: str, habits: int) -> None:
    assert flow_rows(code_of([text]))["habits"][0] == habits


def test_rows_between_index_on_and_off_read_any_register() -> None:
    rows = ["s_set_gpr_idx_on s0, gpr_idx(SRC0)", "v_mov_b32_e32 v0, v1", "s_set_gpr_idx_off", "v_mov_b32_e32 v0, v1"]
    assert [habits & 8 for habits in flow_rows(code_of(rows))["habits"]] == [8, 8, 0, 0]


def test_nested_loops() -> None:
    """Rows 1 to 4 hold rows 2 to 3."""
    code = code_of(["s_nop 0", "s_nop 0", "s_nop 0", "s_cbranch_scc1 65534", "s_cbranch_scc0 65532", "s_endpgm"])
    flow = flow_rows(code)
    spans = loop_spans(code, flow, pl.Series([True] * 6))
    assert spans.select("first_row", "last_row", "parent", "depth").rows() == [(1, 4, None, 0), (2, 3, 0, 1)]
    assert innermost_loops(spans, 6) == [None, 0, 1, 1, 0, None]
