"""Bytes per lane of instructions, as the ISA documents of AMD give them."""

from __future__ import annotations

import polars as pl

from tests.kit.together import together
from wavewright.analysis.trace.code.accesses import ATOMIC, LOAD, LOAD_TO_LDS, STORE, access_of, accesses


@together(
    "text, expected",
    [
        ("global_load_tr_b128 v[0:3], v[4:5], off", ("memory", LOAD, 16)),
        ("global_load_tr_b128 v[0:1], v[4:5], off", ("memory", LOAD, 8)),  # a wave of 64
        ("global_load_tr_b64 v7, v[4:5], off", ("memory", LOAD, 4)),
        ("global_load_tr_b64", ("memory", LOAD, None)),
        ("buffer_load_dword v1, s[8:11], 0 offen lds", ("memory", LOAD_TO_LDS, 4)),
        ("global_load_dword v[0:1], off lds", ("memory", LOAD_TO_LDS, 4)),  # gfx9 before gfx940, gfx10
        ("scratch_load_ubyte off, s0 lds", ("scratch", LOAD_TO_LDS, 1)),
        ("buffer_load_dword v1, v2, s[8:11], 0 offen", ("memory", LOAD, 4)),
        ("ds_read2st64_b64 v[0:3], v4 offset1:1", ("lds", LOAD, 16)),
        ("ds_pk_add_f16 v0, v1", ("lds", ATOMIC, 4)),
        ("global_atomic_pk_add_bf16 v0, v1, s[0:1]", ("memory", ATOMIC, 4)),
        ("flat_atomic_cmpswap_x2 v[0:1], v[2:5]", ("flat", ATOMIC, 8)),
        ("scratch_load_dwordx3 v[0:2], off, s32", ("scratch", LOAD, 12)),
        ("s_load_b512 s[0:15], s[16:17], 0x0", ("scalar", LOAD, 64)),
        ("image_sample v[0:3], v[4:5], s[0:7], s[8:11] dmask:0xf", ("memory", LOAD, None)),
        ("global_load_newword v0, v[0:1], off", ("memory", LOAD, None)),
        ("ds_add_u32 v0, v1 gds", None),
        ("s_waitcnt vmcnt(0)", None),
        ("", None),
    ],
)
def test_written_down(text: str, expected: tuple[str, str, int | None] | None) -> None:
    assert access_of(text) == expected


def test_rows_that_move_nothing_are_left_out() -> None:
    code = pl.DataFrame(
        {
            "row": pl.Series([4, 5, 6, 7, 8], dtype=pl.Int32),
            "text": [
                "v_mov_b32_e32 v0, 0",
                "flat_store_byte v[0:1], v2",
                None,
                "s_memtime s[0:1]",
                "ds_write_b96 v0, v[1:3]",
            ],
        }
    )
    assert accesses(code).rows() == [(5, "flat", STORE, 1, "flat_store_byte"), (8, "lds", STORE, 12, "ds_write_b96")]
    assert accesses(code.head(0)).schema == accesses(code).schema
