"""The timing model: order, units, waits with producers, barriers, loops, calls, relaunch."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from synth import family_of, tour
from synth.isa import CodeGraph, Kind, code_graph
from synth.timing import BARRIER_CYCLES, Launch, Wave, run
from wavewright.errors import UsageError


def listing(*texts: str) -> bytes:
    return "".join(f"{256 + 4 * row}\t4\t{text}\n" for row, text in enumerate(texts)).encode()


def launch(**changes: object) -> Launch:
    values = {
        "simds": (0,), "slots_per_simd": 8, "workgroups": 1, "waves_per_workgroup": 1, "start": 1000,
        "quantum_cycles": 1, "loop_trips": 3,
    }  # fmt: skip
    return Launch(**(values | changes))  # type: ignore[arg-type]


def timed(texts: tuple[str, ...], family: str = "gfx9", **changes: object) -> list[Wave]:
    return run(code_graph(listing(*texts), family), 256, launch(**changes), Random(1))


def rows(wave: Wave) -> list[int]:
    return [step[0] for step in wave.steps]


def test_a_wait_lasts_until_its_producer_is_complete() -> None:
    (wave,) = timed(("s_load_dword s0, s[0:1], 0x0", "v_nop", "s_waitcnt lgkmcnt(0)", "s_endpgm"))
    load, _, wait, _ = wave.steps
    assert wait[2] >= load[2] + 160
    assert wave.waits == [(2, 0, "lgkmcnt")]


def test_a_wait_with_a_count_leaves_the_youngest_outstanding() -> None:
    loads = ("global_load_dword v0, v1, s[0:1]",) * 3
    texts = (*loads, "s_waitcnt vmcnt(2)", "s_waitcnt vmcnt(0)", "s_endpgm")
    (wave,) = timed(texts)
    assert {(wait, producer) for wait, producer, _ in wave.waits} <= {(3, 0), (4, 1), (4, 2)}
    assert (3, 0, "vmcnt") in wave.waits
    assert wave.steps[4][2] >= wave.steps[3][2]


def test_a_wait_for_nothing_takes_no_time() -> None:
    (wave,) = timed(("s_waitcnt vmcnt(0)", "s_endpgm"))
    assert wave.steps[0][1] == wave.steps[0][2]
    assert wave.waits == []


def test_loops_take_their_trips_each_time_they_are_entered() -> None:
    texts = ("v_nop", "v_nop", "s_cbranch_scc1 65534", "s_cbranch_scc1 65532", "s_endpgm")
    (wave,) = timed(texts, loop_trips=2)
    assert rows(wave).count(0) == 3  # entered once and repeated twice
    assert rows(wave).count(1) == 9
    assert [extra for row, _, _, extra in wave.steps if row == 2] == [1, 1, 0] * 3


def test_an_endless_looking_loop_is_left_by_its_exit() -> None:
    texts = ("s_cbranch_scc1 2", "v_nop", "s_branch 65533", "s_endpgm")
    (wave,) = timed(texts, loop_trips=4)
    assert rows(wave) == [0, 1, 2] * 4 + [0, 3]


def test_a_loop_without_an_exit_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("synth.timing.MAX_STEPS_PER_WAVE", 1000)
    with pytest.raises(UsageError, match="did not reach s_endpgm"):
        timed(("v_nop", "s_branch 65534", "s_endpgm"))


def test_a_walk_off_the_listing_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="leaves the listing behind 'v_nop'"):
        timed(("v_nop",))


def test_data_in_the_way_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="which is no instruction"):
        timed(("v_nop", ".long 0x0", "s_endpgm"))


def test_one_unit_serves_one_wave_at_a_time() -> None:
    waves = timed(("v_exp_f32 v0, v1",) * 20 + ("s_endpgm",), waves_per_workgroup=4, slots_per_simd=4)
    issues = sorted(step[2] for wave in waves for step in wave.steps[:-1])
    assert all(b - a >= 4 for a, b in pairwise(issues))
    assert any(step[2] > step[1] for wave in waves for step in wave.steps)


@pytest.mark.parametrize("quantum", [1, 4])
def test_times_are_whole_quanta_and_in_order(quantum: int) -> None:
    target = "gfx942" if quantum == 4 else "gfx1100"
    code = code_graph(tour(target).listing, family_of(target))
    for wave in run(code, tour(target).entry, launch(quantum_cycles=quantum, waves_per_workgroup=3), Random(3)):
        flat = [time for _, ready, issue, _ in wave.steps for time in (ready, issue)]
        assert flat == sorted(flat)
        assert all(time % quantum == 0 for time in (*flat, wave.begin, wave.end))
        issues = [issue for _, _, issue, _ in wave.steps]
        assert len(set(issues)) == len(issues)


def test_a_barrier_releases_all_waves_after_the_last_arrival() -> None:
    slow = ("s_sleep 9", "s_barrier", "s_endpgm")
    waves = timed(slow, waves_per_workgroup=4)
    arrivals = [wave.steps[1][2] for wave in waves]
    releases = {wave.steps[1][3] for wave in waves}
    assert len(releases) == 1
    assert releases.pop() == max(arrivals) + BARRIER_CYCLES


def test_a_split_barrier_holds_only_the_waiting_half() -> None:
    texts = ("s_barrier_signal -1", "v_nop", "s_barrier_wait 0xffff", "s_endpgm")
    waves = timed(texts, "gfx12", waves_per_workgroup=3)
    last_signal = max(wave.steps[0][2] for wave in waves)
    assert all(wave.steps[2][2] >= last_signal + BARRIER_CYCLES for wave in waves)


def test_waves_that_end_do_not_hold_a_barrier() -> None:
    """With half of the waves leaving early, the rest still gets through."""
    texts = ("s_cbranch_scc1 1", "s_barrier", "s_endpgm")
    waves = timed(texts, waves_per_workgroup=8, taken_share=0.5)
    assert {len(wave.steps) for wave in waves} == {2, 3}
    assert all(wave.end > wave.begin for wave in waves)


def test_calls_return() -> None:
    code = code_graph(tour("gfx942").listing, "gfx9")
    (wave,) = run(code, tour("gfx942").entry, launch(), Random(0))
    walked = [code.rows[row] for row in rows(wave)]
    at = next(i for i, row in enumerate(walked) if row.text.startswith("s_swappc"))
    back = next(i for i, row in enumerate(walked) if row.text.startswith("s_setpc"))
    assert [row.kind for row in walked[at + 1 : back]] == [Kind.TRANSCENDENTAL, Kind.SALU_EXEC, Kind.VALU]
    assert walked[back + 1].address == walked[at].address + 4


def test_a_jump_without_a_known_target_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="cannot be told"):
        timed(("s_setpc_b64 s[0:1]", "s_endpgm"))


def test_workgroups_take_turns_in_the_slots() -> None:
    waves = timed(("v_nop", "s_endpgm"), workgroups=5, waves_per_workgroup=2, slots_per_simd=4)
    assert [wave.workgroup for wave in waves] == [n // 2 for n in range(10)]
    by_slot: dict[int, list[Wave]] = {}
    for wave in waves:
        by_slot.setdefault(wave.slot, []).append(wave)
    for users in by_slot.values():
        assert all(b.begin > a.end for a, b in pairwise(users))


def test_too_many_waves_are_a_usage_error() -> None:
    with pytest.raises(UsageError, match="do not fit"):
        timed(("s_endpgm",), waves_per_workgroup=9)


def test_code_graph_is_shared_not_changed() -> None:
    code: CodeGraph = code_graph(tour("gfx1201").listing, "gfx12")
    before = code.rows
    run(code, tour("gfx1201").entry, launch(), Random(0))
    assert code.rows is before
