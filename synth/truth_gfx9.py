"""Truth about a gfx9 trace, stated over the plan's acts (spec_gfx9 sections 4, 5, 7, 8 for well-formed streams).

No PC is searched for here: a step knows the row it executed.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from synth import plan as planned
from synth import truth as t
from synth.gfx9_tokens import InstType, IssueState
from synth.isa import Kind
from synth.lower_gfx9 import DATA, END, HAPPENING, ISSUE, KEY_BITS, REPORT, START, Act

if TYPE_CHECKING:
    from synth.isa import CodeRow

# Category and how many quarter steps a report is late at least, by reported type.
_TYPES: dict[int, tuple[int, int]] = {
    InstType.SMEM_RD: (t.SMEM, 5),
    InstType.SALU_32: (t.SALU, 5),
    InstType.VMEM_RD: (t.VMEM, 0),
    InstType.VMEM_WR: (t.VMEM, 0),
    InstType.FLAT_RD: (t.FLAT, 0),
    InstType.FLAT_WR: (t.FLAT, 0),
    InstType.VALU_32: (t.VALU, 2),
    InstType.VALU_64: (t.VALU, 2),
    InstType.VALU_MATRIX: (t.VALU, 2),
    InstType.LDS: (t.LDS, 1),
    InstType.PC: (t.SALU, 0),
    InstType.JUMP: (t.JUMP, 1),
    InstType.NEXT: (t.NEXT, 1),
    InstType.MESSAGE: (t.MESSAGE, 1),
}
_STEP = 4  # cycles; everything on gfx9 happens in steps of four
_COUNTER_CUS, _COUNTER_BANKS = 16, 4
_LDS_GRANULE_BYTES = 1280
_PER_PIPE = 1


class _Phase:
    """Lag of instruction reports, as the decoder estimates it: one counter for the whole buffer."""

    def __init__(self) -> None:
        self.overlaps = 15


class _Instruction:
    __slots__ = ("category", "duration", "stall", "step", "time")

    def __init__(self, time: int, category: int, duration: int, stall: int, step: int) -> None:
        self.time, self.category, self.duration, self.stall, self.step = time, category, duration, stall, step

    @property
    def end(self) -> int:
        return self.time + self.duration

    def trim(self, time: int) -> None:
        """The next instruction began: this one was over by then."""
        if time < self.end:
            self.duration = max(time - self.time, _STEP)
            self.stall = min(self.stall, self.duration)


class _Wave:
    """State of one live wave of the traced CU."""

    def __init__(self, wave: planned.PlannedWave, begin: int) -> None:
        self.wave = wave
        self.begin = begin
        self.instructions: list[_Instruction] = []
        self.unreported: deque[int] = deque()
        self.stalls: deque[int] = deque()
        self.segments: list[t.Segment] = []
        self.state = t.IDLE
        self.since = begin

    def issue(self, time: int, what: int, step: int) -> None:
        before = self.state
        if what == IssueState.IMMED:
            self._immediate(time, step)
        elif what == IssueState.STALL:
            self.state = t.STALL
            self.stalls.append(time)
        else:
            self.state = t.EXEC
            self.unreported.append(len(self.instructions))
            self.instructions.append(_Instruction(time, t.UNFINISHED, 0, 0, step))
        self._segment_until(time, before)
        self.since = max(self.since, time)

    def _immediate(self, time: int, step: int) -> None:
        """A wait runs from the end of the instruction before it, if that one's end is known, to one step from now."""
        start = time
        if self.instructions and self.instructions[-1].category != t.UNFINISHED:
            last = self.instructions[-1]
            last.trim(time)
            start = min(last.end, time)
        duration = time - start + _STEP
        self.instructions.append(_Instruction(start, t.IMMED, duration, duration, step))
        self._segment_until(start, self.state)
        self.state = t.EXEC
        self.segments.append([t.WAIT, duration])
        self.since = start + duration

    def _segment_until(self, time: int, state: int) -> None:
        if time <= self.since:
            return
        if self.segments and self.segments[-1][0] == state:
            self.segments[-1][1] += time - self.since
        else:
            self.segments.append([state, time - self.since])

    def report(self, time: int, type_: int, phase: _Phase) -> None:
        number = self.unreported.popleft()
        this = self.instructions[number]
        if len(self.instructions) > 1 and this.time < self.instructions[-2].end:
            phase.overlaps += 1
        before = self.instructions[number - 1] if number else None
        if before:
            before.trim(this.time)
        this.category, late = _TYPES[type_]
        late_steps = ((phase.overlaps + self.wave.simd) % 4 + late) // 4
        this.duration = _STEP + max(time - this.time - _STEP * late_steps, 0)
        stalled_from = None
        while self.stalls and self.stalls[0] < this.time:
            stalled_from = self.stalls.popleft()
        if stalled_from is not None:
            start = max(stalled_from, before.end if before else 0)
            this.stall = max(this.time - start, 0)
            this.duration = max(this.end - start, _STEP)
            this.time = start

    def end(self, time: int) -> int:
        """Close the wave; returns its end, one step behind the report."""
        end = time + _STEP
        if self.instructions and self.segments and end > self.since:
            self.segments.append([self.state, end - self.since])
        return end

    def last_end(self) -> int:
        return max((i.end + _STEP for i in self.instructions), default=0)


