from __future__ import annotations

import polars as pl
import pytest

from tests.kit.small_traces import small_trace
from tests.kit.together import together
from wavewright.analysis.trace.selection import Selection, select
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.waits.wait_producers import resolve
from wavewright.codeobj.classes import _table
from wavewright.codeobj.targets import FAMILIES
from wavewright.facts.stall_classes import CLASSES, PRODUCER_OF_CLASS, stall_class
from wavewright.model.trace import ThreadTrace, TraceSource

LOAD, STORE = "global_load_dword v0, v[0:1], off", "global_store_dword v[0:1], v2, off"
DMA = "buffer_load_dword v0, s[0:3], 0 offen lds"
READ, PERMUTE = "ds_read_b32 v0, v1", "ds_bpermute_b32 v0, v1, v2"
SCALAR, FLAT = "s_load_dword s0, s[2:3], 0x0", "flat_load_dword v0, v[0:1]"
LOAD_11, READ_11 = "global_load_b32 v0, v[0:1], off", "ds_load_b32 v1, v2"
BUFFER_SCALAR = "s_buffer_load_dword s0, s[4:7], 0x0"


def shares(trace: ThreadTrace) -> dict[str, int]:
    """Class -> stall cycles, those with none left out."""
    found = stalls(trace).classes.filter(pl.col("stall_cycles_total") > 0)
    return dict(found.select("class", "stall_cycles_total").iter_rows())


def waited(producers: list[str], wait: str, *, target: str = "gfx942") -> dict[str, int]:
    """Classes of one wait of 100 cycles behind one execution of each producer."""
    steps = [(row, "VMEM", 4 * row, 0, 4) for row in range(len(producers))]
    steps.append((len(producers), "IMMED", 400, 100, 100))
    return shares(small_trace([*producers, wait], steps, target=target))


@together(
    "producers, wait, name",
    [
        ([LOAD], "s_waitcnt vmcnt(0)", "wait vector load"),
        ([DMA], "s_waitcnt vmcnt(0)", "wait load to LDS"),
        ([LOAD, STORE], "s_waitcnt vmcnt(0)", "wait vector load + store"),
        ([LOAD, STORE], "s_waitcnt vmcnt(1)", "wait vector load"),
        ([READ, LOAD], "s_waitcnt vmcnt(0) lgkmcnt(0)", "wait LDS + vector load"),
        ([PERMUTE], "s_waitcnt lgkmcnt(0)", "wait cross-lane"),
        ([SCALAR], "s_waitcnt lgkmcnt(0)", "wait scalar load"),
        ([BUFFER_SCALAR], "s_waitcnt lgkmcnt(0)", "wait scalar load"),
        ([SCALAR, SCALAR], "s_waitcnt lgkmcnt(1)", "wait scalar load"),
        ([SCALAR, READ], "s_waitcnt lgkmcnt(1)", "wait unresolved"),
        ([SCALAR, READ], "s_waitcnt lgkmcnt(0)", "wait LDS + scalar load"),
        ([FLAT], "s_waitcnt vmcnt(0) lgkmcnt(0)", "wait flat load"),
        ([FLAT, LOAD], "s_waitcnt vmcnt(1)", "wait unresolved"),
        ([LOAD], "s_waitcnt vmcnt(1)", "wait for nothing"),
        ([READ], "s_waitcnt vmcnt(0)", "wait for nothing"),
        (["buffer_inv sc1", LOAD], "s_waitcnt vmcnt(0)", "wait vector load"),
        (["buffer_inv sc1"], "s_waitcnt vmcnt(0)", "wait cache"),
        ([""], "s_waitcnt vmcnt(0)", "wait unresolved"),
    ],
)
def test_waits_of_gfx9(producers: list[str], wait: str, name: str) -> None:
    assert waited(producers, wait) == {name: 100}


