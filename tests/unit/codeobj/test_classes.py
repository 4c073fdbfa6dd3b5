from __future__ import annotations

import json
import tarfile
from pathlib import Path

import polars as pl
import pytest

from synth.kernels import KERNELS, TARGETS, listing_path
from tests.kit.together import together
from wavewright.codeobj.classes import Wait, classify, classify_frame, waits_of
from wavewright.codeobj.listing import parse_rows
from wavewright.codeobj.targets import FAMILIES, family_of

EXPECTED = {
    "gfx9": {
        "buffer_load_dwordx4 v12, s[16:19], 0 offen lds": "vmem_lds_load",
        "buffer_load_dwordx4 v[0:3], v12, s[16:19], 0 offen": "vmem_load",
        "global_load_lds_dwordx4 v[0:1], off": "vmem_lds_load",
        "global_store_dword v[0:1], v2, off": "vmem_store",
        "global_atomic_add_f32 v[0:1], v2, off": "vmem_atomic",
        "global_atomic_add v3, v[0:1], v2, off sc0": "vmem_atomic_return",
        "buffer_wbl2 sc1": "vmem_writeback",
        "buffer_inv sc1": "vmem_invalidate",
        "flat_load_dword v0, v[0:1]": "flat_load",
        "scratch_store_dword off, v0, s0": "scratch_store",
        "ds_read_b64_tr_b16 v[0:1], v2": "lds_load",
        "ds_write2_b32 v0, v1, v2 offset1:1": "lds_store",
        "ds_add_rtn_u32 v0, v1, v2": "lds_atomic",
        "global_load_dword v[0:1], off lds": "vmem_lds_load",
        "ds_append v0 offset:8": "lds_atomic",
        "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,1)": "lds_cross_lane",
        "s_load_dwordx2 s[2:3], s[0:1], 0x0": "smem_load",
        "s_memrealtime s[0:1]": "smem_time",
        "s_cbranch_scc0 65528": "branch_conditional",
        "s_branch 4": "branch",
        "s_swappc_b64 s[30:31], s[4:5]": "call",
        "s_setpc_b64 s[30:31]": "jump",
        "s_waitcnt vmcnt(0)": "wait",
        "s_barrier": "barrier",
        "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]": "matrix",
        "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10": "matrix",
        "v_exp_f32_e32 v0, v1": "valu_transcendental",
        "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]": "valu_packed",
        "v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]": "valu_double",
        "v_add_f32_e32 v0, v1, v2": "valu",
        "s_add_u32 s0, s1, s2": "salu",
        "s_ttracedata": "trace_data",
        "s_endpgm": "end",
        ".long 0xffffffff": "data",
        "": "unknown",
        "frobnicate v0": "unknown",
    },
    "gfx10": {
        "s_get_waveid_in_workgroup s0": "smem_time",
        "v_illegal": "data",
    },
    "gfx11": {
        "ds_storexchg_rtn_b32 v0, v1, v2": "lds_atomic",
        "s_waitcnt_vscnt null, 0x0": "wait",
        "s_waitcnt_depctr 0xfff": "delay",
        "s_delay_alu instid0(VALU_DEP_1)": "delay",
        "s_clause 0x3": "clause",
        "s_code_end": "padding",
        "v_dual_mul_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4": "valu_dual",
        "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]": "matrix",
        "image_bvh64_intersect_ray v[0:3], v[0:11], s[0:3]": "bvh",
        "s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_REALTIME)": "message_return",
        "lds_param_load v0, attr0.x": "lds_param",
        "exp mrt0 v0, v1, v2, v3 done": "export",
        "global_atomic_add_u32 v1, v0, v2, s[0:1] glc": "vmem_atomic_return",
    },
    "gfx12": {
        "s_wait_loadcnt 0x0": "wait",
        "s_wait_alu 0xfffe": "delay",
        "s_barrier_signal -1": "barrier_signal",
        "s_barrier_wait -1": "barrier_wait",
        "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], v20": "matrix",
        "global_atomic_add_u32 v1, v0, v2, s[0:1] th:TH_ATOMIC_RETURN": "vmem_atomic_return",
        "global_inv scope:SCOPE_DEV": "vmem_invalidate",
        "image_sample v[0:3], [v0, v1], s[0:7], s[8:11]": "image_sample",
        "v_s_exp_f32 s0, s1": "valu_transcendental",
        "s_prefetch_inst s[0:1], 0x0, null, 0": "smem_prefetch",
    },
    "gfx1250": {
        "global_load_async_to_lds_b128 v0, v[2:3], off": "vmem_lds_load",
        "tensor_load_to_lds s[0:3], s[4:11]": "tensor_lds_load",
        "s_wait_tensorcnt 0x0": "wait",
        "s_set_vgpr_msb 0x5": "delay",
        "s_add_pc_i64 s[0:1]": "jump",
    },
}


