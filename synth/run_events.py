"""Events of a synthetic run, in the words of no file format: calls, dispatches, copies, ..."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from synth.devices import CPUS

if TYPE_CHECKING:
    from synth.workload import Workload

__all__ = ["Allocation", "Call", "Copy", "Dispatch", "Mark", "Monitor", "Place", "Step", "place_of"]

HOUR_NS = 3_600_000_000_000
HARDWARE_QUEUES = 4


class Call(NamedTuple):
    """A call or a marker range on a thread; `text` is that of a marker."""

    correlation: int
    parent: int
    thread: int
    category: str
    function: str
    text: str | None
    start_ns: int
    end_ns: int
    arguments: tuple[tuple[str, str, str], ...] = ()
    """Type, name and value of each argument."""
    frames: tuple[str, ...] = ()
    """Call stack, innermost first."""


class Dispatch(NamedTuple):
    """A kernel on a GPU; `correlation` is that of the call that launched it."""

    correlation: int
    thread: int
    gpu: int
    queue: int
    stream: int
    kernel: int
    number: int
    start_ns: int
    end_ns: int
    phase: str
    counters: tuple[tuple[int, int, int], ...] = ()
    """Counter, instance and value."""
    graph_exec: int = 0
    graph_node: int = 0


class Copy(NamedTuple):
    """A copy; agents by their index on the node."""

    correlation: int
    thread: int
    direction: str
    source: int
    destination: int
    queue: int
    stream: int
    start_ns: int
    end_ns: int
    size_bytes: int


class Allocation(NamedTuple):
    """An allocation or release of memory."""

    correlation: int
    parent: int
    thread: int
    gpu: int
    type: str
    level: str
    start_ns: int
    end_ns: int
    address: int
    size_bytes: int


class Mark(NamedTuple):
    """A moment that the application named."""

    correlation: int
    parent: int
    thread: int
    text: str
    time_ns: int


class Monitor(NamedTuple):
    """A measured quantity of a GPU over a stretch of time."""

    gpu: int
    name: str
    start_ns: int
    end_ns: int
    value: int


@dataclass
class Step:
    """Events of one rank in one iteration."""

    calls: list[Call] = field(default_factory=list)
    dispatches: list[Dispatch] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    allocations: list[Allocation] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    monitors: list[Monitor] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """A rank's process: where it runs and as what."""

    rank: int
    node: int
    local_rank: int
    hostname: str
    machine_id: str
    pid: int
    tids: tuple[int, ...]
    guid: str
    gpus: tuple[int, ...]
    """GPUs that the rank uses, as numbers among the GPUs of the node."""
    start_ns: int
    clock_shift_ns: int
    command: str
    environment: dict[str, str]

    def gpu_of(self, stream: int) -> int:
        """The GPU of a stream (stream 1 is the first)."""
        return self.gpus[(stream - 1) % len(self.gpus)]

    def agent_of(self, stream: int) -> int:
        """The agent index of the GPU of a stream."""
        return CPUS + self.gpu_of(stream)

    @staticmethod
    def queue_of(stream: int) -> int:
        """The hardware queue of a stream; streams share them."""
        return 1 + (stream - 1) % HARDWARE_QUEUES


def place_of(workload: Workload, rank: int) -> Place:
    """The process of a rank.

    Examples
    --------
    >>> from synth.workload import Workload
    >>> place = place_of(Workload(ranks=4, nodes=2, gpus=4), rank=3)
    >>> place.hostname, place.gpus
    ('node001', (1, 3))
    """
    node, local = rank % workload.nodes, rank // workload.nodes
    local_ranks = len(range(node, workload.ranks, workload.nodes))
    gpus = tuple(range(local, workload.gpus, local_ranks)) or (local % workload.gpus,)
    pid = 4000 if workload.same_pids else 4000 + 64 * rank
    digits = hashlib.sha256(f"{workload.seed}/{rank}".encode()).hexdigest()
    hostname = f"node{node:03d}"
    return Place(
        rank=rank,
        node=node,
        local_rank=local,
        hostname=hostname,
        machine_id=hashlib.sha256(hostname.encode()).hexdigest()[:32],
        pid=pid,
        tids=(pid, *(pid + 7 + thread for thread in range(1, workload.threads))),
        guid=f"0000{digits[:4]}-{digits[4:8]}-7{digits[8:11]}-a{digits[11:14]}-{digits[14:26]}",
        gpus=gpus,
        start_ns=300 * HOUR_NS + node * workload.clock_offset_ns,
        clock_shift_ns=node * workload.clock_offset_ns,
        command=f"python3 train.py --rank {rank} --layers 32",
        environment={
            "HOSTNAME": hostname,
            "OMPI_COMM_WORLD_RANK": str(rank),
            "OMPI_COMM_WORLD_SIZE": str(workload.ranks),
            "OMPI_COMM_WORLD_LOCAL_RANK": str(local),
            "LD_LIBRARY_PATH": "/opt/rocm/lib",
            "API_TOKEN": f"secret-of-rank-{rank}",
        },
    )
