"""Programs of ranks: what the host threads of an application do, in order, to nanoseconds.

Every cost stands in the operation itself, so that an edited operation changes nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Allocate",
    "Call",
    "Collective",
    "Copy",
    "Free",
    "Graph",
    "Host",
    "Launch",
    "Machine",
    "Operation",
    "Program",
    "Range",
    "Rank",
    "Record",
    "Synchronise",
    "Wait",
    "edited",
    "operations",
    "scaled",
]

CALL_NS, LAG_NS, RETURN_NS = 4_000, 7_000, 5_000


@dataclass(frozen=True)
class Host:
    """Host code between calls; with a name it is recorded as a function of Python."""

    duration_ns: int
    name: str | None = None


@dataclass(frozen=True)
class Range:
    """A marker (MARKER), an operator of a framework (OPERATOR) or a function (PYTHON) around other operations."""

    name: str
    body: tuple[Operation, ...]
    domain: str = "MARKER"


@dataclass(frozen=True)
class Call:
    """A call that waits for nothing: hipSetDevice, hipModuleLoad, ncclCommInitRank, ..."""

    function: str
    call_ns: int = CALL_NS
    arguments: tuple[tuple[str, str, str], ...] = ()
    domain: str = "HIP"


@dataclass(frozen=True)
class Launch:
    """A kernel; it starts `lag_ns` after the begin of the call at the earliest."""

    kernel: str
    duration_ns: int
    stream: int = 0
    call_ns: int = CALL_NS
    lag_ns: int = LAG_NS
    function: str = "hipLaunchKernel"


@dataclass(frozen=True)
class Graph:
    """A graph of kernels, one after another."""

    kernels: tuple[tuple[str, int], ...]
    stream: int = 0
    call_ns: int = 12_000
    lag_ns: int = LAG_NS


@dataclass(frozen=True)
class Copy:
    """A copy (HtoD, DtoH, DtoD); a blocking call returns `return_ns` after its end."""

    direction: str
    size_bytes: int
    duration_ns: int
    is_blocking: bool = False
    stream: int = 0
    call_ns: int = CALL_NS
    lag_ns: int = LAG_NS
    return_ns: int = RETURN_NS


@dataclass(frozen=True)
class Synchronise:
    """Wait for a stream, for a recorded event, or for the GPU (neither)."""

    stream: int | None = None
    event: str | None = None
    call_ns: int = 2_000
    return_ns: int = RETURN_NS


@dataclass(frozen=True)
class Record:
    """hipEventRecord: the event is over when all earlier work of the stream is."""

    event: str
    stream: int = 0
    call_ns: int = 1_000


@dataclass(frozen=True)
class Wait:
    """hipStreamWaitEvent: later work of the stream starts after the event; one never recorded holds up nothing."""

    event: str
    stream: int = 0
    call_ns: int = 1_000


@dataclass(frozen=True)
class Allocate:
    """hipMalloc."""

    name: str
    size_bytes: int
    call_ns: int = 60_000


@dataclass(frozen=True)
class Free:
    """hipFree: it waits for all work of the GPU, then takes `call_ns`."""

    name: str
    call_ns: int = 40_000


@dataclass(frozen=True)
class Collective:
    """A collective of a group: its kernel ends everywhere when the last rank has arrived and the bytes are moved."""

    name: str
    size_bytes: int
    group: str = "0"
    stream: int = 1
    call_ns: int = 9_000
    lag_ns: int = LAG_NS


Operation = Host | Range | Call | Launch | Graph | Copy | Synchronise | Record | Wait | Allocate | Free | Collective


@dataclass(frozen=True)
class Machine:
    """Properties that all GPUs have in common."""

    kernel_gap_ns: int = 0
    """Between two pieces of work of one stream."""
    bus_bytes_per_ns: int = 100
    """Bus bandwidth of collectives, GB/s."""
    collective_latency_ns: int = 20_000

    def service_ns(self, collective: str, size_bytes: int, ranks: int) -> int:
        """Duration of a collective once all have arrived; `size_bytes` as nccl-tests count them.

        Examples
        --------
        >>> Machine(collective_latency_ns=0).service_ns("allreduce", 100_000, 2)
        1000
        """
        moved = 2 * size_bytes * (ranks - 1) if collective == "allreduce" else size_bytes * (ranks - 1)
        return self.collective_latency_ns + moved // (ranks * self.bus_bytes_per_ns)


@dataclass(frozen=True)
class Rank:
    """A process with one GPU."""

    threads: tuple[tuple[Operation, ...], ...]
    node: int = 0
    start_ns: int = 0


@dataclass(frozen=True)
class Program:
    """All ranks, and how far the clock of each node is off."""

    ranks: tuple[Rank, ...]
    machine: Machine = field(default_factory=Machine)
    clock_shifts_ns: tuple[int, ...] = (0,)
    step: str = "ProfilerStep"
    """Markers whose names begin so are steps."""

    def group_of(self, group: str) -> tuple[int, ...]:
        """The ranks that take part in the collectives of a group."""
        return tuple(
            number
            for number, rank in enumerate(self.ranks)
            if any(isinstance(op, Collective) and op.group == group for op in operations(rank))
        )


def operations(rank: Rank) -> list[Operation]:
    """Every operation of a rank, also those inside others.

    Examples
    --------
    >>> len(operations(Rank(((Range("a", (Host(1),)),),))))
    2
    """
    waiting = [op for thread in reversed(rank.threads) for op in reversed(thread)]
    every = []
    while waiting:
        op = waiting.pop()
        every.append(op)
        if isinstance(op, Range):
            waiting.extend(reversed(op.body))
    return every


def edited(program: Program, change: Callable[[int, Operation], Operation]) -> Program:
    """The program with every operation changed as asked; `change` gets the number of the rank.

    Examples
    --------
    >>> program = Program((Rank(((Host(1), Range("a", (Host(1),))),)),))
    >>> slower = edited(program, lambda rank, op: Host(5) if isinstance(op, Host) else op)
    >>> [op.duration_ns for op in operations(slower.ranks[0]) if isinstance(op, Host)]
    [5, 5]
    """

    def body(number: int, ops: tuple[Operation, ...]) -> tuple[Operation, ...]:
        inner = (replace(op, body=body(number, op.body)) if isinstance(op, Range) else op for op in ops)
        return tuple(change(number, op) for op in inner)

    ranks = (
        replace(rank, threads=tuple(body(number, thread) for thread in rank.threads))
        for number, rank in enumerate(program.ranks)
    )
    return replace(program, ranks=tuple(ranks))


def scaled(program: Program, kernel: str, percent: int, ranks: frozenset[int] | None = None) -> Program:
    """The program with a kernel taking that share of its time, in all or some ranks.

    Examples
    --------
    >>> program = Program((Rank(((Launch("gemm", 50),),)),))
    >>> operations(scaled(program, "gemm", 80).ranks[0])[0].duration_ns
    40
    """

    def change(number: int, op: Operation) -> Operation:
        if ranks is not None and number not in ranks:
            return op
        if isinstance(op, Launch) and op.kernel == kernel:
            return replace(op, duration_ns=op.duration_ns * percent // 100)
        if isinstance(op, Graph):
            pairs = tuple((name, ns * percent // 100 if name == kernel else ns) for name, ns in op.kernels)
            return replace(op, kernels=pairs)
        return op

    return edited(program, change)
