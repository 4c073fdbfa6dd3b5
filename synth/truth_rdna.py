"""Truth about an RDNA trace, stated over the plan's acts (spec_rdna sections 7 to 9, 13 for well-formed streams).

No PC is searched for here: a step knows the row it executed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth import plan as planned
from synth import truth as t
from synth.isa import Kind
from synth.lower_rdna import (
    DATA,
    END,
    HAPPENING,
    IMMEDIATE,
    IMMEDIATE_FORM,
    INST,
    KEY_BITS,
    LATE_READY_VERSIONS,
    NEW_PC,
    READY,
    START,
    VALU,
    Act,
)
from synth.rdna_ops import double_precision_rate, op_of
from synth.rdna_tokens import MISC_EVENTS

if TYPE_CHECKING:
    from synth.timing import Step

GFXIP = {1: 10, 2: 10, 3: 11, 4: 12, 5: 12}
_RANK_MASK = (1 << KEY_BITS) - 1
_MOVE_64_CYCLES = 2  # gfx12's v_mov_b64 occupies its unit twice, though its token says once


class _Instruction:
    __slots__ = ("address", "category", "duration", "stall", "time")

    def __init__(self, time: int, category: int, duration: int, stall: int, address: int) -> None:
        self.time, self.category, self.duration, self.stall = time, category, duration, stall
        self.address = address

    @property
    def end(self) -> int:
        return self.time + self.duration


class _Wave:
    """State of one wave of the traced SIMD."""

    def __init__(self, wave: planned.PlannedWave, begin: int, entry: tuple[int, int], cluster: int) -> None:
        self.wave = wave
        self.begin = begin
        self.entry = entry
        self.cluster = cluster
        self.finished: int | None = None
        self.instructions: list[_Instruction] = []
        self.segments: list[t.Segment] = []
        self.state = t.IDLE
        self.since = begin
        self.moves: list[int] = []  # instructions that are found to be v_mov_b64 once their PC is known
        self.in_barrier = False
        self.after_register_jump = True  # the first instruction is known from the kernel's entry

    def _set_state(self, state: int, time: int) -> None:
        if time > self.since:
            if not self.segments or self.segments[-1][0] != self.state:
                self.segments.append([self.state, 0])
            self.segments[-1][1] += time - self.since
            self.since = time
        self.state = state

    def leave_barrier(self, time: int) -> None:
        """Versions 1 to 3: a barrier lasts until the next thing that is heard of the wave."""
        if not self.in_barrier:
            return
        self.in_barrier = False
        barrier = self.instructions[-1]
        self._set_state(t.WAIT, barrier.end)
        self._set_state(t.EXEC, time + 1)
        barrier.duration = max(0, time - barrier.time)
        barrier.category = t.MESSAGE

    def issue(self, time: int, category: int, cycles: int, address: int) -> None:
        self.leave_barrier(time)
        stall = time - self.since if self.state == t.STALL and self.since < time else 0
        self.instructions.append(_Instruction(time - stall, category, cycles + stall, stall, address))
        self._set_state(t.EXEC, time)
        self.after_register_jump = False

    def immediate(self, time: int, address: int) -> None:
        """A wait runs from the end of the instruction before it to one cycle from now."""
        self.leave_barrier(time)
        start = min(time, self.instructions[-1].end) if self.instructions else time
        self.instructions.append(_Instruction(start, t.IMMED, time - start + 1, time - start, address))
        self._set_state(t.WAIT, start)
        self._set_state(t.EXEC, time + 1)
        self.after_register_jump = False

    def ready(self, time: int) -> None:
        self.leave_barrier(time - 1)
        self._set_state(t.STALL, time)

    def end(self, time: int, end_address: int) -> None:
        """No token tells of s_endpgm; what is left of the wave's life is its record."""
        self._set_state(t.EMPTY, time)
        self.finished = time
        if self.instructions and self.instructions[-1].end < time:
            last_end = self.instructions[-1].end
            self.instructions.append(_Instruction(last_end, t.MESSAGE, time - last_end, 0, end_address))

    def last_end(self) -> int:
        return max((i.end + 4 for i in self.instructions), default=0)


def _a_cycle_earlier(act: Act) -> Act:
    key, index, step, value = act
    return key - (1 << KEY_BITS), index, step, value


