from __future__ import annotations

import polars as pl

from tests.kit.together import together
from wavewright.analysis.trace.occupancy.resources import REGISTERS, registers
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import with_operands
from wavewright.model.trace import ThreadTrace, TraceSource


def _scan(*texts: str | None) -> dict[str, int]:
    code = pl.DataFrame(
        {"row": list(range(len(texts))), "function": ["k"] * len(texts), "text": list(texts)},
        schema={"row": pl.Int32, "function": pl.String, "text": pl.String},
    )
    code = with_operands(classify_frame(code, "gfx942"), "gfx942")
    found = registers(ThreadTrace({"code": code}, TraceSource(path="made")))
    assert found.columns == [column.name for column in REGISTERS.columns]
    return {name: found[name][0] for name in ("vgprs", "agprs", "sgprs")}


@together(
    "text, expected",
    [
        ("v_mov_b32_e32 v0, v11", (12, 0, 0)),
        ("global_load_dwordx4 v[160:163], v[2:3], off", (164, 0, 0)),
        ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", (4, 16, 0)),
        ("v_accvgpr_read_b32 v3, a127", (4, 128, 0)),
        ("s_load_dwordx16 s[8:23], s[4:5], 0x0", (0, 0, 24)),
        ("v_add_f32_e64 v1, -v2, |v7|", (8, 0, 0)),
        ("v_cmp_gt_u32_e32 vcc, s3, v0", (1, 0, 4)),
        ("s_waitcnt vmcnt(0) lgkmcnt(0)", (0, 0, 0)),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3", (0, 0, 0)),
        ("s_mov_b32 m0, ttmp9", (0, 0, 0)),
        ("ds_read_b64 v[10:11], v12 offset:4096", (13, 0, 0)),
        ("v_mov_b32_e32 v99999999999999999999, v1", (0, 0, 0)),
        ("v_newop_b32_e32 v9, v1", (0, 0, 0)),  # of a GPU that is not known yet
    ],
)
def test_registers_of_one_instruction(text: str, expected: tuple[int, int, int]) -> None:
    assert tuple(_scan(text).values()) == expected


def test_rows_without_text_count_nothing() -> None:
    assert _scan("v_mov_b32_e32 v1, v2", None) == {"vgprs": 3, "agprs": 0, "sgprs": 0}