def _places(wave: _Wave, end: int) -> list[int]:
    """ELF addresses of a wave's instructions; -1 from the first one on whose kind was never reported."""
    assert wave.wave.run is not None  # noqa: S101
    rows, steps = wave.wave.code_object.code.rows, wave.wave.run.steps
    known_from_jump = True
    addresses: list[int] = []
    for number, instruction in enumerate(wave.instructions):
        row = rows[steps[instruction.step][0]]
        if instruction.category == t.UNFINISHED and not known_from_jump:
            break
        if row.kind == Kind.MATRIX_SCALE and not known_from_jump:
            _widen_scaled(wave, number, end)
        addresses.append(row.address)
        known_from_jump = _is_register_jump(row, instruction)
    return addresses + [-1] * (len(wave.instructions) - len(addresses))


def _is_register_jump(row: CodeRow, instruction: _Instruction) -> bool:
    return row.kind == Kind.REGISTER_JUMP and instruction.category != t.UNFINISHED


def _widen_scaled(wave: _Wave, number: int, end: int) -> None:
    """A scaled matrix instruction takes an extra step in front that its report does not cover (spec_gfx9 6.6)."""
    this = wave.instructions[number]
    earliest = wave.instructions[number - 1].end if number else wave.begin
    latest = wave.instructions[number + 1].time if number + 1 < len(wave.instructions) else end
    this.duration += _STEP
    if this.time > earliest:
        this.time -= _STEP
        if this.end < latest:
            this.duration += _STEP
    elif this.end > latest:
        this.duration -= _STEP


class _Counters:
    """Counter samples; reports of zeros are not sent, so gaps are filled once the interval is known."""

    def __init__(self) -> None:
        self.interval = 0
        self.rows: list[t.Row] = []
        self._last: dict[tuple[int, int], int] = {}

    def sample(self, what: planned.CounterSample) -> None:
        time = what.time - _STEP * what.cu  # the CUs report one after another
        key = what.cu, what.bank
        if self.interval:
            if 0 < self._last.get(key, 0) < time - self.interval:
                self.rows.append((time, *key, 0, 0, 0, 0))
            self._last[key] = time
        self.rows.append((time, *key, *what.values))

    def announce(self, interval: int) -> None:
        """The interval is told; zero samples go into the gaps of what was collected before."""
        self.interval = interval
        last: dict[tuple[int, int], int] = {}
        missing: list[t.Row] = []
        for time, cu, bank, *_ in self.rows:
            if 0 < last.get((cu, bank), 0) < time - interval:
                missing.append((last[cu, bank] + interval, cu, bank, 0, 0, 0, 0))
            last[cu, bank] = time
        if missing:
            self.rows = sorted(self.rows + missing, key=lambda row: row[0])

    def finish(self) -> list[t.Row]:
        if self.interval:
            for cu in range(_COUNTER_CUS):
                for bank in range(_COUNTER_BANKS):
                    if self._last.get((cu, bank)):
                        self.rows.append((self._last[cu, bank] + self.interval, cu, bank, 0, 0, 0, 0))
        return self.rows


