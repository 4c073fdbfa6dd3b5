"""A simple timing model: waves walk the real instructions of a listing and share the units of their SIMD.

Each wave issues in order. An instruction waits for its unit, waits for outstanding memory operations happen at
s_waitcnt / s_wait_*, barriers hold a workgroup together, and a finished workgroup makes room for the next one.
The result does not depend on the stream format: the encoders turn the same timeline into tokens. Times are
shader-clock cycles; every time is a multiple of the launch's `quantum_cycles`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from synth.isa import Kind
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from random import Random

    from synth.isa import CodeGraph, CodeRow


class Cost(NamedTuple):
    """Cost of an instruction of a kind, in issue quanta, and for memory the cycles until it is complete."""

    unit: int  # instructions of one unit and SIMD issue one after another
    busy: int  # quanta until the unit takes the next instruction
    step: int  # quanta until the same wave can issue again
    latency: int = 0  # cycles until a memory operation is complete, at least
    spread: int = 0  # cycles it may take longer


_SCALAR, _VECTOR, _MEMORY, _LDS, _CONSTANT, _BRANCH, _NONE = range(7)
UNITS = 7

COSTS: dict[Kind, Cost] = {
    Kind.SALU: Cost(_SCALAR, 1, 1),
    Kind.SALU_EXEC: Cost(_SCALAR, 1, 2),
    Kind.SALU_FLOAT: Cost(_SCALAR, 1, 4),
    Kind.SMEM: Cost(_CONSTANT, 1, 1, 160, 120),
    Kind.GLOBAL_LOAD: Cost(_MEMORY, 4, 2, 420, 700),
    Kind.GLOBAL_STORE: Cost(_MEMORY, 4, 2, 300, 300),
    Kind.BUFFER_LOAD: Cost(_MEMORY, 4, 2, 420, 700),
    Kind.BUFFER_STORE: Cost(_MEMORY, 4, 2, 300, 300),
    Kind.FLAT_LOAD: Cost(_MEMORY, 5, 2, 480, 700),
    Kind.FLAT_STORE: Cost(_MEMORY, 5, 2, 360, 300),
    Kind.LDS_LOAD: Cost(_LDS, 2, 1, 60, 60),
    Kind.LDS_STORE: Cost(_LDS, 2, 1, 40, 40),
    Kind.VALU: Cost(_VECTOR, 1, 1),
    Kind.VALU_WIDE: Cost(_VECTOR, 2, 2),
    Kind.TRANSCENDENTAL: Cost(_VECTOR, 4, 4),
    Kind.DOUBLE: Cost(_VECTOR, 4, 4),
    Kind.MATRIX: Cost(_VECTOR, 8, 4),
    Kind.MATRIX_SCALE: Cost(_VECTOR, 8, 4),
    Kind.BRANCH: Cost(_BRANCH, 1, 4),
    Kind.JUMP: Cost(_BRANCH, 1, 4),
    Kind.REGISTER_JUMP: Cost(_BRANCH, 2, 24),
    Kind.IMMED: Cost(_NONE, 0, 1),
    Kind.WAIT: Cost(_NONE, 0, 1),
    Kind.BARRIER: Cost(_NONE, 0, 1),
    Kind.BARRIER_SIGNAL: Cost(_NONE, 0, 1),
    Kind.BARRIER_WAIT: Cost(_NONE, 0, 1),
    Kind.MESSAGE: Cost(_NONE, 0, 2),
    Kind.SHADER_DATA: Cost(_NONE, 0, 2),
    Kind.END: Cost(_NONE, 0, 1),
}

LAUNCH_CYCLES = 200  # from a wave's start to its first instruction, at least
BARRIER_CYCLES = 16  # from the last arrival to the release
END_CYCLES = 96  # from s_endpgm to the end of the wave; longer than any report is late
RELAUNCH_CYCLES = 120  # from the end of a workgroup to the start of the next one in its slots
MAX_STEPS_PER_WAVE = 5_000_000


Step = tuple[int, int, int, int]
"""One executed instruction: (row, ready, issue, extra).

