"""Kernels of the machine model, edited by the tool and run again: true gains for replays."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from synth.planted.decoded_traces import write_decoded
from synth.planted.execution import Launch, execute
from synth.planted.machine import MI300X
from synth.planted.program import Assembler
from synth.planted.units import Conditions
from wavewright.analysis.code.edits.ahead import issued_ahead
from wavewright.analysis.code.edits.block_orders import BlockOrders, LegalOrder
from wavewright.analysis.code.edits.dependences import Assumptions, moved_down, moved_up
from wavewright.analysis.code.edits.kernel_rows import blocks_of
from wavewright.analysis.code.edits.wider_loads import widened
from wavewright.analysis.trace.waits.wait_checks import rows_of_kernels
from wavewright.analysis.trace.what_if.edit_language import places_of
from wavewright.analysis.trace.what_if.edit_replay import EditedTrace
from wavewright.readers.opening import open_trace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

    from synth.planted.execution import Execution
    from synth.planted.machine import Machine
    from wavewright.analysis.trace.what_if.edit_replay import GainInterval

BEGIN = ("s_load_dwordx4 s[4:7], s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "v_lshl_add_u64 v[2:3], v[2:3], 0, s[4:5]")
ADVANCE = "v_lshl_add_u64 v[2:3], v[2:3], 0, s[8:9]"


@dataclass(frozen=True)
class Setting:
    """What a kernel runs on."""

    conditions: Conditions
    slots: int
    trips: int
    rounds: int = 1
    machine: Machine = MI300X


class Pair(NamedTuple):
    """One edit: what was predicted, and what is true."""

    kernel: str
    edit: str
    gain: GainInterval
    true_gain: float
    is_bound_only: bool = False  #: It puts more in flight than the trace tells about: only the upper end is said.

    @property
    def is_inside(self) -> bool:
        """Whether the truth lies in the interval, which has the model's error of one point already."""
        is_low = self.is_bound_only or self.gain.low - 1e-9 <= self.true_gain
        return is_low and self.true_gain <= self.gain.high + 1e-9

    @property
    def is_claimed(self) -> bool:
        """Whether the tool calls it a certain gain."""
        return self.gain.is_certain and not self.is_bound_only


def random_kernel(rng: Random) -> list[str]:
    """The body of a loop: loads, LDS reads, arithmetic, waits in places that a person would choose."""
    body: list[str] = []
    free = 40
    waiting: list[tuple[str, int]] = []

    def work(count: int) -> None:
        body.extend(f"v_add_f32_e32 v{100 + number % 24}, v20, v21" for number in range(count))

    for _ in range(rng.randrange(1, 4)):
        work(rng.randrange(4, 40))
        for _ in range(rng.randrange(1, 4)):
            kind = rng.choice(("memory", "memory", "LDS"))
            wide = rng.choice((1, 4))
            to = f"v[{free}:{free + 3}]" if wide == 4 else f"v{free}"
            if kind == "memory":
                body.append(
                    f"global_load_dword{'x4' if wide == 4 else ''} {to}, v[2:3], off offset:{16 * len(waiting)}"
                )
            else:
                body.append(f"ds_read_b{32 * wide} {to}, v1 offset:{16 * len(waiting)}")
            waiting.append((kind, free))
            free += 4
        work(rng.randrange(0, 16))
        if rng.random() < 0.3:
            body += [f"v_mfma_f32_32x32x8_f16 a[{16 * k}:{16 * k + 15}], v[8:9], v[10:11], a[{16 * k}:{16 * k + 15}]"
                     for k in range(rng.randrange(1, 4))]  # fmt: skip
        body.append("s_waitcnt vmcnt(0) lgkmcnt(0)" if rng.random() < 0.2 else _exact_wait(waiting))
        body += [f"v_add_f32_e32 v{register + 90}, v{register}, v21" for _, register in waiting]
        waiting = []
    work(rng.randrange(0, 24))
    return [*body, ADVANCE]


def _exact_wait(waiting: list[tuple[str, int]]) -> str:
    counters = {"vmcnt" if kind == "memory" else "lgkmcnt" for kind, _ in waiting}
    return "s_waitcnt " + " ".join(f"{counter}(0)" for counter in sorted(counters, reverse=True))


def random_setting(rng: Random) -> Setting:
    """Latencies, jitter, waves and bandwidth."""
    machine = replace(MI300X, memory_efficiency=rng.choice((0.5, 0.85, 2.0)))
    conditions = Conditions(
        load_latency_cycles=rng.randrange(350, 1200),
        jitter_cycles=rng.randrange(20, 160),
        lds_conflicts=rng.choice((1, 1, 2)),
    )
    return Setting(conditions, rng.randrange(1, 4), rng.randrange(8, 13), rng.randrange(1, 3), machine)


