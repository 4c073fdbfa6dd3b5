"""Simulated runs as rocprofv3 writes kernel traces as CSV: kernels alone, no launches."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from synth.devices import CPUS
from synth.runs.places import clock_ns, place_of

if TYPE_CHECKING:
    from os import PathLike

    from synth.runs.events import SimulatedRun

__all__ = ["write_csv"]

_COLUMNS = [
    "Kind",
    "Agent_Id",
    "Queue_Id",
    "Stream_Id",
    "Thread_Id",
    "Dispatch_Id",
    "Kernel_Id",
    "Kernel_Name",
    "Correlation_Id",
    "Start_Timestamp",
    "End_Timestamp",
    "LDS_Block_Size",
    "Scratch_Size",
    "VGPR_Count",
    "Accum_VGPR_Count",
    "SGPR_Count",
    "Workgroup_Size_X",
    "Workgroup_Size_Y",
    "Workgroup_Size_Z",
    "Grid_Size_X",
    "Grid_Size_Y",
    "Grid_Size_Z",
]


def write_csv(run: SimulatedRun, folder: str | PathLike[str]) -> list[Path]:
    """Write `rank<number>/<pid>_kernel_trace.csv` for every rank into a folder, which is made if missing."""
    paths = []
    for rank in range(len(run.program.ranks)):
        place, shift = place_of(run, rank), clock_ns(run, rank)
        path = Path(folder) / f"rank{rank}" / f"{place.pid}_kernel_trace.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        kernels: dict[str, int] = {}
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC)
            writer.writerow(_COLUMNS)
            works = [work for work in run.works if work.rank == rank and work.kind != "copy"]
            for number, work in enumerate(works, 1):
                writer.writerow((
                    "KERNEL_DISPATCH", f"Agent {CPUS + place.gpus[0]}", place.queue_of(work.stream), work.stream,
                    place.tids[work.thread], number, kernels.setdefault(work.name, len(kernels) + 1), work.name,
                    work.number, work.start_ns + shift, work.end_ns + shift, 0, 0, 64, 0, 64, 256, 1, 1, 1_048_576, 1,
                    1,
                ))  # fmt: skip
        paths.append(path)
    return paths
