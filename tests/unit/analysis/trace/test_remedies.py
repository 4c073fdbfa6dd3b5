"""Remedies fit the code: nothing that is done already, nothing that the GPU cannot do."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from tests.kit.together import together
from wavewright.analysis.trace.diagnose.facts import Producer, RowView
from wavewright.analysis.trace.diagnose.remedies import remedies_for
from wavewright.analysis.trace.diagnose.row_code import CodeFacts, RowCode, is_narrow_load
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import with_operands
from wavewright.model.schema import THREAD_TRACE, empty_frame
from wavewright.model.trace import ThreadTrace, TraceSource

WAIT = RowView(
    row=50, stall_class="wait vector load", text="s_waitcnt vmcnt(3)", file=None, line=None, address=0,
    execution_count=10, stall_cycles_total=5000, exposed_cycles_total=5000, in_loop=False, loop_has_matrix=False,
    loop_has_wide_loads=False, matrix_between=0, producers=(), code=RowCode(access_bytes=(16,), waves_per_simd_max=4),
)  # fmt: skip


def producer(row: int, text: str, instructions: float = 8.0) -> Producer:
    return Producer(row, text, "vmem_load", "vmcnt", 10, 100.0, instructions, 50.0)


def told(view: RowView) -> tuple[str, str]:
    (remedy,) = remedies_for([view])
    return remedy.name, remedy.text


def test_loads_that_start_at_once_are_not_to_start_first() -> None:
    assert told(WAIT)[0] == "start the loads first"
    assert told(replace(WAIT, code=replace(WAIT.code, is_first=True)))[0] == "give each wave more work"


def test_an_unrolled_loop_is_prefetched_deeper() -> None:
    name, text = told(replace(WAIT, code=replace(WAIT.code, is_unrolled=True)))
    assert name == "prefetch deeper"
    assert "unrolled" in text


def test_a_loop_that_prefetches_already_prefetches_deeper() -> None:
    load = "global_load_dwordx4 v[0:3], v4, s[0:1]"
    assert told(replace(WAIT, in_loop=True, producers=(producer(40, load),)))[0] == "prefetch the next tile"
    name, text = told(replace(WAIT, in_loop=True, producers=(producer(60, load),)))
    assert (name, "two iterations" in text) == ("prefetch deeper", True)


def test_narrow_loads_have_their_width_and_no_purpose() -> None:
    loads = (producer(40, "global_load_ushort v1, v2, s[0:1]"),)
    view = replace(WAIT, in_loop=True, loop_has_wide_loads=True, producers=loads, code=RowCode(access_bytes=(2,)))
    name, text = told(view)
    assert name == "move the narrow loads up"
    assert "2-byte loads" in text
    assert "scale" not in text


@pytest.mark.parametrize(("waves", "expected"), [(0, False), (1, True), (2, False)])
def test_more_waves_where_there_is_one(waves: int, expected: bool) -> None:
    view = replace(WAIT, code=replace(WAIT.code, waves_per_simd_max=waves))
    assert ("more than one wave" in told(view)[1]) is expected
    issue = replace(view, stall_class="VMEM issue", text="buffer_load_dword v1, v2, s[0:3], 0")
    assert "more than one wave" not in told(issue)[1]


@pytest.mark.parametrize("pipe", ["VMEM issue", "FLAT issue"])
def test_wide_accesses_are_not_to_be_wider(pipe: str) -> None:
    name, text = told(replace(WAIT, stall_class=pipe, code=RowCode(access_bytes=(16,))))
    assert (name, text.split()[0]) == ("spread the accesses", "dwordx4")
    assert "wider" not in text
    narrow = told(replace(WAIT, stall_class=pipe, code=RowCode(access_bytes=(2,))))[1]
    assert narrow.startswith("2-byte accesses")
    assert "wider accesses alone can move the stall" in narrow


def test_arguments_are_preloaded_only_where_the_gpu_can() -> None:
    scalar = replace(WAIT, stall_class="wait scalar load", text="s_waitcnt lgkmcnt(0)")
    assert "preload" not in told(scalar)[1]
    assert "preload" in told(replace(scalar, code=RowCode(can_preload=True)))[1]


@together(
    "hazard, name",
    [
        ("matrix result before v_pk_fma", "fill the padding behind matrix instructions"),
        ("v_cmp writes VCC before v_cndmask", "interleave comparisons and selections"),
        ("VALU result before v_mov, which reads other lanes", "interleave exchanges between lanes"),
        ("s_mov writes M0 before buffer_load", "set M0 earlier"),
        ("not known", "fill the padding"),
    ],
)
def test_padding_by_what_it_separates(hazard: str, name: str) -> None:
    assert told(replace(WAIT, stall_class="s_nop", text="s_nop 1", code=RowCode(hazard=hazard)))[0] == name


def trace_of(texts: list[str], *, target: str = "gfx942", waves: tuple[tuple[int, int], ...] = ()) -> ThreadTrace:
    rows = {"row": list(range(len(texts))), "text": texts, "function": ["kernel"] * len(texts)}
    code = pl.DataFrame(rows, schema={"row": pl.Int64, "text": pl.String, "function": pl.String})
    code = with_operands(classify_frame(code, target), target)
    frame = empty_frame(THREAD_TRACE["waves"])
    rows = {"start_cycles": [wave[0] for wave in waves], "end_cycles": [wave[1] for wave in waves]}
    made = pl.DataFrame(rows, {name: frame.schema[name] for name in rows}).with_columns(se=0, cu=0, simd=0)
    made = made.cast({name: frame.schema[name] for name in ("se", "cu", "simd")})
    tables = {"code": code, "waves": pl.concat([frame, made], how="diagonal")}
    return ThreadTrace(tables, TraceSource("made", target=target))


LOAD, WAITS = "global_load_dwordx4 v[8:11], v[2:3], off", "s_waitcnt vmcnt(0)"


def test_a_load_is_first_when_only_its_address_is_computed_before() -> None:
    address = ["s_load_dwordx2 s[0:1], s[4:5], 0x0", "v_lshlrev_b32_e32 v2, 4, v0", "v_mov_b32_e32 v3, 0"]
    other = [f"v_add_u32_e32 v{number}, v0, v1" for number in range(20, 32)]
    early, late = [*address, LOAD, *other, WAITS], [*address, *other, LOAD, WAITS]
    assert CodeFacts(trace_of(early), []).of_row(len(early) - 1, [3]).is_first
    assert not CodeFacts(trace_of(late), []).of_row(len(late) - 1, [15]).is_first


def test_straight_code_that_repeats_its_loads_is_unrolled() -> None:
    step = [LOAD, "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", WAITS]
    code = step * 4
    assert CodeFacts(trace_of(code), []).of_row(5, [3]).is_unrolled
    assert not CodeFacts(trace_of(code), [(0, len(code) - 1)]).of_row(5, [3]).is_unrolled
    assert not CodeFacts(trace_of(step), []).of_row(2, [0]).is_unrolled


def test_waves_and_target() -> None:
    alone = CodeFacts(trace_of([LOAD], waves=((0, 10), (10, 20))), []).of_row(0)
    assert (alone.waves_per_simd_max, alone.can_preload, alone.access_bytes) == (1, True, (16,))
    assert CodeFacts(trace_of([LOAD], waves=((0, 10), (5, 20))), []).of_row(0).waves_per_simd_max == 2
    for target in ("gfx90a", "gfx1100", "gfx1201"):
        assert not CodeFacts(trace_of([LOAD], target=target), []).of_row(0).can_preload
    assert CodeFacts(trace_of([]), []).of_row(7, [3]) == RowCode(can_preload=True)


@together(
    "text, expected",
    [
        ("global_load_dwordx3 v[0:2], v4, s[0:1]", 12),
        ("global_atomic_add_f32 v0, v1, s[0:1]", None),
        ("buffer_load_short_d16_hi v1, v2, s[0:3], 0", 2),
        ("global_load_d16_b16 v1, v2, s[0:1]", 2),
        ("global_store_b128 v1, v[0:3], s[0:1]", 16),
        ("global_load_lds_dwordx4 v[0:1], off", 16),
        ("flat_load_u8 v1, v[2:3]", 1),
        ("buffer_load_format_xyzw v[0:3], v4, s[0:3], 0", None),
        ("ds_read_b128 v[0:3], v4", None),
        ("v_mov_b32_e32 v1, v2", None),
        ("", None),
    ],
)
def test_accesses_of_a_row(text: str, expected: int | None) -> None:
    assert CodeFacts(trace_of([text]), []).of_row(0).access_bytes == (() if expected is None else (expected,))
    assert is_narrow_load(text) is ("load" in text and expected is not None and expected <= 4)
