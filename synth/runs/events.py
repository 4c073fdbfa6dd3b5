"""Events of a simulated run, on one true clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from synth.runs.program import Program

__all__ = ["Meeting", "Memory", "Region", "SimulatedRun", "Work"]


class Region(NamedTuple):
    """A call, a marker, an operator or a function on a thread."""

    rank: int
    thread: int
    number: int
    """Correlation id, unique in its rank."""
    parent: int
    """The region around it; 0 = none."""
    domain: str
    """HIP, RCCL, MARKER, OPERATOR or PYTHON."""
    name: str
    start_ns: int
    end_ns: int
    arguments: tuple[tuple[str, str, str], ...] = ()
    frames: tuple[str, ...] = ()
    """Functions around it, innermost first."""


class Work(NamedTuple):
    """A kernel, a collective or a copy on a stream."""

    rank: int
    thread: int
    stream: int
    number: int
    """Correlation id: the region that launched it."""
    kind: str
    """kernel, communication or copy."""
    name: str
    start_ns: int
    end_ns: int
    size_bytes: int = 0
    group: str = ""
    sequence: int = -1
    graph_node: int = 0
    """Position in its graph, from 1; 0 = launched alone."""


class Memory(NamedTuple):
    """An allocation or a release."""

    rank: int
    thread: int
    number: int
    is_release: bool
    address: int
    size_bytes: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Meeting:
    """A collective over ranks."""

    group: str
    sequence: int
    name: str
    size_bytes: int
    starts_ns: dict[int, int]
    """By rank."""
    end_ns: int

    @property
    def last_rank(self) -> int:
        """The rank that arrived last."""
        return max(self.starts_ns, key=lambda rank: (self.starts_ns[rank], -rank))

    @property
    def waits_ns(self) -> dict[int, int]:
        """Time that each rank waited for the last."""
        last = max(self.starts_ns.values())
        return {rank: last - start for rank, start in self.starts_ns.items()}


@dataclass(frozen=True)
class SimulatedRun:
    """The events of a program and the truth about it."""

    program: Program
    regions: list[Region] = field(default_factory=list)
    works: list[Work] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    meetings: list[Meeting] = field(default_factory=list)

    @cached_property
    def start_ns(self) -> int:
        """Begin of the first event."""
        return min([*(region.start_ns for region in self.regions), *(work.start_ns for work in self.works)])

    @cached_property
    def end_ns(self) -> int:
        """End of the last event."""
        return max([*(region.end_ns for region in self.regions), *(work.end_ns for work in self.works)])

    @property
    def span_ns(self) -> int:
        """From the first begin to the last end, over all ranks."""
        return self.end_ns - self.start_ns

    def steps_ns(self, rank: int) -> list[int]:
        """Durations of the steps of a rank, by their markers."""
        return [
            region.end_ns - region.start_ns
            for region in sorted(self.regions, key=lambda region: region.start_ns)
            if region.rank == rank and region.domain == "MARKER" and region.name.startswith(self.program.step)
        ]

    def busy_ns(self, rank: int, start_ns: int | None = None, end_ns: int | None = None) -> int:
        """Time in which the GPU of a rank had work, of the whole run or between two times."""
        total, reached = 0, self.start_ns if start_ns is None else start_ns
        until = self.end_ns if end_ns is None else end_ns
        for work in sorted((work for work in self.works if work.rank == rank), key=lambda work: work.start_ns):
            end = min(work.end_ns, until)
            total += max(0, end - max(work.start_ns, reached))
            reached = max(reached, end)
        return total
