from __future__ import annotations

import polars as pl

from tests.kit.small_traces import small_trace
from tests.kit.together import together
from wavewright.analysis.trace.stalls.classic import classic, classic_type


@together(
    "text, name",
    [
        ("s_waitcnt lgkmcnt(0) vmcnt(1)", "VMEM-wait"),
        ("s_waitcnt lgkmcnt(0)", "LDS/SMEM-wait"),
        ("s_waitcnt expcnt(0)", "EXP-wait"),
        ("s_waitcnt_depctr 0xfffe", "waitcnt"),
        ("s_wait_idle", "barrier"),
        ("s_buffer_load_dword s0, s[4:7], 0x0", "VMEM-load"),
        ("flat_store_dword v[0:1], v2", "other"),
        ("ds_write_b32 v0, v1", "LDS"),
        ("ds_bpermute_b32 v0, v1, v2", "other"),
        ("s_load_dword s0, s[2:3], 0x0", "SMEM"),
        ("v_fma_f32 v0, v1, v2, v3", "MFMA/FMA"),
        ("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", "other"),
        ("s_wait_loadcnt 0x0", "other"),
    ],
)
def test_the_first_rule_that_fits(text: str, name: str) -> None:
    assert classic_type(text) == name


def test_lines_take_the_type_with_most_stall() -> None:
    texts = ["s_nop 7", "s_waitcnt vmcnt(0)", "v_add_f32 v0, v1, v2", "s_endpgm"]
    steps = [(0, "IMMED", 0, 8, 8), (1, "IMMED", 10, 30, 30), (2, "VALU", 50, 30, 40), (3, "IMMED", 99, 0, 4)]
    answer = classic(small_trace(texts, steps, places=["/a.py:1", "/a.py:1", "/b.py:2 -> /a.py:9", "/c.py:3"]))
    assert (answer.instruction_count, answer.latency_cycles_total, answer.stall_cycles_total) == (4, 82, 68)
    assert answer.types.rows()[0][:2] == ("other", 38)
    assert answer.lines.select("source", "type", "stall_cycles_total").rows() == [
        ("/a.py:1", "VMEM-wait", 38),
        ("/b.py:2 -> /a.py:9", "other", 30),
    ]
    assert answer.lines["stalled_share"].to_list() == [1.0, 0.75]
    assert answer.instructions["row"].to_list() == [1, 2, 0]
    only = classic(small_trace(texts, steps), rows=pl.Series([0], dtype=pl.Int32))
    assert (only.instruction_count, only.stall_cycles_total) == (1, 8)
    assert only.lines["source"].to_list() == ["<unknown>"]