class _Reader:
    """Goes through the acts once and fills the tables."""

    def __init__(self, plan: planned.EnginePlan) -> None:
        self.plan = plan
        self.truth = t.empty_truth(plan, 9)
        self.truth.target_simd = 0  # all four SIMDs are traced
        self.objects = t.CodeObjects()
        self.phase = _Phase()
        self.counters = _Counters()
        self.lives: dict[int, _Wave] = {}
        self.entry_now: dict[int, tuple[int, int]] = {}
        # occupancy rows with the wave they belong to, because their place may be resolved later
        self.occupancy: list[tuple[t.Row, int | None, tuple[int, int]]] = []
        self.earlier: list[t.Row] = []
        self.running: dict[tuple[int, int, int], int] = {}
        self.lost = False
        self.cut_inside_token = False

    def read(self, acts: list[Act]) -> t.Truth:
        for key, index, step, value in acts:
            time, rank = key >> KEY_BITS, key >> 2 & 7
            if rank == ISSUE:
                self.lives[index].issue(time, value, step)
            elif rank == REPORT:
                self.lives[index].report(time, value, self.phase)
            elif rank == HAPPENING:
                self._happening(time, self.plan.happenings[index])
            elif rank == START:
                self._start(time, index)
            elif rank == END:
                self._end(time, index)
            elif rank == DATA:
                wave = self.plan.waves[index]
                self.truth.rows["shader_data"].append((time, value, wave.cu, wave.simd, wave.slot, 0))
        return self._finish()

    def _finish(self) -> t.Truth:
        rows = self.truth.rows
        rows["occupancy"] = list(reversed(self.earlier))
        for row, index, entry in self.occupancy:
            place = entry
            if index is not None:
                wave = self.plan.waves[index]
                place = self.objects.finally_(wave.code_object, wave.entry, entry)
            rows["occupancy"].append((*row, *place))
        if self.cut_inside_token:
            rows["losses"].append((t.LOSS_TRUNCATED_TOKEN, 0))
        for index in sorted(self.lives, key=lambda i: (self.plan.waves[i].simd, self.plan.waves[i].slot)):
            live = self.lives[index]
            number = len(rows["waves"])
            self._add(index, live, None)
            rows["losses"].append((t.LOSS_WAVE, number))
        if self.lives:
            rows["info"].append((t.WAVE_INCOMPLETE,))
        if self.lost:
            rows["info"].append((t.DATA_LOST,))
        rows["counters"] = self.counters.finish()
        self.truth.counter_interval_cycles = self.counters.interval
        return self.truth

    def _start(self, time: int, index: int) -> None:
        wave = self.plan.waves[index]
        entry = self.objects.now(wave.code_object, wave.entry)
        self.entry_now[index] = entry
        if wave.run is not None:
            self.lives[index] = _Wave(wave, time)
        key = (wave.cu, wave.simd, wave.slot)
        if key not in self.running:
            row = (time, *key, 1, wave.me, wave.pipe, 1, wave.workgroup & 7, 0)
            self.occupancy.append((row, index, entry))
        self.running[key] = index

    def _end(self, time: int, index: int) -> None:
        wave = self.plan.waves[index]
        if wave.run is not None:
            live = self.lives.pop(index)
            self._add(index, live, live.end(time))
        key = (wave.cu, wave.simd, wave.slot)
        started = self.running.pop(key, None)
        if started is not None:
            self.occupancy.append(((time, *key, 0, 0, 0, 1, 0, 0), started, self.entry_now[started]))
        elif not self.lost:
            # A wave that began before the trace: both of its records have time 0.
            self.earlier.append((0, *key, 1, 0, 0, 1, 0, 0, 0, 0))
            self.occupancy.append(((0, *key, 0, 0, 0, 1, 0, 0), None, (0, 0)))

    def _add(self, index: int, live: _Wave, end: int | None) -> None:
        """A wave is over, or was not over (None) when the buffer ended."""
        wave = live.wave
        places = _places(live, end or 0)
        entry = self.objects.finally_(wave.code_object, wave.entry, self.entry_now[index])
        instructions = [
            (i.time, i.stall, i.duration, i.category, place) for i, place in zip(live.instructions, places, strict=True)
        ]
        last = live.last_end() if end is None else end
        shape = (wave.me, wave.pipe, wave.work_items, 0)
        finished = t.FinishedWave(wave, end is not None, live.begin, last, *shape, instructions, live.segments)
        t.add_wave(self.truth, finished, entry)

    def _event(self, time: int, name: str, me: int = 0, pipe: int = 0, flags: int = 0, payload: int = 0) -> None:
        self.truth.rows["events"].append((time, t.EVENT_TYPES[name], me, pipe, flags, payload))

    def _happening(self, time: int, what: planned.Happening) -> None:
        rows = self.truth.rows
        match what:
            case planned.AgentInfo():
                self.truth.realtime_hz = what.realtime_khz * 1000
                if what.counter_interval_cycles:
                    self.counters.announce(what.counter_interval_cycles)
            case planned.CodeObjectChange(code_object=changed, unload=unload):
                if not self.objects.change(what):
                    return
                name = "code_object_unload" if unload else "code_object_load"
                self._event(time, name, what.me, what.pipe, _PER_PIPE, changed.id & 0xFFFFFFFF)
            case planned.Dispatch(resources=res):
                entry = self.objects.now(what.code_object, what.kernel.entry)
                sizes = (res.vgpr_granules * 8 + 8, res.sgpr_granules * 16 + 16, res.lds_granules * _LDS_GRANULE_BYTES)
                rows["dispatches"].append(
                    (time, what.me, what.pipe, res.user_sgprs, res.flags, *sizes, *what.workgroup_size, *entry)
                )
            case planned.Realtime(ticks=ticks):
                rows["realtime"].append((time, ticks))
            case planned.ShaderData(cu=cu, simd=simd, slot=slot, value=value):
                rows["shader_data"].append((time, value, cu, simd, slot, 0))
            case planned.CounterSample():
                self.counters.sample(what)
            case planned.Event(name="cs_partial_flush" as name):
                self._event(time, name, what.me, what.pipe)
            case planned.Event(name=name):
                self._event(time, name)
            case planned.PacketLoss():
                self.lost = True
                self._event(time, "packet_loss")
                rows["losses"].append((t.LOSS_PACKETS, 0))


def truth_gfx9(plan: planned.EnginePlan, acts: list[Act], *, cut_inside_token: bool) -> t.Truth:
    """The tables that decoding the plan's buffer gives; `acts` are those that the buffer holds whole."""
    reader = _Reader(plan)
    reader.cut_inside_token = cut_inside_token
    return reader.read(acts)
