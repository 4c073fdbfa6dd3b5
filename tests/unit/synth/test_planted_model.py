"""The machine model behind planted causes: its arithmetic by hand, and that traces say what it did."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import wavewright
from synth.isa import Kind
from synth.planted import MACHINES, Pair, plant, write_decoded, write_raw
from synth.planted.execution import Execution, Launch, execute
from synth.planted.program import Assembler, Program
from synth.planted.units import Conditions, Queue, bytes_per_lane

MI300X = MACHINES["gfx942"]


def kernel(*texts: str) -> Program:
    return Assembler("gfx942").add(*texts, "s_endpgm").build("by_hand")


def run(program: Program, workgroups: int = 10, waves: int = 4, slots: int = 1, **conditions: int | bool) -> Execution:
    return execute(MI300X, Launch(program, workgroups, waves, slots, Conditions(jitter_cycles=0, **conditions)))  # type: ignore[arg-type]


def issues(execution: Execution, wave: int = 0) -> list[tuple[int, int]]:
    """(ready, issue) of a wave's steps, from its start."""
    chosen = execution.traced_waves[wave]
    return [(ready - chosen.begin, issue - chosen.begin) for _, ready, issue, _ in chosen.steps]


def test_vector_instructions_follow_each_other_every_four_cycles() -> None:
    execution = run(kernel(*["v_add_f32_e32 v1, v2, v3"] * 3))
    assert issues(execution) == [(32, 32), (36, 36), (40, 40), (44, 44)]
    assert execution.traced_waves[0].end - execution.traced_waves[0].begin == 44 + MI300X.end_cycles


def test_two_waves_share_the_vector_pipe() -> None:
    execution = run(kernel(*["v_add_f32_e32 v1, v2, v3"] * 50), workgroups=20, slots=2)
    assert execution.pipe_use_share(Kind.VALU) > 0.7
    assert execution.traced_cycles > 2 * 50 * 4


def test_matrix_instructions_occupy_their_pipe_for_their_passes() -> None:
    execution = run(kernel(*["v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"] * 3))
    assert [issue for _, issue in issues(execution)[:3]] == [32, 64, 96]


def test_a_load_takes_address_unit_memory_and_latency() -> None:
    execution = run(kernel("global_load_dword v1, v[2:3], off", "s_waitcnt vmcnt(0)"), waves=1)
    ready, over = issues(execution)[1]
    served = 16 + 256 / MI300X.memory_bytes_per_cycle
    assert (ready, over) == (36, -(-int(32 + served + 1 + 500) // 4) * 4)


def test_stores_hold_the_wave_until_they_are_done() -> None:
    execution = run(kernel("global_store_dword v[2:3], v1, off"), waves=1, store_latency_cycles=1000)
    ready, drained = issues(execution)[-1]
    assert ready == 36
    assert drained > 1032


def test_a_line_of_code_is_fetched_once() -> None:
    execution = run(kernel(*["s_mov_b32 s0, s1"] * 20), cold_code=True)
    gaps = [ready for ready, _ in issues(execution)]
    assert gaps[0] == 32  # the launch brings the first line
    assert gaps[16] - gaps[15] == 504
    assert sum(b - a > 4 for a, b in pairwise(gaps)) == 1


def test_a_barrier_lets_nobody_pass_before_the_last() -> None:
    code = Assembler("gfx942").branch("meet", lambda _workgroup, wave, _count: wave != 2)
    code.add(*["v_add_f32_e32 v1, v2, v3"] * 100).label("meet").add("s_barrier", "s_endpgm")
    execution = run(code.build("uneven"))
    releases = {wave.steps[-2][3] for wave in execution.traced_waves}
    last = max(wave.steps[-2][1] for wave in execution.traced_waves)
    assert releases == {last + MI300X.barrier_cycles}


def test_a_full_queue_stalls_the_next_instruction() -> None:
    queue = Queue(2)
    for complete in (100, 50):
        assert queue.free_from(10) == 10
        queue.enter(complete)
    assert queue.free_from(10) == 50


@pytest.mark.parametrize(
    ("text", "size"), [("global_load_ushort v0", 2), ("ds_read_b128 v[0:3]", 16), ("buffer_load_dword v0", 4)]
)
def test_bytes_per_lane(text: str, size: int) -> None:
    assert bytes_per_lane(text) == size


def test_a_stream_reaches_the_rate_of_the_memory() -> None:
    # what copies reach on an MI300X, with its ramp and drain (facts/gpus)
    assert plant("bandwidth", "gfx942", "small").planted.memory_peak_share == pytest.approx(0.797, abs=0.01)


@cache
def planted(cause: str, target: str) -> Pair:
    return plant(cause, target, "small")


@pytest.mark.first_case
@pytest.mark.parametrize("target", list(MACHINES))
@pytest.mark.parametrize("cause", ["store drain", "barrier imbalance", "LDS conflicts"])
def test_traces_say_what_the_model_did(cause: str, target: str, tmp_path: Path) -> None:
    execution = planted(cause, target).planted
    waves = execution.traced_waves
    raw = wavewright.decode(write_raw(execution, tmp_path / "raw"))
    decoded = wavewright.open(write_decoded(execution, tmp_path / "decoded"))
    assert raw.waves.height == decoded.waves.height == len(waves)
    assert decoded.instructions.height == execution.instruction_count
    assert raw.source.target == decoded.source.target == target
    quantum = execution.machine.quantum_cycles
    for trace in (raw, decoded):
        span = int(trace.waves["end_cycles"].max() - trace.waves["start_cycles"].min())  # type: ignore[operator]
        assert 0 <= span - execution.traced_cycles <= quantum
        assert trace.occupancy.height == 2 * sum(map(len, execution.waves.values()))


def test_equal_seeds_give_equal_runs() -> None:
    one, two = (plant("load latency", "gfx942", "small") for _ in range(2))
    assert [wave.steps for wave in one.planted.traced_waves] == [wave.steps for wave in two.planted.traced_waves]