@together("family, text", [(f, t) for f, texts in EXPECTED.items() for t in texts])
def test_classes(family: str, text: str) -> None:
    assert classify(text, family).name == EXPECTED[family][text]


@together(
    "family, text, counters, in_order",
    [
        ("gfx9", "global_store_dword v[0:1], v2, off", ("vmcnt",), True),
        ("gfx10", "global_store_dword v[0:1], v2, off", ("vscnt",), True),
        ("gfx11", "global_store_b32 v[0:1], v2, off", ("vscnt",), True),
        ("gfx12", "global_store_b32 v[0:1], v2, off", ("storecnt",), True),
        ("gfx9", "s_load_dword s0, s[0:1], 0x0", ("lgkmcnt",), False),
        ("gfx12", "s_load_b32 s0, s[0:1], 0x0", ("kmcnt",), False),
        ("gfx9", "flat_load_dword v0, v[0:1]", ("vmcnt", "lgkmcnt"), False),
        ("gfx12", "flat_store_b32 v[0:1], v2", ("storecnt", "dscnt"), False),
        ("gfx9", "ds_bpermute_b32 v0, v1, v2", ("lgkmcnt",), True),
        ("gfx12", "ds_load_b32 v0, v1", ("dscnt",), True),
        ("gfx12", "image_sample v[0:3], [v0, v1], s[0:7], s[8:11]", ("samplecnt",), True),
        ("gfx12", "image_msaa_load v[0:3], [v0, v1, v2], s[0:7]", ("samplecnt",), True),
        ("gfx1250", "ds_atomic_async_barrier_arrive_b64 v0", ("asynccnt",), True),
        ("gfx1250", "tensor_save s[0:1]", ("storecnt",), True),
        ("gfx1250", "global_load_async_to_lds_b128 v0, v[2:3], off", ("asynccnt",), True),
        ("gfx9", "v_add_f32_e32 v0, v1, v2", (), True),
        ("gfx11", "s_sendmsg sendmsg(MSG_INTERRUPT)", ("lgkmcnt",), False),
        ("gfx12", "s_sendmsg sendmsg(MSG_INTERRUPT)", ("kmcnt",), False),
        ("gfx9", "s_sendmsg sendmsg(MSG_INTERRUPT)", ("lgkmcnt",), False),
    ],
)
def test_counters(family: str, text: str, counters: tuple[str, ...], in_order: bool) -> None:
    found = classify(text, family)
    assert (found.counters, found.in_order) == (counters, in_order)


@together(
    "family, text, waits",
    [
        ("gfx9", "s_waitcnt vmcnt(12) lgkmcnt(3)", [("vmcnt", 12), ("lgkmcnt", 3)]),
        ("gfx9", "s_waitcnt expcnt(0)", [("expcnt", 0)]),
        ("gfx10", "s_waitcnt_vscnt null, 0x3f", [("vscnt", 63)]),
        ("gfx12", "s_wait_kmcnt 0x0", [("kmcnt", 0)]),
        ("gfx12", "s_wait_loadcnt_dscnt 0x305", [("loadcnt", 3), ("dscnt", 5)]),
        ("gfx12", "s_wait_storecnt_dscnt 0x0", [("storecnt", 0), ("dscnt", 0)]),
        ("gfx1250", "s_wait_tensorcnt 0x1", [("tensorcnt", 1)]),
        ("gfx12", "s_wait_alu 0xfffe", []),
        ("gfx12", "s_wait_loadcnt", []),
        ("gfx9", "s_nop 3", []),
    ],
)
def test_waits(family: str, text: str, waits: list[tuple[str, int]]) -> None:
    assert waits_of(text, family) == tuple(Wait(*wait) for wait in waits)
    if waits:
        assert classify(text, family).name == "wait"