`ready` is the cycle from which on the wave could issue it, `issue` when it was issued or its wait was over. `extra`:
barrier: cycle of the release (0 = never); branch: 1 if taken; register jump: address of the target; shader data: the
value. A plain tuple because millions of them are made.
"""


@dataclass
class Wave:
    """The life of one traced wave."""

    simd: int
    slot: int
    workgroup: int
    begin: int
    end: int = 0
    steps: list[Step] = field(default_factory=list)
    waits: list[tuple[int, int, str]] = field(default_factory=list)  # (wait step, producing step, counter)


@dataclass(frozen=True)
class Launch:
    """Arrival of the waves of one dispatch at the traced SIMDs."""

    simds: tuple[int, ...]
    slots_per_simd: int
    workgroups: int
    waves_per_workgroup: int
    start: int
    quantum_cycles: int
    loop_trips: int
    taken_share: float = 0.15  # of forward branches that leave no loop
    decisions: tuple[tuple[bool, ...], ...] = ()  # by wave of a workgroup: of branches; () = as above


@dataclass
class _Group:
    waves: list[_Running] = field(default_factory=list)
    alive: int = 0
    arrived: int = 0
    signals: int = 0
    releases: list[int] = field(default_factory=list)  # cycles of the split barrier's releases so far
    parked: list[_Running] = field(default_factory=list)


class _Running:
    """A wave on its walk."""

    __slots__ = ("decisions", "group", "outstanding", "ready", "returns", "row", "signals", "trips", "wave")

    def __init__(self, wave: Wave, group: _Group, row: int, decisions: tuple[bool, ...] | None) -> None:
        self.wave = wave
        self.group = group
        self.row = row
        self.ready = 0
        self.signals = 0
        self.decisions = None if decisions is None else iter(decisions)
        self.trips: dict[int, int] = {}
        self.returns: list[int] = []
        self.outstanding: dict[str, deque[tuple[int, int]]] = {}  # counter -> (complete, step), oldest first


def run(code: CodeGraph, entry: int, launch: Launch, rng: Random) -> list[Wave]:
    """Run one dispatch's waves; they come back in the order of their starts.

    Raises UsageError when the walk does not reach s_endpgm or the launch does not fit the slots.
    """
    return _Model(code, entry, launch, rng).run()


class _Model:
    def __init__(self, code: CodeGraph, entry: int, launch: Launch, rng: Random) -> None:
        self.rows = code.rows
        self.entry = code.entry_row(entry)
        self.launch = launch
        self.rng = rng
        self.quantum = launch.quantum_cycles
        self.heap: list[tuple[int, int, _Running]] = []
        self.pushed = 0
        self.free = {simd: [0] * UNITS for simd in launch.simds}
        self.waves: list[Wave] = []
        self.next_workgroup = 0
        # Random numbers are drawn once and reused in turn: drawing is the slow part.
        self.jitter = [rng.random() for _ in range(1021)]
        self.drawn = 0
        self.branch_costs = {kind: self._cycles(kind) for kind in (Kind.BRANCH, Kind.JUMP, Kind.REGISTER_JUMP)}
        self.special = {
            Kind.WAIT: self._wait,
            Kind.IMMED: self._immediate,
            Kind.BRANCH: self._branch,
            Kind.JUMP: self._branch,
            Kind.REGISTER_JUMP: self._register_jump,
            Kind.BARRIER: self._barrier,
            Kind.BARRIER_SIGNAL: self._barrier_signal,
            Kind.BARRIER_WAIT: self._barrier_wait,
            Kind.SHADER_DATA: self._shader_data,
            Kind.END: self._end,
        }

    def run(self) -> list[Wave]:
        for places in self._resident_places():
            self._start_workgroup(places, self.launch.start + self.quantum * 4 * self.next_workgroup)
        heap, rows, special, plain = self.heap, self.rows, self.special, self._plain
        costs = [None if row.kind in special or row.kind == Kind.SKIP else self._cycles(row.kind) for row in rows]
        while heap:
            ready, _, running = heappop(heap)
            while True:  # this wave goes on as long as no other one is ready earlier
                row = running.row
                code, cost = rows[row], costs[row]
                if cost is not None:
                    ready = plain(running, code, cost, ready)
                elif code.kind == Kind.SKIP:
                    self._advance(running, code)
                else:
                    after = special[code.kind](running, code, ready)
                    if after is None:
                        break
                    ready = after
                if heap and heap[0][0] < ready:
                    self._push(running, ready)
                    break
        if any(wave.end == 0 for wave in self.waves):
            message = "a wave waits at a barrier that its workgroup never completes"
            raise UsageError(message)
        return self.waves

    def _cycles(self, kind: Kind) -> Cost:
        """The cost of a kind with its quanta as cycles."""
        cost = COSTS[kind]
        return cost._replace(busy=cost.busy * self.quantum, step=cost.step * self.quantum)

    def _resident_places(self) -> list[list[tuple[int, int]]]:
        """The (SIMD, slot) places of the workgroups that run at the same time."""
        launch = self.launch
        if not 1 <= launch.waves_per_workgroup <= len(launch.simds) * launch.slots_per_simd:
            message = f"{launch.waves_per_workgroup} waves of a workgroup do not fit the traced SIMDs' slots"
            raise UsageError(message)
        places = [(simd, slot) for slot in range(launch.slots_per_simd) for simd in launch.simds]
        size = launch.waves_per_workgroup
        groups = [places[i : i + size] for i in range(0, len(places) - size + 1, size)]
        return groups[: launch.workgroups]

    def _start_workgroup(self, places: list[tuple[int, int]], start: int) -> None:
        group, decisions = _Group(alive=len(places)), self.launch.decisions
        for number, (simd, slot) in enumerate(places):
            wave = Wave(simd, slot, self.next_workgroup, start + number * self.quantum)
            running = _Running(wave, group, self.entry, decisions[number] if decisions else None)
            group.waves.append(running)
            self.waves.append(wave)
            self._push(running, wave.begin + self._round(LAUNCH_CYCLES + 200 * self._draw()))
        self.next_workgroup += 1

    def _push(self, running: _Running, ready: int) -> None:
        self.pushed += 1
        heappush(self.heap, (ready, self.pushed, running))

    def _draw(self) -> float:
        self.drawn = (self.drawn + 1) % 1021
        return self.jitter[self.drawn]

    def _round(self, cycles: float) -> int:
        return -(-int(cycles) // self.quantum) * self.quantum

    def _advance(self, running: _Running, code: CodeRow, row: int | None = None) -> None:
        running.row = to = code.next if row is None else row
        if to < 0:
            message = f"the walk leaves the listing behind {code.text!r} at {code.address:#x}"
            raise UsageError(message)

    def _use_unit(self, simd: int, cost: Cost, ready: int) -> tuple[int, int]:
        """Time at which a unit takes an instruction, and at which its wave can go on."""
        unit, busy, step, _, _ = cost
        free = self.free[simd]
        issue = max(ready, free[unit])
        free[unit] = issue + busy
        return issue, issue + step

    def _plain(self, running: _Running, code: CodeRow, cost: Cost, ready: int) -> int:
        """An instruction that does nothing but use its unit; written out, because most instructions come here."""
        unit, busy, step, latency, spread = cost
        wave = running.wave
        free = self.free[wave.simd]
        issue = free[unit]
        if issue < ready:
            issue = ready
        free[unit] = issue + busy
        steps = wave.steps
        if code.counters:
            complete = issue + latency + int(spread * self._draw())
            for counter in code.counters:
                queue = running.outstanding.setdefault(counter, deque())
                if queue and queue[-1][0] > complete:
                    complete = queue[-1][0]
                queue.append((complete, len(steps)))
        steps.append((running.row, ready, issue, 0))
        if code.next < 0:
            self._advance(running, code)
        running.row = code.next
        return issue + step

    def _immediate(self, running: _Running, code: CodeRow, ready: int) -> int:
        idle = 1
        if code.text.startswith("s_nop"):
            idle += min(code.operand or 0, 15)
        elif code.text.startswith("s_sleep"):
            idle += 16 * min(code.operand or 0, 127)
        issue = ready + (idle - 1) * self.quantum
        running.wave.steps.append((running.row, ready, issue, 0))
        self._advance(running, code)
        return issue + self.quantum

    def _wait(self, running: _Running, code: CodeRow, ready: int) -> int:
        over = ready
        wave = running.wave
        for counter, value in code.waits:
            queue = running.outstanding.get(counter, ())
            while len(queue) > value:
                complete, step = queue.popleft()  # type: ignore[union-attr]
                if complete > ready:
                    wave.waits.append((len(wave.steps), step, counter))
                over = max(over, complete)
        over = self._round(over)
        wave.steps.append((running.row, ready, over, 0))
        self._advance(running, code)
        return over + self.quantum

    def _branch(self, running: _Running, code: CodeRow, ready: int) -> int:
        row = running.row
        if len(running.wave.steps) > MAX_STEPS_PER_WAVE:
            message = f"a wave did not reach s_endpgm within {MAX_STEPS_PER_WAVE} instructions"
            raise UsageError(message)
        if code.kind == Kind.JUMP:
            is_taken = True
        elif running.decisions is not None:
            decision = next(running.decisions, None)
            if decision is None:
                message = f"a wave comes to {code.text!r} at {code.address:#x}, for which there is no decision"
                raise UsageError(message)
            is_taken = decision
        elif code.target <= row or code.loop_exit:
            done = running.trips.get(row, 0)
            again = done < self.launch.loop_trips
            running.trips[row] = done + 1 if again else 0
            is_taken = again != code.loop_exit
        else:
            is_taken = self._draw() < self.launch.taken_share
        issue, after = self._use_unit(running.wave.simd, self.branch_costs[code.kind], ready)
        running.wave.steps.append((row, ready, issue, int(is_taken)))
        self._advance(running, code, code.target if is_taken else code.next)
        return after

    def _register_jump(self, running: _Running, code: CodeRow, ready: int) -> int:
        target = code.target
        if code.text.startswith(("s_swap", "s_call")):
            running.returns.append(code.next)
        elif target < 0 and running.returns:
            target = running.returns.pop()
        if target < 0:
            message = f"where {code.text!r} at {code.address:#x} goes cannot be told from the listing"
            raise UsageError(message)
        issue, after = self._use_unit(running.wave.simd, self.branch_costs[code.kind], ready)
        running.wave.steps.append((running.row, ready, issue, self.rows[target].address))
        self._advance(running, code, target)
        return after

    def _shader_data(self, running: _Running, code: CodeRow, ready: int) -> int:
        known = self.rng.getrandbits(32) if code.operand is None else code.operand
        value = known & (0xFF if "_imm" in code.text else 0xFFFFFFFF)
        running.wave.steps.append((running.row, ready, ready, value))
        self._advance(running, code)
        return ready + COSTS[Kind.SHADER_DATA].step * self.quantum

    def _barrier(self, running: _Running, code: CodeRow, ready: int) -> None:
        """A wave arrives; the last one of the workgroup releases all."""
        running.wave.steps.append((running.row, ready, ready, 0))
        self._advance(running, code)
        group = running.group
        group.arrived += 1
        group.parked.append(running)
        running.ready = ready
        self._release_if_complete(group)

    def _release_if_complete(self, group: _Group) -> None:
        if not group.parked or group.arrived < group.alive:
            return
        release = self._round(max(r.ready for r in group.parked) + BARRIER_CYCLES)
        for running in group.parked:
            steps = running.wave.steps
            steps[-1] = (*steps[-1][:3], release)
            self._push(running, release + self.quantum)
        group.arrived = 0
        group.parked = []

    def _barrier_signal(self, running: _Running, code: CodeRow, ready: int) -> int:
        """First half of a split barrier."""
        running.wave.steps.append((running.row, ready, ready, 0))
        self._advance(running, code)
        running.signals += 1
        running.group.signals += 1
        self._open_split_barrier(running.group, ready)
        return ready + self.quantum

    def _open_split_barrier(self, group: _Group, now: int) -> None:
        if group.signals == 0 or group.signals < group.alive:
            return
        group.signals = 0
        group.releases.append(self._round(now + BARRIER_CYCLES))
        for running in group.parked:
            self._push(running, self._pass_barrier(running, running.ready))
        group.parked = []

    def _barrier_wait(self, running: _Running, code: CodeRow, ready: int) -> int | None:
        """Second half: parked until every living wave of the workgroup has signalled."""
        if running.signals > len(running.group.releases):
            running.ready = ready
            running.group.parked.append(running)
            return None
        return self._pass_barrier(running, ready)

    def _pass_barrier(self, running: _Running, ready: int) -> int:
        released = running.group.releases[running.signals - 1] if running.signals else ready
        over = max(ready, released)
        running.wave.steps.append((running.row, ready, over, 0))
        self._advance(running, self.rows[running.row])
        return over + self.quantum

    def _end(self, running: _Running, code: CodeRow, ready: int) -> None:
        if not code.text.startswith("s_endpgm"):
            message = f"the walk reaches {code.text!r} at {code.address:#x}, which is no instruction"
            raise UsageError(message)
        wave, group = running.wave, running.group
        wave.steps.append((running.row, ready, ready, 0))
        wave.end = ready + self._round(END_CYCLES)
        group.alive -= 1
        if group.alive:
            self._release_if_complete(group)
            self._open_split_barrier(group, ready)
            return
        if self.next_workgroup < self.launch.workgroups:
            last = max(r.wave.end for r in group.waves)
            places = [(r.wave.simd, r.wave.slot) for r in group.waves]
            self._start_workgroup(places, last + self._round(RELAUNCH_CYCLES + 100 * self._draw()))
