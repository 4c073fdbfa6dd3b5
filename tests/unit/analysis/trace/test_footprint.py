"""Distinct bytes of kernels made by hand: what workgroups have for themselves, what they share, what nothing tells."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.made_traces import made
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.lanes.address_terms import WORKGROUP, Registers
from wavewright.analysis.trace.lanes.footprint import Footprint, footprint
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import with_operands

BEGIN = ("s_load_dwordx4 s[4:7], s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "v_lshlrev_b32_e32 v2, 2, v0")
OWN = ("s_lshl_b32 s8, s2, 8", "v_add_u32_e32 v3, s8, v2")  # 64 lanes of 4 bytes for each workgroup
ROW = ("s_mul_i32 s8, s2, s6", "v_add_u32_e32 v3, s8, v2")  # a stride that an argument gives
TILE = ("s_lshr_b32 s9, s2, 3", "s_lshl_b32 s8, s9, 8", "v_add_u32_e32 v3, s8, v2")  # eight workgroups share a tile
HALF = ("s_lshl_b32 s8, s2, 7", "v_add_u32_e32 v3, s8, v2")  # neighbours overlap by a half
LOAD, STORE = "global_load_dword v9, v3, s[4:5]", "global_store_dword v3, v9, s[6:7]"


def touched(*texts: str, waves: int = 1) -> Footprint:
    """The footprint of waves that run the texts one after the other."""
    code: dict[str, list[Any]] = {
        "row": list(range(len(texts))),
        "code_object": [7] * len(texts),
        "address": [256 + 8 * row for row in range(len(texts))],
        "text": list(texts),
        "mnemonic": [text.split()[0] for text in texts],
        "function": ["main_kernel"] * len(texts),
    }
    rows = [(1000 + 4 * row, 0, 4, 6, row) for row in range(len(texts))]
    trace = made(
        [{"begin": 990, "end": 1990, "slot": slot, "instructions": rows, "states": []} for slot in range(waves)],
        code=with_operands(classify_frame(frame("code", code), "gfx942"), "gfx942"),
        shader_engines=frame("shader_engines", {"se": [0], "gfxip": [9]}),
    )
    answer = footprint(trace, "gfx942")
    assert answer is not None
    return answer


@pytest.mark.parametrize(
    ("texts", "own", "shared"),
    [
        ((*OWN, LOAD), (256, 256), (0, 0)),
        ((*OWN, LOAD, LOAD), (256, 256), (0, 0)),  # the same bytes again
        ((*OWN, LOAD, STORE), (512, 512), (0, 0)),
        ((*ROW, LOAD), (256, 256), (0, 0)),
        ((*HALF, LOAD), (0, 256), (0, 0)),
        ((*TILE, LOAD), (0, 256), (0, 0)),
        ((*TILE, LOAD, STORE), (256, 512), (0, 0)),  # two workgroups that store to one tile would race
        (("v_mov_b32_e32 v3, v2", LOAD), (0, 0), (512, 512)),  # of two waves: one row for all workgroups
        (("v_mov_b32_e32 v3, 0", *OWN[:1], LOAD), (0, 0), (4, 4)),  # one number for all lanes
        ((*OWN, LOAD, "s_waitcnt vmcnt(0)", "global_load_dword v8, v9, s[4:5]"), (256, 512), (0, 0)),  # a gather
    ],
)
def test_bytes_of_a_wave(texts: tuple[str, ...], own: tuple[int, int], shared: tuple[int, int]) -> None:
    answer = touched(*BEGIN, *texts, "s_endpgm")
    assert answer.own_bytes_per_wave == own
    assert answer.shared_bytes == shared


def test_inactive_lanes_are_not_counted() -> None:
    quarter = ("v_and_b32_e32 v5, 63, v0", "v_cmp_gt_u32_e32 vcc, 16, v5", "s_and_saveexec_b64 s[10:11], vcc")
    answer = touched(*BEGIN, *OWN, *quarter, LOAD, "s_endpgm")
    assert answer.requested_bytes_per_wave == 64  # 16 of 64 lanes
    assert answer.own_bytes_per_wave == (64, 64)


def test_a_mask_that_an_argument_decides_is_taken_as_full_and_said() -> None:
    bound = ("v_cmp_gt_u32_e32 vcc, s7, v0", "s_and_saveexec_b64 s[10:11], vcc")
    answer = touched(*BEGIN, *OWN, *bound, LOAD, "s_endpgm")
    assert answer.own_bytes_per_wave == (256, 256)
    assert "all lanes are active where nothing tells them" in answer.assumptions


def test_totals_count_shared_rows_once() -> None:
    answer = Footprint((256.0, 256.0), (512.0, 512.0), 768.0, 0.0, ())
    assert answer.total_bytes(1000) == (256_512, 256_512)


def test_terms_of_an_address() -> None:
    registers = Registers({0: "argument", 1: "argument", 2: "workgroup x"}, is_complete=True)
    registers.execute("s_load_dwordx2 s[4:5], s[0:1], 0x8", "s[4:5]")
    registers.execute("s_mul_i32 s3, s2, s4", "s3")
    registers.execute("v_add_lshl_u32 v1, s3, v0, 1", "v1")
    registers.execute("v_add_u32_e32 v1, 0x10, v1", "v1")
    terms = registers.read("v1")
    (product,) = (product for product in terms if "workgroup x" in product)
    assert (terms[product], terms["v0@start",], terms[()]) == (2, 2, 16)
    assert WORKGROUP in registers.origins_of(terms)
    registers.execute("v_lshrrev_b32_e32 v1, 4, v1", "v1")
    ((symbol,),) = registers.read("v1")
    assert symbol.startswith("result")
    assert WORKGROUP in registers.origins_of(registers.read("v1"))


def test_products_without_end_become_symbols() -> None:
    registers = Registers({}, is_complete=False)
    for _ in range(200):
        registers.execute("s_mul_i32 s3, s3, s3", "s3")
        registers.execute("s_lshl_b32 s4, s4, 8", "s4")
    assert len(registers.read("s3")) == 1
    assert all(abs(count) < 1 << 57 for count in registers.read("s4").values())


@pytest.mark.parametrize(
    "text", ["global_load_dword", "global_load_dword v1, v3, off offset:what", "buffer_load_dword v1"]
)
def test_texts_that_nobody_wrote(text: str) -> None:
    assert touched(*BEGIN, text, "s_endpgm").own_bytes_per_wave[0] == 0