def test_idle_waits_for_everything() -> None:
    assert {wait.counter for wait in waits_of("s_wait_idle", "gfx12")} >= {"loadcnt", "storecnt", "dscnt", "kmcnt"}


def test_every_counter_of_a_class_can_be_waited_for() -> None:
    from wavewright.codeobj.classes import _table

    for family in FAMILIES:
        table = _table(family)
        awaited = {part["counter"] for form in table.waits.values() for part in form.get("immediate", ())}
        awaited |= {name for form in table.waits.values() for name in form.get("named", ())}
        used = {name for counters in (*table.ordered.values(), *table.unordered.values()) for name in counters}
        declared = {rule.name for rule in table.rules}
        assert used <= awaited, family
        assert set(table.ordered) | set(table.unordered) <= declared | {"message"}, family


def _texts(shared: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {family: set() for family in FAMILIES}
    for path in (shared / "golden").glob("**/*.isa.tsv"):
        folder = next(part for part in reversed(path.parts) if part.startswith("gfx"))
        family = folder if folder in FAMILIES else family_of(folder)
        assert family is not None
        found[family].update(row.text for row in parse_rows(path.read_bytes())[0])
    documents = [path.read_bytes() for path in (shared / "data").glob("**/code.json")]
    for path in (shared / "data").glob("**/*.tar.xz"):
        with tarfile.open(path) as archive:
            members = [member for member in archive if member.name.endswith("/code.json")]
            documents += [stream.read() for member in members if (stream := archive.extractfile(member))]
    for document in documents:
        rows = json.loads(document)["code"] or []
        found["gfx9"].update(row[0] for row in rows if not row[0].startswith(";"))
    return found


@pytest.mark.slow
def test_every_instruction_of_the_shared_data_has_a_class(shared: Path) -> None:
    texts = _texts(shared)
    assert all(len(known) > 100 for known in texts.values())
    unknown = {(f, text) for f, known in texts.items() for text in known if classify(text, f).name == "unknown"}
    assert not unknown
    waits = {(f, text) for f, known in texts.items() for text in known if classify(text, f).name == "wait"}
    assert not {(family, text) for family, text in waits if not waits_of(text, family)}


def test_every_instruction_of_the_own_kernels_has_a_class() -> None:
    for target in TARGETS:
        family = family_of(target)
        names = set()
        for kernel in KERNELS:
            rows = parse_rows(listing_path(kernel, target).read_bytes())[0]
            names |= {classify(row.text, family).name for row in rows}
        assert "unknown" not in names
        assert {
            "smem_load",
            "vmem_load",
            "vmem_store",
            "lds_load",
            "lds_store",
            "lds_cross_lane",
            "call",
            "jump",
        } <= names
        assert {"branch_conditional", "trace_data", "valu_transcendental", "end", "wait"} <= names
        assert names & {"barrier", "barrier_wait"}
        assert ("matrix" in names) == (target != "gfx1030")


def test_frames() -> None:
    frame = pl.DataFrame({"row": [0, 1, 2], "text": ["s_endpgm", "", "s_endpgm"], "class": ["?", "?", "?"]})
    classified = classify_frame(frame, "gfx942")
    assert classified["class"].to_list() == ["end", "unknown", "end"]
    assert classified["row"].to_list() == [0, 1, 2]
    assert classify_frame(frame, None)["class"].to_list() == ["end", "unknown", "end"]


def test_waits_from_strangers() -> None:
    """Numbers that no hardware has are no waits, and a long text takes no longer than its length."""
    assert waits_of("s_waitcnt vmcnt(99999999999) lgkmcnt(1)", "gfx9") == (("lgkmcnt", 1),)
    assert waits_of("s_waitcnt " + "y" * 200_000, "gfx9") == ()
    assert waits_of("s_waitcnt vmcnt(" + "9" * 100_000 + ")", "gfx9") == ()
    assert waits_of("s_wait_loadcnt 08", "gfx12") == (("loadcnt", 8),)
    assert waits_of("s_wait_loadcnt " + "1" * 100_000, "gfx12") == ()
