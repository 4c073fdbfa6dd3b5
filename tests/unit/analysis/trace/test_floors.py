"""Floors of made traces, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from tests.kit.made_traces import made
from tests.kit.ui_directories import frame
from wavewright import ThreadTrace
from wavewright.analysis.trace.diagnose import Diagnosis, diagnose
from wavewright.analysis.trace.floors import Floors, floors, floors_without
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.facts.lanes import lane_rules
from wavewright.words.trace.diagnose import floor_lines
from wavewright.words.trace.lane_access.floors import floor_sentences

SMEM, SALU, VMEM, LDS, VALU, JUMP, WAIT = 1, 2, 3, 5, 6, 7, 9
TEXTS = [
    "v_mbcnt_lo_u32_b32 v0, -1, 0",
    "v_mbcnt_hi_u32_b32 v0, -1, v0",
    "v_lshlrev_b32_e32 v1, 7, v0",  # 32 dwords from lane to lane: all lanes in one bank
    "ds_read_b32 v2, v1",
    "s_waitcnt lgkmcnt(0)",
    "v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]",
    "s_add_u32 s0, s0, 1",
    "v_exp_f32_e32 v3, v2",
]
BANK_CONFLICTS = 62  # 31 further dwords in the bank of each half of the lanes
PHASES = 2


def trace_of(waves: list[dict[str, Any]], target: str = "gfx942", texts: list[str] | None = None) -> ThreadTrace:
    texts = texts or TEXTS
    code = {"row": list(range(len(texts))), "text": texts, "address": [8 * row for row in range(len(texts))]}
    generation = 9 if target.startswith("gfx9") else 11
    engines = frame("shader_engines", {"se": [0, 1]}, gfxip=generation)
    trace = made(waves, code=frame("code", code, code_object=7, size=8), shader_engines=engines)
    return ThreadTrace(dict(trace.tables), replace(trace.source, target=target))


def wave(rows: list[tuple[int, int]], *, begin: int = 0, step: int = 40, **place: int) -> dict[str, Any]:
    """A wave that issues an instruction (category, row) every `step` cycles, each for 4."""
    tokens = [(begin + step * at, 0, 4, category, row) for at, (category, row) in enumerate(rows)]
    return {"begin": begin, "end": tokens[-1][0] + 4, "instructions": tokens, **place}


def of_pipes(answer: Floors) -> dict[str, int | None]:
    return dict(answer.pipes.select("pipe", "floor_cycles_total").iter_rows())


ADDRESSES = [(VALU, 0), (VALU, 1), (VALU, 2)]


def test_pipes_of_the_busiest_simd() -> None:
    """SIMD 0 has two waves: 2 x (3 VALU, 1 scalar, 1 matrix); SIMD 1 has one scalar instruction."""
    rows = [*ADDRESSES, (SALU, 6), (VALU, 5), (WAIT, 4)]
    answer = floors(trace_of([wave(rows), wave(rows), wave([(SALU, 6)], simd=1)]))
    # VALU: 6 x 4 cycles, of two waves at once; MATRIX: 2 x 32; issue: 5 instructions x 4, without the wait
    assert of_pipes(answer) == {"issue": 20, "VALU": 12, "MATRIX": 64, "SCALAR": 8}
    assert (answer.span_cycles_total, answer.cu_count, answer.wave_count) == (204, 1, 3)
    assert answer.largest is not None
    assert answer.next is not None
    assert (answer.largest.pipe, answer.largest.share, answer.next.pipe) == ("MATRIX", 64 / 204, "issue")
    assert answer.speedup_max == 204 / 64


def test_one_wave_at_a_time_before_mi300() -> None:
    answer = floors(trace_of([wave(ADDRESSES), wave([*ADDRESSES, (VALU, 7)])], target="gfx90a"))
    assert of_pipes(answer) == {"issue": 16, "VALU": 6 * 4 + 16}  # transcendental: a quarter of the rate


def test_rdna_counts_one_cycle_and_no_scalar_loads() -> None:
    texts = ["v_exp_f32_e32 v3, v2", "s_load_b32 s2, s[0:1], 0x0", "s_add_u32 s0, s0, 1"]
    answer = floors(trace_of([wave([(VALU, 0), (SMEM, 1), (SALU, 2)])], target="gfx1100", texts=texts))
    assert of_pipes(answer) == {"issue": 3, "VALU": 1, "SCALAR": 1}


def test_lds_with_conflicts_and_without() -> None:
    """Two waves; each access takes 2 phases and loses 62 cycles. Without these the issue of a wave is the floor."""
    rows = [*ADDRESSES, (LDS, 3), (WAIT, 4)]
    answer = floors(trace_of([wave(rows), wave(rows, simd=1)]))
    busy = 2 * (PHASES + BANK_CONFLICTS)
    assert of_pipes(answer) == {"issue": 16, "VALU": 6, "LDS issue": 4, "LDS": busy}
    assert answer.pipes.filter(pipe="LDS")["confidence"].to_list() == ["counter-proven"]
    change = answer.changes.row(0, named=True)
    assert (change["row"], change["cycles_total"], change["saved_cycles_total"]) == (3, busy, 2 * BANK_CONFLICTS)
    assert (change["next_pipe"], change["next_floor_cycles_total"]) == ("issue", 16)
    assert change["speedup_max"] == pytest.approx(164 / 16)
    assert answer.best is not None
    assert (answer.best.pipe, answer.best.cycles) == ("issue", 16)
    sentences = floor_sentences(answer)
    assert f"cannot be faster than {busy} cycles (LDS: 78 % of the span); the next floor is 16 cycles" in sentences[0]
    assert sentences[0].endswith("no reordering gains more than 1.28 times")
    assert sentences[1].endswith("at most 10.25 times faster")


def test_what_is_not_known_is_not_counted() -> None:
    """The address of row 4 comes from memory."""
    texts = [*TEXTS[:4], "ds_read_b32 v5, v2"]
    answer = floors(trace_of([wave([*ADDRESSES, (LDS, 3), (LDS, 4)])], texts=texts))
    lds = answer.pipes.filter(pipe="LDS").row(0, named=True)
    assert (lds["execution_count"], lds["counted_count"], lds["floor_cycles_total"]) == (2, 1, PHASES + BANK_CONFLICTS)
    assert "over the known accesses" in floor_sentences(answer)[0]
    unknown = floors(trace_of([wave([(LDS, 0)])], texts=["ds_read_b32 v5, v2"]))
    assert of_pipes(unknown)["LDS"] is None


def test_segments_of_the_l1_cache() -> None:
    """Lanes 128 bytes apart: 64 segments instead of 4, at one access per cycle, or at two by other rules."""
    texts = [*TEXTS[:3], "global_load_dword v4, v1, s[2:3]"]
    trace = trace_of([wave([*ADDRESSES, (VMEM, 3)])], texts=texts)
    # s[2:3] is an unknown pointer: its alignment must be said
    answer = floors(trace)
    assert of_pipes(answer)["L1"] is None
    rules = lane_rules()
    fast = replace(rules.coalescing["gfx942"], accesses_per_cycle=2.0)
    assert rules.coalescing["gfx942"].accesses_per_cycle == 1
    quicker = replace(rules, coalescing=rules.coalescing | {"gfx942": fast})
    scratch = [*TEXTS[:3], "v_mov_b32_e32 v2, 0", "global_load_dword v4, v[1:2], off"]
    known = trace_of([wave([*ADDRESSES, (VALU, 3), (VMEM, 4)])], texts=scratch)
    assert of_pipes(floors(known))["L1"] == 64
    assert floors(known).changes.select("change", "saved_cycles_total").rows() == [("coalesced", 60)]
    assert of_pipes(floors(known, LaneOptions(rules=quicker)))["L1"] == 32
    assert floors(known).pipes.filter(pipe="L1")["confidence"].to_list() == ["hypothesis"]


def test_a_floor_above_the_span_is_refused() -> None:
    """Two accesses of 64 cycles in 100 cycles: the rule cannot be right here."""
    rows = [*ADDRESSES, (LDS, 3)]
    answer = floors(trace_of([wave(rows, step=32), wave(rows, step=32)]))
    assert of_pipes(answer)["LDS"] is None
    assert answer.largest is not None
    assert answer.largest.pipe == "issue"
    assert any("faster than the floor of LDS" in note for note in answer.notes)
    assert not answer.changes.height


def test_cus_are_added_up() -> None:
    """Two engines; waves of a CU share its LDS. Where one CU is faster than its floor, the rate is wrong for all."""
    rows = [*ADDRESSES, (LDS, 3)]
    answer = floors(trace_of([wave(rows), wave(rows, simd=1), wave(rows, se=1)]))
    assert answer.by_cu.filter(pipe="LDS").select("se", "wave_count", "span_cycles", "floor_cycles_total").rows() == [
        (0, 2, 124, None),
        (1, 1, 124, 64),
    ]
    assert of_pipes(answer)["LDS"] is None
    slow = floors(trace_of([wave(rows, step=80), wave(rows, simd=1, step=80), wave(rows, se=1, step=80)]))
    assert slow.by_cu.filter(pipe="LDS")["floor_cycles_total"].to_list() == [128, 64]
    assert (of_pipes(slow)["LDS"], slow.span_cycles_total) == (192, 2 * 244)


def test_cus_that_are_not_evaluated_make_it_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wavewright.analysis.trace.floors.lane_pipes._MOST_UNITS", 1)
    rows = [*ADDRESSES, (LDS, 3)]
    answer = floors(trace_of([wave(rows, step=80), wave(rows, se=1, step=60)]))
    lds = answer.pipes.filter(pipe="LDS").row(0, named=True)
    assert (lds["execution_count"], lds["counted_count"], lds["floor_cycles_total"]) == (2, 1, 64)
    assert "lanes of 1 of 2 CUs" in answer.notes[0]


def test_left_out_waves_do_not_count() -> None:
    rows = [*ADDRESSES, (LDS, 3)]
    trace = trace_of([wave(rows, step=80), wave(rows, step=80), wave([(SALU, 6)], begin=4000)])
    assert floors(trace).span_cycles_total == 4004
    some = floors(trace, left_out=(1, 2))
    assert (some.span_cycles_total, of_pipes(some)["LDS"]) == (244, 64)


def test_without_a_target_only_simds_have_floors() -> None:
    trace = trace_of([wave([*ADDRESSES, (LDS, 3)])])
    answer = floors(ThreadTrace(dict(trace.tables), replace(trace.source, target=None)))
    assert "LDS" not in of_pipes(answer)
    assert "GPU" in answer.notes[0]
    empty = floors(made([]))
    assert (empty.largest, floor_sentences(empty)) == (None, [])


def waiting_trace(shift: int, *, wait: int, passes: int = 8) -> ThreadTrace:
    """One wave that reads LDS with a stride of 2^shift bytes and waits for it, some times in straight code."""
    texts = [
        *TEXTS[:2],
        f"v_lshlrev_b32_e32 v1, {shift}, v0",
        *(["ds_read_b32 v2, v1", "s_waitcnt lgkmcnt(0)"] * passes),
    ]
    tokens: list[tuple[int, int, int, int, int]] = [(4 * at, 0, 4, VALU, at) for at in range(3)]
    waits = []
    for _ in range(passes):
        time, row = tokens[-1][0] + tokens[-1][2], len(tokens)
        waits.append((row + 1, row, "lgkmcnt"))
        tokens += [(time, 0, 4, LDS, row), (time + 4, wait, wait + 4, WAIT, row + 1)]
    end = tokens[-1][0] + tokens[-1][2]
    record = {"begin": 0, "end": end, "instructions": tokens, "waits": waits, "states": [(2, end)]}
    return trace_of([record], texts=texts)


READS = tuple(range(3, 19, 2))  # rows


def lds_finding(answer: Diagnosis) -> Any:
    return next(finding for finding in answer.findings if finding.name == "wait LDS")


def test_conflicts_that_explain_a_wait_are_its_cause() -> None:
    finding = lds_finding(diagnose(waiting_trace(7, wait=120)))
    (cause,) = finding.lane_causes
    assert (cause.verdict, cause.rows, cause.saved_cycles_total) == ("cause", READS, 8 * BANK_CONFLICTS)
    assert finding.verdict.endswith("because of bank conflicts")
    assert "row 3 (ds_read_b32) loses 62 LDS cycles per execution" in finding.reason
    assert finding.remedies[0].rows == READS
    assert "swizzle" in finding.remedy


def test_conflicts_too_small_for_a_wait_are_harmless() -> None:
    """Stride of two dwords: two lanes in each bank, 1 lost cycle in each half, of a wait of 1200."""
    finding = lds_finding(diagnose(waiting_trace(3, wait=1200)))
    (cause,) = finding.lane_causes
    assert cause.verdict == "harmless"
    assert cause.saved_cycles_total == 8 * 2
    assert "because" not in finding.verdict
    assert "harmless" in finding.reason
    assert not any("banks" in remedy.name for remedy in finding.remedies)


def test_no_conflict_is_said() -> None:
    finding = lds_finding(diagnose(waiting_trace(2, wait=300)))
    assert finding.lane_causes[0].verdict == "harmless"
    assert "none of the 8 LDS accesses has any" in finding.reason


def test_gains_stay_within_the_floors() -> None:
    """LDS needs 8 x 64 of 652 cycles: the wait for it may gain its conflicts, nothing else more than the rest."""
    answer = diagnose(waiting_trace(7, wait=72))
    assert answer.floors is not None
    assert answer.floors.largest is not None
    assert answer.floors.largest.cycles == 8 * 64
    after = floors_without(answer.floors, {"LDS": 8 * BANK_CONFLICTS})
    assert after is not None
    for finding in answer.findings:
        floor = after if finding.name == "wait LDS" else answer.floors.largest
        assert finding.gain_share_max <= 1 - floor.share + 1e-9
        assert all(cause.gain_share_max <= 1 - floor.share + 1e-9 for cause in finding.causes)
    assert lds_finding(answer).gain_share_max > 1 - answer.floors.largest.share
    (first, second) = floor_lines(answer)
    assert "no reordering gains more than" in first
    assert "no bank conflict" in second


def test_low_floors_are_not_mentioned() -> None:
    assert floor_lines(diagnose(waiting_trace(2, wait=300))) == []


def test_large_traces_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wavewright.analysis.trace.diagnose.floor_limits._MOST_INSTRUCTIONS_OF_LANES", 4)
    answer = diagnose(waiting_trace(7, wait=120))
    assert answer.floors is not None
    assert "LDS" not in of_pipes(answer.floors)
    assert lds_finding(answer).lane_causes == ()
    monkeypatch.setattr("wavewright.analysis.trace.diagnose.floor_limits._MOST_INSTRUCTIONS", 4)
    assert diagnose(waiting_trace(7, wait=120)).floors is None


def test_tables_are_as_declared() -> None:
    answer = floors(trace_of([wave([*ADDRESSES, (LDS, 3)])]))
    for name, spec in Floors.tables.items():
        table: pl.DataFrame = getattr(answer, name)
        assert dict(table.schema) == spec.dtypes
