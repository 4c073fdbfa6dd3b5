"""A launch on the machine model: which CU gets which workgroups, and what a trace of one shader engine would show."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from synth.isa import code_graph
from synth.planted.schedule import run_cu
from synth.planted.units import Conditions
from synth.random_numbers import seeded

if TYPE_CHECKING:
    from synth.isa import CodeGraph, Kind
    from synth.planted.machine import Machine
    from synth.planted.program import Program
    from synth.timing import Wave


@dataclass(frozen=True)
class Launch:
    """A kernel, its grid (workgroups of one shader engine) and the conditions under which it runs."""

    program: Program
    workgroups: int
    waves_per_workgroup: int
    slots_per_simd: int  #: What registers and LDS leave room for.
    conditions: Conditions = field(default_factory=Conditions)


@dataclass(frozen=True)
class Execution:
    """Events on one shader engine; times are cycles, 0 is the start of the dispatch."""

    machine: Machine
    launch: Launch
    code: CodeGraph = field(repr=False)
    waves: dict[int, list[Wave]] = field(repr=False)  #: By CU; the steps of untraced waves are empty.
    bytes_moved: int  #: By the shader engine.

    @property
    def traced_waves(self) -> list[Wave]:
        """Waves whose instructions the trace holds."""
        machine = self.machine
        return [wave for wave in self.waves.get(machine.traced_cu, ()) if wave.simd in machine.traced_simds]

    @property
    def traced_cycles(self) -> int:
        """Makespan of the traced waves."""
        return _makespan(self.traced_waves)

    @property
    def dispatch_cycles(self) -> int:
        """Makespan of the dispatch."""
        return _makespan([wave for waves in self.waves.values() for wave in waves])

    @property
    def instruction_count(self) -> int:
        """Instructions in the trace."""
        return sum(len(wave.steps) for wave in self.traced_waves)

    @property
    def memory_peak_share(self) -> float:
        """Achieved bytes per cycle over the peak of the CUs of this shader engine."""
        machine = self.machine
        peak = machine.memory_peak_bytes_per_cycle * machine.cus
        return self.bytes_moved / self.dispatch_cycles / peak

    def pipe_use_share(self, kind: Kind) -> float:
        """Share of the time of the traced SIMDs in which the pipe of a kind of instruction was occupied."""
        rows, waves = self.code.rows, self.traced_waves
        count = sum(rows[row].kind == kind for wave in waves for row, *_ in wave.steps)
        simds = len({wave.simd for wave in waves})
        return count * self.machine.pipe_cycles(kind) / (simds * self.traced_cycles)


def _makespan(waves: list[Wave]) -> int:
    return max(wave.end for wave in waves) - min(wave.begin for wave in waves)


def execute(machine: Machine, launch: Launch, seed: int = 0) -> Execution:
    """Run a launch.

    Workgroup i goes to CU i modulo the number of CUs, as a dispatcher does while all CUs are alike. CUs with equally
    many workgroups do the same at the same time up to jitter: one of them is run, the others are copies of it without
    instructions.
    """
    image = launch.program.image
    code = code_graph(image.listing, machine.family)
    numbers = {cu: range(cu, launch.workgroups, machine.cus) for cu in range(machine.cus)}
    waves: dict[int, list[Wave]] = {}
    like: dict[int, tuple[list[Wave], int]] = {}
    bytes_moved = 0
    for cu in sorted(numbers, key=lambda cu: cu != machine.traced_cu):  # the traced one first
        count = len(numbers[cu])
        if not count:
            continue
        if count not in like:
            like[count] = run_cu(
                machine, code, launch.program.decisions, launch.conditions, seeded(seed, count), entry=image.entry,
                workgroups=numbers[cu], waves_per_workgroup=launch.waves_per_workgroup,
                slots_per_simd=launch.slots_per_simd,
            )  # fmt: skip
        cu_waves, moved = like[count]
        bytes_moved += moved
        if cu == machine.traced_cu:
            waves[cu] = [wave if wave.simd in machine.traced_simds else replace(wave, steps=[]) for wave in cu_waves]
        else:
            later = machine.quantum_cycles * cu
            waves[cu] = [replace(wave, steps=[], begin=wave.begin + later, end=wave.end + later) for wave in cu_waves]
    return Execution(machine, launch, code, waves, bytes_moved)