@together(
    "target, producers, wait, name",
    [
        ("gfx1030", ["global_load_dword v0, v[0:1], off", STORE], "s_waitcnt_vscnt null, 0x0", "wait store"),
        ("gfx1030", [STORE, STORE], "s_waitcnt_vscnt null, 0x2", "wait for nothing"),
        ("gfx1030", [LOAD, "image_sample v0, v[0:1], s[0:7], s[8:11]"], "s_waitcnt vmcnt(1)", "wait unresolved"),
        ("gfx1100", ["global_load_b32 v0, v[0:1], off"], "s_waitcnt vmcnt(0)", "wait vector load"),
        ("gfx1100", ["s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_TMA)"], "s_waitcnt lgkmcnt(0)", "wait message"),
        ("gfx1201", [LOAD_11, READ_11], "s_wait_loadcnt_dscnt 0x1", "wait vector load"),
        ("gfx1201", [LOAD_11, READ_11], "s_wait_loadcnt_dscnt 0x100", "wait LDS"),
        ("gfx1201", ["s_load_b32 s0, s[2:3], 0x0", "ds_load_b32 v1, v2"], "s_wait_kmcnt 0x0", "wait scalar load"),
        ("gfx1201", ["image_sample v0, v[0:1], s[0:7], s[8:11]"], "s_wait_samplecnt 0x0", "wait sample"),
        ("gfx1201", ["global_store_b32 v[0:1], v2, off"], "s_wait_idle", "wait store"),
        ("gfx1100", ["global_store_b32 v[0:1], v2, off"], "s_wait_idle", "wait store"),
        ("gfx1250", ["s_load_b32 s0, s[2:3], 0x0"], "s_wait_xcnt 0x0", "wait unresolved"),
        ("gfx1250", ["global_load_async_to_lds_b32 v0, v[2:3], off"], "s_wait_asynccnt 0x0", "wait load to LDS"),
    ],
)
def test_waits_of_other_generations(target: str, producers: list[str], wait: str, name: str) -> None:
    assert waited(producers, wait, target=target) == {name: 100}


def test_own_classes_by_class_then_by_category() -> None:
    texts = [
        "s_nop 7",
        "s_barrier",
        "v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]",
        "v_exp_f32 v0, v1",
        "v_add_f32 v0, v1, v2",
        LOAD,
    ]
    categories = ["IMMED", "IMMED", "VALU", "VALU", "VALU", "FLAT"]
    steps = [(row, category, 100 * row, row + 1, 50) for row, category in enumerate(categories)]
    steps.append((-1, "SALU", 800, 9, 50))
    assert shares(small_trace(texts, steps)) == {
        "SALU issue": 9,
        "FLAT issue": 6,
        "VALU issue": 5,
        "transcendental issue": 4,
        "matrix dependency": 3,
        "barrier": 2,
        "s_nop": 1,
    }


def test_shares_rows_and_idle_add_up() -> None:
    steps = [
        (0, "VMEM", 20, 0, 4),
        (1, "IMMED", 24, 100, 100),
        (2, "JUMP", 124, 0, 4),
        (0, "VMEM", 160, 4, 8),
        (2, "NEXT", 200, 0, 4),
    ]
    trace = small_trace([LOAD, "s_waitcnt vmcnt(0)", "s_cbranch_scc0 4"], steps)
    answer = stalls(trace)
    assert answer.stall_cycles_total == 104
    assert answer.classes["stall_share"].sum() == pytest.approx(1)
    assert answer.classes.row(0, named=True)["top_row"] == 1
    assert dict(answer.idle.select("part", "idle_cycles_total").iter_rows()) == {
        "start-up": 20,
        "cold instruction fetch": 0,
        "instruction fetch": 32,  # after a taken branch
        "dependency gap": 32,
        "store drain": 0,
    }
    assert (answer.wait_count, answer.unresolved_wait_count) == (1, 0)
    only = stalls(trace, rows=pl.Series([0], dtype=pl.Int32))
    assert only.stall_cycles_total == 4
    assert only.classes["class"].to_list() == ["VMEM issue"]


def test_a_stretch_of_time_knows_the_producers_before_it() -> None:
    steps = [(0, "VMEM", 0, 0, 4), (1, "IMMED", 100, 100, 100), (0, "VMEM", 300, 0, 4), (1, "IMMED", 400, 60, 60)]
    trace = small_trace([LOAD, "s_waitcnt vmcnt(0)"], steps)
    late = select(trace, Selection(start_cycles=50, end_cycles=300))
    assert shares(late) == {"wait vector load": 100}
    assert resolve(late).edges["count"].to_list() == [1]
    assert shares(select(late, Selection(start_cycles=50, end_cycles=150))) == {"wait vector load": 100}


def test_nothing_gives_empty_tables() -> None:
    answer = stalls(ThreadTrace({}, TraceSource(path="nothing")))
    assert answer.classes.height == answer.by_row.height == 0
    assert answer.stall_cycles_total == answer.idle_cycles_total == 0
    for field, spec in answer.tables.items():
        assert getattr(answer, field).columns == [column.name for column in spec.columns]


def test_every_class_that_counts_is_a_producer() -> None:
    for family in FAMILIES:
        table = _table(family)
        assert {*table.ordered, *table.unordered} <= set(PRODUCER_OF_CLASS)


def test_names_are_declared_once() -> None:
    for name, declared in CLASSES.items():
        assert stall_class(name) is declared
        assert declared.kind in ("wait", "issue", "busy", "padding", "sync")
        assert declared.meaning
    assert stall_class("wait LDS + vector load").name == "wait LDS + vector load"
    assert stall_class("wait LDS + LDS").name == "wait LDS"
    with pytest.raises(KeyError):
        stall_class("LDS")