def adjacent_loads(rng: Random) -> list[str]:
    """The body of a loop with loads of neighbouring dwords, which one load could do."""
    count = rng.choice((2, 4))
    body = [f"v_add_f32_e32 v{100 + number % 24}, v20, v21" for number in range(rng.randrange(0, 20))]
    body += [f"global_load_dword v{40 + k}, v[2:3], off offset:{4 * k}" for k in range(count)]
    body += [f"v_add_f32_e32 v{100 + number % 24}, v20, v21" for number in range(rng.randrange(0, 40))]
    body += ["s_waitcnt vmcnt(0)", *(f"v_add_f32_e32 v{130 + k}, v{40 + k}, v21" for k in range(count))]
    return [*body, *(f"v_add_f32_e32 v{100 + k % 24}, v20, v21" for k in range(rng.randrange(0, 24))), ADVANCE]


def run(
    body: list[str], setting: Setting, seed: int, *, around: tuple[list[str], list[str]] = ([], []), more_slots: int = 0
) -> Execution:
    """Run a loop, with rows before and behind it; with room for more workgroups."""
    code = Assembler("gfx942").add(*BEGIN, *around[0]).label("loop").add(*body)
    code.loop("loop", setting.trips)
    program = code.add(*around[1], "global_store_dword v[4:5], v130, off", "s_endpgm").build("k")
    workgroups = setting.machine.cus * setting.slots * setting.rounds
    launch = Launch(program, workgroups, 4, setting.slots + more_slots, setting.conditions)
    return execute(setting.machine, launch, seed)


def pairs_of(name: str, body: list[str], setting: Setting, folder: Path, seed: int) -> Iterator[Pair]:
    """Edits of one kernel, predicted from its trace and run."""
    first = run(body, setting, seed)
    trace = open_trace(write_decoded(first, folder))
    code = rows_of_kernels(trace)
    assert code is not None
    block = next(each for each in blocks_of(code) if each.is_loop)
    orders = BlockOrders(code, block)
    replayed = EditedTrace(trace)
    for edit, legal in _edits(orders):
        assert isinstance(legal, LegalOrder), (edit, legal)
        texts = [row.text for row in legal.rows]
        gain = replayed.gain(legal, orders.written)
        if texts == [row.text for row in orders.written] or gain.lacking_sample_count:
            continue
        around = ([row.text for row in legal.prologue], [row.text for row in legal.epilogue])
        again = run([row.text for row in legal.rows if not row.is_control], setting, seed, around=around)
        is_bound_only = bool(legal.prologue) and not replayed.is_memory_identified
        yield Pair(name, edit, gain, 1 - again.traced_cycles / first.traced_cycles, is_bound_only)
    if setting.rounds > 1:
        again = run(body, setting, seed, more_slots=1)
        gain = replayed.gain_of_waves(1)
        true_gain = 1 - again.traced_cycles / first.traced_cycles
        yield Pair(name, "waves +1", gain, true_gain, not replayed.is_memory_identified)


def _edits(orders: BlockOrders) -> Iterator[tuple[str, object]]:
    start = list(range(len(orders.core)))
    deps = orders.dependences
    yield "least waits", orders.legal(start)
    loads = [*places_of(orders, "loads"), *places_of(orders, "lds")]
    seen = {tuple(start)}
    for count in (10, 30, None):
        order = start
        for at in loads:
            order = moved_up(deps, order, at, count)
        if tuple(order) not in seen:
            seen.add(tuple(order))
            yield f"loads up {count or 'all'}", orders.legal(order)
    users = [at for at, row in enumerate(orders.core) if re.match(r"v_add_f32_e32 v1[3-6]\d,", row.text)]
    for at in users[:1]:
        order = moved_down(deps, start, at)
        if tuple(order) not in seen:
            yield "consumer down", orders.legal(order)
    behind = next(row.row for row in orders.core if row.text.startswith("v_lshl_add_u64")) + 1
    rows = [orders.core[at].row for at in loads]
    yield "ahead", issued_ahead(orders, rows, behind, Assumptions(padded=True))
    dwords = [row.row for row in orders.core if row.text.startswith("global_load_dword v")]
    wide = widened(orders, dwords)
    if isinstance(wide, LegalOrder):
        yield "widen", wide
