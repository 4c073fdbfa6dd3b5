"""Places of the ranks of a simulated run, and their clocks."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from synth.run_events import Place

if TYPE_CHECKING:
    from synth.runs.events import SimulatedRun

__all__ = ["EPOCH_NS", "clock_ns", "place_of"]

EPOCH_NS = 100_000_000_000_000
"""What the clock of node 0 shows at the start."""


def clock_ns(run: SimulatedRun, rank: int) -> int:
    """Offset from true times to the clock of a rank's node."""
    node, shifts = run.program.ranks[rank].node, run.program.clock_shifts_ns
    return EPOCH_NS + (shifts[node] if node < len(shifts) else 0)


def place_of(run: SimulatedRun, rank: int) -> Place:
    """The process of a rank."""
    program = run.program
    node = program.ranks[rank].node
    local = sum(other.node == node for other in program.ranks[:rank])
    hostname = f"node{node:03d}"
    digits = hashlib.sha256(f"{rank}/{len(run.regions)}/{run.span_ns}".encode()).hexdigest()
    pid = 5000 + 64 * rank
    return Place(
        rank=rank,
        node=node,
        local_rank=local,
        hostname=hostname,
        machine_id=hashlib.sha256(hostname.encode()).hexdigest()[:32],
        pid=pid,
        tids=tuple(pid + 7 * thread for thread in range(len(program.ranks[rank].threads))),
        guid=f"0000{digits[:4]}-{digits[4:8]}-7{digits[8:11]}-a{digits[11:14]}-{digits[14:26]}",
        gpus=(local,),
        start_ns=clock_ns(run, rank),
        clock_shift_ns=clock_ns(run, rank) - EPOCH_NS,
        command=f"python3 train.py --rank {rank}",
        environment={
            "HOSTNAME": hostname,
            "OMPI_COMM_WORLD_RANK": str(rank),
            "OMPI_COMM_WORLD_SIZE": str(len(program.ranks)),
            "OMPI_COMM_WORLD_LOCAL_RANK": str(local),
        },
    )
