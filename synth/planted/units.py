"""Units that the waves of a CU share: pipes, queues, the memory server and the instruction cache."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    from synth.planted.machine import Machine

_WIDTHS = (
    (re.compile(r"_(dwordx4|b128|b128_e32)\b"), 16),
    (re.compile(r"_(dwordx2|b64)\b"), 8),
    (re.compile(r"_(ushort|short|u16|b16|d16\w*)\b"), 2),
    (re.compile(r"_(ubyte|byte|u8|b8)\b"), 1),
)
_USUAL_BYTES = 4
_LINE_BYTES = 64
_L1_BYTES_PER_CYCLE = 64
_LEAST_VMEM_CYCLES = {64: 16, 32: 4}  # by lanes: four addresses per cycle on gfx9, eight on RDNA


def bytes_per_lane(text: str) -> int:
    """Bytes that one lane of a memory instruction moves.

    >>> bytes_per_lane("global_load_dwordx4 v[0:3], v[4:5], off")
    16
    """
    mnemonic = text.split(" ", 1)[0]
    return next((size for pattern, size in _WIDTHS if pattern.search(mnemonic)), _USUAL_BYTES)


@dataclass
class Queue:
    """Room for so many instructions in flight; the next one has to wait for the first that completes."""

    depth: int
    _complete: list[int] = field(default_factory=list)

    def free_from(self, time: int) -> int:
        """Time at which there is room for one more, not before `time`; takes the place of the one that leaves."""
        if len(self._complete) < self.depth:
            return time
        return max(time, heappop(self._complete))

    def enter(self, complete: int) -> None:
        """An instruction is in flight until `complete`."""
        heappush(self._complete, complete)


@dataclass
class Conditions:
    """Conditions that a planted cause changes: everything else is the machine's."""

    load_latency_cycles: int = 500
    store_latency_cycles: int | None = None
    lds_conflicts: int = 1  #: How often the LDS has to serve an access instead of once.
    cold_code: bool = False  #: Nobody ran this kernel before.
    jitter_cycles: int = 24
    launch_interval_cycles: int = 0  #: Between the starts of workgroups of a CU, beyond the dispatcher's pace.


class Units:
    """The shared units of one CU or WGP."""

    def __init__(self, machine: Machine, conditions: Conditions, rng: Random, entry: int) -> None:
        self.machine = machine
        self.conditions = conditions
        self.rng = rng
        self.memory_queue, self.lds_queue = Queue(machine.memory_queue), Queue(machine.lds_queue)
        self.memory_free = self.lds_free = self.address_free = 0.0
        self.bytes_moved = 0
        self._lines = {entry // _LINE_BYTES: 0}  # the launch brings the first line

    def _jitter(self) -> int:
        return self.rng.randrange(self.conditions.jitter_cycles + 1)

    def fetched(self, address: int, time: int) -> int:
        """Time at which the instruction at an address is there."""
        if not self.conditions.cold_code:
            return time
        line = address // _LINE_BYTES
        if line not in self._lines:
            self._lines[line] = time + self.machine.fetch_miss_cycles + self._jitter()
        return max(time, self._lines[line])

    def vector_memory(self, text: str, ready: int, *, store: bool, scratch: bool) -> tuple[int, int]:
        """(issue, complete) of a vector memory instruction: queue, address unit, memory, way back."""
        machine = self.machine
        size = bytes_per_lane(text) * machine.lanes
        issue = self.memory_queue.free_from(ready)
        busy = max(_LEAST_VMEM_CYCLES[machine.lanes], size // _L1_BYTES_PER_CYCLE)
        self.address_free = max(self.address_free, issue) + busy
        if scratch:
            complete = ceil(self.address_free) + machine.scratch_latency_cycles
        else:
            self.bytes_moved += size
            self.memory_free = max(self.memory_free, self.address_free) + size / machine.memory_bytes_per_cycle
            complete = ceil(self.memory_free) + self._memory_latency(store=store)
        complete += self._jitter()
        self.memory_queue.enter(complete)
        return issue, complete

    def _memory_latency(self, *, store: bool) -> int:
        if not store:
            return self.conditions.load_latency_cycles
        chosen = self.conditions.store_latency_cycles
        return self.machine.store_latency_cycles if chosen is None else chosen

    def lds(self, text: str, ready: int) -> tuple[int, int]:
        """(issue, complete) of an LDS access; conflicts multiply the cycles that it occupies the LDS."""
        machine = self.machine
        issue = self.lds_queue.free_from(ready)
        cycles = ceil(bytes_per_lane(text) * machine.lanes / machine.lds_bytes_per_cycle)
        self.lds_free = max(self.lds_free, issue) + cycles * self.conditions.lds_conflicts
        complete = ceil(self.lds_free) + machine.lds_latency_cycles
        self.lds_queue.enter(complete)
        return issue, complete

    def scalar_load(self, ready: int) -> tuple[int, int]:
        """(issue, complete) of a scalar load."""
        return ready, ready + self.machine.scalar_load_cycles + self._jitter()