class _Reader:
    """Goes through the acts once and fills the tables."""

    def __init__(self, plan: planned.EnginePlan) -> None:
        self.plan = plan
        self.version = plan.stream_version
        self.rate = double_precision_rate(plan.double_precision_rate, self.version)
        self.truth = t.empty_truth(plan, GFXIP[self.version])
        self.objects = t.CodeObjects()
        self.slots: dict[int, _Wave] = {}  # the last wave of each slot of the traced SIMD
        self.lives: dict[int, _Wave] = {}
        self.entry_now: dict[int, tuple[int, int]] = {}
        self.occupancy: list[tuple[t.Row, int | None, tuple[int, int]]] = []
        self.earlier: list[t.Row] = []
        self.running: dict[tuple[int, int, int], int] = {}
        self.cluster, self.cluster_ends = 0, False
        self.lost = False

    def read(self, acts: list[Act]) -> t.Truth:
        if self.version in LATE_READY_VERSIONS:
            # WAVE_READY tells about the cycle before its own; what is left in that cycle comes first.
            acts = sorted(_a_cycle_earlier(act) if act[0] & _RANK_MASK == READY else act for act in acts)
        for key, index, step, value in acts:
            time, rank = key >> KEY_BITS, key & _RANK_MASK
            if rank == HAPPENING:
                self._happening(time, self.plan.happenings[index])
            elif rank == START:
                self._start(time, index)
            elif rank == END:
                self._end(time, index)
            elif rank == DATA:
                wave = self.plan.waves[index]
                flags = int(value & IMMEDIATE_FORM != 0)
                self._shader_data(time, value & ~IMMEDIATE_FORM, wave.cu, wave.simd, wave.slot, flags)
            else:
                self._wave_act(self.lives[index], time, rank, step)
        return self._finish()

    def _wave_act(self, live: _Wave, time: int, rank: int, number: int) -> None:
        run = live.wave.run
        assert run is not None  # noqa: S101
        code = live.wave.code_object.code.rows[run.steps[number][0]]
        if rank == READY:
            live.ready(time)
        elif rank == IMMEDIATE:
            live.immediate(time, code.address)
        elif rank == NEW_PC:
            live.leave_barrier(time)
        elif rank == VALU:
            if GFXIP[self.version] == 12 and code.text.startswith("v_mov_b64") and not live.after_register_jump:
                live.moves.append(len(live.instructions))
            live.issue(time, t.VALU, 1, code.address)
        elif rank == INST:
            self._inst(live, time, code.kind, run.steps[number], code.address)

    def _inst(self, live: _Wave, time: int, kind: Kind, step: Step, address: int) -> None:
        op = op_of(kind, self.version, is_taken=step[3])
        assert op is not None  # noqa: S101
        if op.category == t.IMMED:
            live.immediate(time, address)
            live.in_barrier = self.version <= 3
            return
        live.issue(time, op.category, op.cycles * (self.rate if op.double_rate else 1), address)
        live.after_register_jump = kind == Kind.REGISTER_JUMP

    def _finish(self) -> t.Truth:
        rows = self.truth.rows
        rows["occupancy"] = list(reversed(self.earlier))
        for row, index, entry in self.occupancy:
            place = entry
            if index is not None:
                wave = self.plan.waves[index]
                place = self.objects.finally_(wave.code_object, wave.entry, entry)
            rows["occupancy"].append((*row, *place))
        for slot in sorted(self.slots):
            self._add(self.slots[slot])
        if any(not row[8] for row in rows["waves"]):
            rows["info"].append((t.WAVE_INCOMPLETE,))
        if self.lost:
            rows["info"].append((t.DATA_LOST,))
        return self.truth

    def _start(self, time: int, index: int) -> None:
        wave = self.plan.waves[index]
        entry = self.objects.now(wave.code_object, wave.entry)
        self.entry_now[index] = entry
        cluster = self.cluster
        if self.cluster_ends:
            self.cluster, self.cluster_ends = 0, False
        key = (wave.cu, wave.simd, wave.slot)
        extended = int(self.plan.extended_starts)
        workgroup = wave.workgroup & 31 if extended else 0
        self.running[key] = index
        self.occupancy.append(((time, *key, 1, wave.me, wave.pipe, extended, workgroup, cluster), index, entry))
        if wave.run is not None:
            if wave.slot in self.slots:
                self._add(self.slots[wave.slot])
            self.slots[wave.slot] = self.lives[index] = _Wave(wave, time, entry, cluster)

    def _end(self, time: int, index: int) -> None:
        wave = self.plan.waves[index]
        if wave.run is not None:
            rows, steps = wave.code_object.code.rows, wave.run.steps
            self.lives[index].end(time, rows[steps[-1][0]].address)
        key = (wave.cu, wave.simd, wave.slot)
        started = self.running.pop(key, None)
        entry = (0, 0) if started is None else self.entry_now[started]
        if started is None:
            self.earlier.append((0, *key, 1, 0, 0, 0, 0, 0, 0, 0))
        self.occupancy.append(((time, *key, 0, 0, 0, 0, 0, 0), started, entry))

    def _add(self, live: _Wave) -> None:
        wave = live.wave
        entry = self.objects.finally_(wave.code_object, wave.entry, live.entry)
        for move in (live.instructions[number] for number in live.moves):
            move.duration = max(move.duration, move.stall + _MOVE_64_CYCLES)
        complete = live.finished is not None
        end = live.last_end() if live.finished is None else live.finished
        if not complete:
            number = len(self.truth.rows["waves"])
            self.truth.rows["losses"].append((t.LOSS_WAVE, number))
        workgroup = wave.workgroup & 31 if self.plan.extended_starts else 0
        instructions = [(i.time, i.stall, i.duration, i.category, i.address) for i in live.instructions]
        finished = t.FinishedWave(
            wave, complete, live.begin, end, wave.me, wave.pipe, workgroup, live.cluster, instructions, live.segments
        )
        t.add_wave(self.truth, finished, entry)

    def _event(self, time: int, name: str, me: int = 0, pipe: int = 0, flags: int = 0, payload: int = 0) -> None:
        self.truth.rows["events"].append((time, t.EVENT_TYPES[name], me, pipe, flags, payload))

    def _shader_data(self, time: int, value: int, cu: int, simd: int, slot: int, flags: int) -> None:
        self.truth.rows["shader_data"].append((time, value, cu, simd, slot, flags))

    def _dispatch(self, time: int, what: planned.Dispatch) -> None:
        res, version = what.resources, self.version
        entry = self.objects.now(what.code_object, what.kernel.entry)
        wide = 2 if version >= 5 else 1
        vgprs = (res.vgpr_granules * 8 + 8) * wide
        sgprs = res.sgpr_granules * 16 + 16 if version == 1 else 128
        lds_bytes = res.lds_granules * (1280 if version == 1 else 512 * wide)
        sizes = (vgprs, sgprs, lds_bytes, *what.workgroup_size)
        self.truth.rows["dispatches"].append((time, what.me, what.pipe, res.user_sgprs, res.flags, *sizes, *entry))

    def _happening(self, time: int, what: planned.Happening) -> None:
        rows = self.truth.rows
        match what:
            case planned.AgentInfo():
                self.truth.realtime_hz = what.realtime_khz * 1000
                self.truth.counter_interval_cycles = what.counter_interval_cycles
            case planned.CodeObjectChange(code_object=changed, unload=unload):
                if not self.objects.change(what):
                    return
                name = "code_object_unload" if unload else "code_object_load"
                self._event(time, name, what.me, what.pipe, 0, changed.id & 0xFFFFFFFF)
            case planned.Dispatch():
                self._dispatch(time, what)
            case planned.Realtime(ticks=ticks):
                rows["realtime"].append((time, ticks))
            case planned.ShaderData(cu=cu, simd=simd, slot=slot, value=value):
                self._shader_data(time, value, cu, simd, slot, int(what.immediate))
            case planned.OtherSimd(category=category, duration_cycles=cycles):
                rows["other_simd"].append((time, cycles, self.plan.target_cu, category))
            case planned.Event(name=name) if name in MISC_EVENTS:
                self._event(time, name)
            case planned.Event(name=name):
                self._event(time, name, what.me, what.pipe, 1 | what.bottom_of_pipe << 1)
            case planned.ClusterMark(cluster=cluster, last=last):
                self.cluster, self.cluster_ends = cluster, last
            case planned.PacketLoss():
                self.lost = True
                self._event(time, "packet_loss")
                rows["losses"].append((t.LOSS_PACKETS, 0))


def truth_rdna(plan: planned.EnginePlan, acts: list[Act]) -> t.Truth:
    """The tables that decoding the plan's buffer gives; `acts` are those that the buffer holds whole."""
    return _Reader(plan).read(acts)
