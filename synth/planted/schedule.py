"""The machine model's scheduler: the waves of one CU walk a program and share its units. Truth, not analysis.

The wave that is ready first issues first. Every time is a whole number of issue steps (4 cycles on gfx9, 1 on RDNA).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from synth.isa import Kind
from synth.planted.units import Units
from synth.timing import Wave

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from synth.isa import CodeGraph, CodeRow
    from synth.planted.machine import Machine
    from synth.planted.program import Decision
    from synth.planted.units import Conditions

_LOADS = {Kind.GLOBAL_LOAD, Kind.BUFFER_LOAD, Kind.FLAT_LOAD}
_STORES = {Kind.GLOBAL_STORE, Kind.BUFFER_STORE, Kind.FLAT_STORE}
_LDS = {Kind.LDS_LOAD, Kind.LDS_STORE}
_MEMORY = _LOADS | _STORES | _LDS | {Kind.SMEM}
_VECTOR = {Kind.VALU, Kind.VALU_WIDE, Kind.TRANSCENDENTAL, Kind.DOUBLE}
_SCALAR = {Kind.SALU, Kind.SALU_EXEC, Kind.SALU_FLOAT}
_BRANCHES = {Kind.BRANCH, Kind.JUMP}


@dataclass
class _Group:
    """A workgroup on the CU."""

    places: list[tuple[int, int]]
    alive: int = 0
    signals: int = 0
    releases: list[int] = field(default_factory=list)
    parked: list[_Running] = field(default_factory=list)
    last_end: int = 0


@dataclass
class _Running:
    """A wave on its walk."""

    wave: Wave
    group: _Group
    number: int  # of the workgroup's waves
    row: int
    ready: int = 0
    signals: int = 0
    counts: dict[int, int] = field(default_factory=dict)
    outstanding: dict[str, deque[int]] = field(default_factory=dict)
    stores_complete: int = 0


class Scheduler:
    """Runs workgroups on one CU, whose places hold as many at a time as `slots_per_simd` allows."""

    def __init__(self, machine: Machine, code: CodeGraph, decisions: dict[int, Decision], units: Units) -> None:
        self.machine, self.code, self.decisions, self.units = machine, code, decisions, units
        self.quantum = machine.quantum_cycles
        self.waves: list[Wave] = []
        self._heap: list[tuple[int, int, _Running]] = []
        self._pushed = 0
        self._free: dict[tuple[int, str], int] = {}
        self._waiting: deque[int] = deque()

    def run(self, entry: int, workgroups: Sequence[int], waves_per_workgroup: int, slots_per_simd: int) -> list[Wave]:
        """All waves of these workgroups, in the order of their starts."""
        self._entry = self.code.entry_row(entry)
        self._waiting.extend(workgroups)
        machine = self.machine
        places = [(simd, slot) for slot in range(slots_per_simd) for simd in range(machine.simds)]
        first = 0
        while self._waiting and len(places) >= waves_per_workgroup:
            here, places = places[:waves_per_workgroup], places[waves_per_workgroup:]
            self._start(here, first)
            first += 4 * self.quantum + self._round(self.units.conditions.launch_interval_cycles)
        while self._heap:
            _, _, running = heappop(self._heap)
            self._step(running)
        return self.waves

    def _round(self, time: float) -> int:
        return -(-int(time) // self.quantum) * self.quantum

    def _push(self, running: _Running, ready: int) -> None:
        running.ready = ready
        self._pushed += 1
        heappush(self._heap, (ready, self._pushed, running))

    def _start(self, places: list[tuple[int, int]], time: int) -> None:
        workgroup = self._waiting.popleft()
        group = _Group(places, alive=len(places))
        for number, (simd, slot) in enumerate(places):
            wave = Wave(simd, slot, workgroup, time + number * self.quantum)
            self.waves.append(wave)
            running = _Running(wave, group, number, self._entry)
            self._push(running, wave.begin + self._round(self.machine.launch_cycles))

    def _step(self, running: _Running) -> None:
        code = self.code.rows[running.row]
        ready = self._round(self.units.fetched(code.address, running.ready))
        kind = code.kind
        if kind in _MEMORY:
            self._memory(running, code, ready)
        elif kind == Kind.WAIT:
            self._wait(running, code, ready)
        elif kind in _BRANCHES:
            self._branch(running, code, ready)
        elif kind == Kind.IMMED:
            self._immediate(running, code, ready)
        elif kind == Kind.BARRIER:
            self._arrive(running)
            self._park(running, ready)
        elif kind == Kind.BARRIER_SIGNAL:
            self._signal(running, code, ready)
        elif kind == Kind.BARRIER_WAIT:
            self._park(running, ready)
        elif kind == Kind.END:
            self._end(running, ready)
        else:
            self._plain(running, code, ready)

    def _after(self, running: _Running, code: CodeRow, ready: int, issue: int, step: int, extra: int = 0) -> None:
        running.wave.steps.append((running.row, ready, issue, extra))
        running.row = code.next
        self._push(running, issue + step)

    def _issue(self, simd: int, kind: Kind, ready: int) -> int:
        """Time at which the pipes of a SIMD take an instruction."""
        cycles = self.machine.pipe_cycles(kind)
        if kind == Kind.MATRIX and self.machine.family == "gfx9":
            # The matrix pipe is its own; the vector pipe only issues.
            used = [("vector", self.quantum), ("matrix", cycles)]
        elif kind in _VECTOR or kind == Kind.MATRIX:
            used = [("vector", cycles)]
        else:
            used = [("scalar" if kind in _SCALAR else "branch", cycles)]
        issue = max(ready, *(self._free.get((simd, pipe), 0) for pipe, _ in used))
        for pipe, busy in used:
            self._free[simd, pipe] = issue + busy
        return issue

    def _plain(self, running: _Running, code: CodeRow, ready: int) -> None:
        issue = self._issue(running.wave.simd, code.kind, ready)
        self._after(running, code, ready, issue, self.machine.step_cycles(code.kind))

    def _memory(self, running: _Running, code: CodeRow, ready: int) -> None:
        kind, units = code.kind, self.units
        issue_pipe = (running.wave.simd, "scalar load" if kind == Kind.SMEM else "LDS" if kind in _LDS else "memory")
        first = max(ready, self._free.get(issue_pipe, 0))
        if kind == Kind.SMEM:
            issue, complete = units.scalar_load(first)
        elif kind in _LDS:
            issue, complete = units.lds(code.text, first)
        else:
            scratch = code.text.startswith("scratch_")
            issue, complete = units.vector_memory(code.text, first, store=kind in _STORES, scratch=scratch)
        issue, complete = self._round(issue), self._round(complete)
        self._free[issue_pipe] = issue + self.quantum
        for counter in code.counters:
            queue = running.outstanding.setdefault(counter, deque())
            queue.append(max(complete, queue[-1]) if queue else complete)
        if kind in _STORES:
            running.stores_complete = max(running.stores_complete, complete)
        self._after(running, code, ready, issue, self.machine.step_cycles(kind))

    def _wait(self, running: _Running, code: CodeRow, ready: int) -> None:
        over = ready
        for counter, value in code.waits:
            queue = running.outstanding.get(counter, deque())
            while len(queue) > value:
                over = max(over, queue.popleft())
        self._after(running, code, ready, over, self.quantum)

    def _immediate(self, running: _Running, code: CodeRow, ready: int) -> None:
        idle = (code.operand or 0) * self.quantum if code.text.startswith("s_nop") else 0
        self._after(running, code, ready, ready + idle, self.quantum)

    def _branch(self, running: _Running, code: CodeRow, ready: int) -> None:
        count = running.counts.get(running.row, 0)
        running.counts[running.row] = count + 1
        decide = self.decisions.get(code.address)
        is_taken = code.kind == Kind.JUMP or (
            decide is not None and decide(running.wave.workgroup, running.number, count)
        )
        issue = self._issue(running.wave.simd, code.kind, ready)
        running.wave.steps.append((running.row, ready, issue, int(is_taken)))
        running.row = code.target if is_taken else code.next
        later = self.machine.branch_cycles if is_taken else 0
        self._push(running, issue + self.quantum + self._round(later))

    def _arrive(self, running: _Running) -> None:
        running.signals += 1
        running.group.signals += 1

    def _signal(self, running: _Running, code: CodeRow, ready: int) -> None:
        self._arrive(running)
        self._open(running.group, ready)
        self._after(running, code, ready, ready, self.machine.step_cycles(code.kind))

    def _park(self, running: _Running, ready: int) -> None:
        running.ready = ready
        group = running.group
        if running.signals <= len(group.releases):
            self._pass(running)
            return
        group.parked.append(running)
        self._open(group, ready)

    def _open(self, group: _Group, now: int) -> None:
        if group.signals < group.alive or not group.signals:
            return
        group.signals = 0
        group.releases.append(self._round(now + self.machine.barrier_cycles))
        parked, group.parked = group.parked, []
        for running in parked:
            self._pass(running)

    def _pass(self, running: _Running) -> None:
        code = self.code.rows[running.row]
        release = max(running.ready, running.group.releases[running.signals - 1])
        whole = code.kind == Kind.BARRIER  # gfx9 reports the arrival, then the release
        issue, extra = (running.ready, release) if whole else (release, 0)
        running.wave.steps.append((running.row, running.ready, issue, extra))
        running.row = code.next
        self._push(running, release + self.quantum)

    def _end(self, running: _Running, ready: int) -> None:
        """s_endpgm waits for the stores of its wave."""
        wave, group = running.wave, running.group
        drained = max(ready, running.stores_complete)
        wave.steps.append((running.row, ready, drained, 0))
        wave.end = drained + self._round(self.machine.end_cycles)
        group.last_end = max(group.last_end, wave.end)
        group.alive -= 1
        if group.alive == 0 and self._waiting:
            self._start(group.places, group.last_end + self._round(self.machine.relaunch_cycles))


def run_cu(
    machine: Machine,
    code: CodeGraph,
    decisions: dict[int, Decision],
    conditions: Conditions,
    rng: Random,
    *,
    entry: int,
    workgroups: Sequence[int],
    waves_per_workgroup: int,
    slots_per_simd: int,
) -> tuple[list[Wave], int]:
    """The waves of one CU and the bytes that they moved to and from memory."""
    units = Units(machine, conditions, rng, entry)
    waves = Scheduler(machine, code, decisions, units).run(entry, workgroups, waves_per_workgroup, slots_per_simd)
    return waves, units.bytes_moved
