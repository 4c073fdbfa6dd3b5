"""Limits that edits of traces must keep: on every trace we have, on null edits, in fits of queues, in time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from synth.planted.decoded_traces import write_decoded
from synth.planted.machine import MI300X
from synth.planted.units import Conditions
from tests.conftest import SHARED
from tests.kit.processor import processor_s
from tests.unit.analysis.code.edits.order_cases import random_order
from tests.unit.analysis.trace.what_if.planted_kernels import ADVANCE, Setting, random_kernel, random_setting, run
from wavewright.analysis.code.edits.block_orders import BlockOrders, LegalOrder
from wavewright.analysis.code.edits.derived_waits import DerivedOrder
from wavewright.analysis.code.edits.kernel_rows import blocks_of
from wavewright.analysis.trace.diagnose.replay import Removal, replay
from wavewright.analysis.trace.waits.wait_checks import rows_of_kernels
from wavewright.analysis.trace.what_if.edit_replay import EditedTrace
from wavewright.readers.opening import open_trace

if TYPE_CHECKING:
    from wavewright.model.trace import ThreadTrace

MI300X_DATA, MI350X_DATA = SHARED / "data/att-mi300x-bmm", SHARED / "data/uiout-mi350x-flydsl"
_NULL_SHARE = 0.003
_NULL_CONTENDED_SHARE = 0.005  #: Where waves meet at the ports of a SIMD, a swap changes whose turn it is.
_DWORD_BYTES = 4 * 64  #: Of a wave.


def _real(capture: str) -> ThreadTrace:
    if not MI300X_DATA.exists():
        pytest.skip("no shared/data")
    return open_trace(next((MI300X_DATA / capture).glob("ui_output_agent_*_dispatch_3")))


def _loop_of(trace: ThreadTrace) -> BlockOrders:
    code = rows_of_kernels(trace)
    assert code is not None
    executed = set(trace.instructions["row"].unique().to_list())
    loops = [each for each in blocks_of(code) if each.is_loop and each.first in executed]
    return BlockOrders(code, max(loops, key=lambda each: len(each.rows)))


@pytest.mark.slow
def test_every_trace_replays_as_recorded() -> None:
    paths = sorted([*MI300X_DATA.glob("c*/ui_output_agent_*"), *MI350X_DATA.glob("**/ui_output_agent_*")])
    if not paths:
        pytest.skip("no shared/data")
    errors = {}
    for path in paths:
        trace = open_trace(path)
        if trace.instructions.height:
            of_modes = EditedTrace(trace).identity_errors()
            errors[f"{path.parent.name}/{path.name}"] = max(abs(of_modes[mode]) for mode in (0, 1, 2, 4, 6))
    assert len(errors) >= 25
    # Of c04's first dispatch the existing replay is 4 cycles of 11,356 off as well.
    assert {name: round(error, 5) for name, error in errors.items() if error > 0.0002} == {
        "c04/ui_output_agent_4375_dispatch_1": 0.00035
    }


def _null_orders(orders: BlockOrders) -> list[LegalOrder]:
    """Neighbours that compute something and do not need each other, swapped; and other names for one register."""
    start = list(range(len(orders.core)))
    swapped = []
    for at, (row, other) in enumerate(zip(orders.core, orders.core[1:], strict=False)):
        if not (row.text.startswith("v_") and other.text.startswith("v_")) or row.is_matrix or other.is_matrix:
            continue
        order = [*start[:at], at + 1, at, *start[at + 2 :]]
        legal = orders.legal(order)
        if isinstance(legal, LegalOrder) and len(legal.rows) == len(orders.written):
            swapped.append(legal)
    same = orders.legal(start)
    assert isinstance(same, LegalOrder)
    renamed = tuple(replace(row, text=row.text.replace("v1", "v2")) for row in same.rows)
    return [*swapped[:6], replace(same, rows=renamed)]


@pytest.mark.first_case
@pytest.mark.parametrize("capture", ["c04", "c06", "c08"])
def test_null_edits_of_real_traces_are_null(capture: str) -> None:
    trace = _real(capture)
    orders, replayed = _loop_of(trace), EditedTrace(trace)
    nulls = _null_orders(orders)
    assert len(nulls) > 3
    for legal in nulls:
        assert abs(replayed.gain(legal, orders.written).about) <= _NULL_SHARE


@pytest.mark.slow
def test_null_edits_of_planted_traces_are_null(tmp_path: Path) -> None:
    rng = Random(8)
    tried = 0
    for number in range(4):
        (folder := tmp_path / str(number)).mkdir()
        trace = open_trace(write_decoded(run(random_kernel(rng), random_setting(rng), number), folder))
        orders, replayed = _loop_of(trace), EditedTrace(trace)
        for legal in _null_orders(orders):
            gain = replayed.gain(legal, orders.written)
            if gain.lacking_sample_count:
                continue  # not timed
            assert gain.low < 0 < gain.high
            assert abs(gain.about) <= _NULL_CONTENDED_SHARE, gain
            tried += 1
    assert tried >= 6


@pytest.mark.parametrize(("first", "other"), [("c04", "c06"), ("c07", "c08")])
def test_captures_of_the_same_code_have_no_edit_between_them(first: str, other: str) -> None:
    """Their spans differ by more than a quarter: the noise of the captures, of which a prediction says nothing."""
    trace = _real(first)
    orders, replayed = _loop_of(trace), EditedTrace(trace)
    assert [row.text for row in orders.written] == [row.text for row in _loop_of(_real(other)).written]
    legal = orders.legal(list(range(len(orders.core))))
    assert isinstance(legal, LegalOrder)
    if first == "c04":
        gain = replayed.gain(legal, orders.written)
        assert (gain.low, gain.about, gain.high) == (0, 0, 0)
    assert abs(replayed.recorded_cycles / EditedTrace(_real(other)).recorded_cycles - 1) > 0.2


@pytest.mark.parametrize("capture", ["c04", pytest.param("c08", marks=pytest.mark.slow)])
def test_no_order_gains_more_than_a_replay_without_the_stalls(capture: str) -> None:
    trace = _real(capture)
    orders, replayed = _loop_of(trace), EditedTrace(trace)
    removal = Removal(replayed.causes, rows=tuple(orders.block.rows))
    bound = replay(trace, [removal]).gain_share(removal)
    for seed in range(12):
        legal = orders.legal(random_order(orders, Random(seed)))
        assert isinstance(legal, LegalOrder)
        assert replayed.gain(legal, orders.written, bound=bound).high <= bound + 1e-12


#: Loads far apart: a queue forms only where two waves meet in it. And loads without anything between them.
GATHER = [
    *(f"global_load_dwordx4 v[{40 + 4 * k}:{43 + 4 * k}], v[2:3], off offset:{16 * k}" for k in range(3)),
    *(f"v_add_f32_e32 v{100 + k % 24}, v20, v21" for k in range(40)),
    "s_waitcnt vmcnt(2)",
    "v_add_f32_e32 v130, v40, v21",
    "s_waitcnt vmcnt(1)",
    "v_add_f32_e32 v131, v44, v21",
    "s_waitcnt vmcnt(0)",
    "v_add_f32_e32 v132, v48, v21",
    ADVANCE,
]
STREAM = [
    *(f"global_load_dwordx4 v[{40 + 4 * k}:{43 + 4 * k}], v[2:3], off offset:{16 * k}" for k in range(8)),
    "s_waitcnt vmcnt(7)",
    "v_add_f32_e32 v130, v40, v21",
    ADVANCE,
]


def _fitted(body: list[str], slots: int, folder: Path) -> tuple[float, float, bool]:
    """Cycles per dword as planted and as fitted, and whether the fit is believed."""
    setting = Setting(Conditions(load_latency_cycles=400, jitter_cycles=24), slots, trips=12)
    trace = open_trace(write_decoded(run(body, setting, 4), folder))
    memory = EditedTrace(trace).queues()[0]
    return _DWORD_BYTES / MI300X.memory_bytes_per_cycle, memory.cycles_per_dword, memory.is_identified


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_the_service_of_memory_is_found_where_waves_queue_for_it(slots: int, tmp_path: Path) -> None:
    planted, fitted, is_identified = _fitted(GATHER, slots, tmp_path)
    assert is_identified
    assert abs(fitted / planted - 1) <= 0.1


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_the_service_of_memory_is_not_identified_under_constant_backlog(slots: int, tmp_path: Path) -> None:
    _, _, is_identified = _fitted(STREAM, slots, tmp_path)
    assert not is_identified


@pytest.mark.slow
def test_a_hundred_orders_of_ten_thousand_instructions() -> None:
    trace = _real("c06")
    orders, replayed = _loop_of(trace), EditedTrace(trace)
    assert 9_000 < replayed.instruction_count < 10_000
    legal = orders.legal(random_order(orders, Random(1)))
    assert isinstance(legal, LegalOrder)
    seconds = processor_s()
    for _ in range(100):
        replayed.gain(legal, orders.written)
    assert processor_s() - seconds < 4  # 2 s on an idle core; the machine of the tests is shared


@pytest.mark.slow
def test_one_edit_of_400_000_instructions() -> None:
    path = next((MI350X_DATA / "softmax").glob("**/ui_output_agent_*"), None)
    if path is None:
        pytest.skip("no shared/data")
    trace = open_trace(path)
    replayed = EditedTrace(trace)
    code = rows_of_kernels(trace)
    assert code is not None
    block = max(blocks_of(code), key=lambda each: len(each.rows))
    orders = BlockOrders(code, block)
    written = tuple(orders.written)
    same = LegalOrder(
        written, DerivedOrder(written, {}, {}, {}), tuple(row.row for row in orders.core), orders.vgprs, 0
    )
    assert replayed.instruction_count > 300_000
    seconds = processor_s()
    replayed.gain(same, orders.written)
    assert processor_s() - seconds < 6  # 3 s on an idle core
