"""Simulated runs as ROCpd databases, one per rank."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from synth.databases import new_databases
from synth.devices import CPUS
from synth.rocpd import RocpdTables, create_views
from synth.run_events import Allocation, Call, Copy, Dispatch, Place, Step
from synth.run_truth import RankTruth
from synth.runs.places import clock_ns, place_of
from synth.simulate import HIP, RANGE, RCCL
from synth.workload import Kernel

if TYPE_CHECKING:
    from os import PathLike

    from synth.runs.events import Region, SimulatedRun

__all__ = ["kernels_of", "step_of", "write_rocpd"]

_CATEGORIES = {"HIP": HIP, "RCCL": RCCL, "MARKER": RANGE, "OPERATOR": RANGE}
_DIRECTIONS = {
    "HtoD": "MEMORY_COPY_HOST_TO_DEVICE",
    "DtoH": "MEMORY_COPY_DEVICE_TO_HOST",
    "DtoD": "MEMORY_COPY_DEVICE_TO_DEVICE",
}
_WORKGROUP, _GRID = (256, 1, 1), (1_048_576, 1, 1)


@dataclass(frozen=True)
class _Setup:
    kernels: tuple[Kernel, ...]
    gpus: int
    streams: int
    target: str = "gfx942"
    counters: int = 0


@dataclass(frozen=True)
class _Recorded:
    place: Place
    workload: _Setup
    truth: RankTruth


def write_rocpd(run: SimulatedRun, folder: str | PathLike[str], *, schema: str = "3") -> list[Path]:
    """Write `rank<number>_results.db` for every rank into a folder, which is made if missing.

    Markers and operators become ROCTx ranges; functions of Python are only in the call stacks of calls.
    """
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    paths = [directory / f"rank{rank}_results.db" for rank in range(len(run.program.ranks))]
    with new_databases(paths) as opened:
        for rank, path in enumerate(paths):
            place = place_of(run, rank)
            names: dict[str, int] = {}
            step = step_of(run, rank, place, names)
            times = [call.start_ns for call in step.calls] + [call.end_ns for call in step.calls]
            truth = RankTruth(start_ns=min(times, default=None), end_ns=max(times, default=None))
            streams = max([4, *(work.stream for work in run.works)])
            gpus = max(sum(other.node == place.node for other in run.program.ranks), 1)
            tables = RocpdTables(
                opened[path], _Recorded(place, _Setup(kernels_of(names), gpus, streams), truth), schema
            )
            tables.add(step)
            tables.finish()
            create_views(opened[path], schema, [place.guid])
    return paths


def step_of(run: SimulatedRun, rank: int, place: Place, names: dict[str, int]) -> Step:
    """All that a rank did, on its clock; `names` get the numbers of the kernels."""
    shift, gpu = clock_ns(run, rank), place.gpus[0]
    step = Step()
    regions = [region for region in run.regions if region.rank == rank]
    parents = {region.number: region for region in regions}
    for region in regions:
        if region.domain in _CATEGORIES:
            is_range = _CATEGORIES[region.domain] == RANGE
            step.calls.append(
                Call(
                    region.number,
                    _recorded_parent(region, parents),
                    region.thread,
                    _CATEGORIES[region.domain],
                    "roctxThreadRangeA" if is_range else region.name,
                    region.name if is_range else None,
                    region.start_ns + shift,
                    region.end_ns + shift,
                    region.arguments,
                    region.frames,
                )
            )
    for work in (work for work in run.works if work.rank == rank):
        start, end, queue = work.start_ns + shift, work.end_ns + shift, place.queue_of(work.stream)
        if work.kind == "copy":
            source = 0 if work.name == "HtoD" else CPUS + gpu
            destination = 0 if work.name == "DtoH" else CPUS + gpu
            direction = _DIRECTIONS[work.name]
            step.copies.append(
                Copy(work.number, work.thread, direction, source, destination, queue, work.stream, start, end,
                     work.size_bytes)
            )  # fmt: skip
            continue
        kernel = names.setdefault(work.name, len(names))
        step.dispatches.append(
            Dispatch(work.number, work.thread, gpu, queue, work.stream, kernel, len(step.dispatches) + 1, start, end,
                     "", (), int(work.graph_node > 0), work.graph_node)
        )  # fmt: skip
    step.allocations += [
        Allocation(row.number, parents[row.number].parent, row.thread, gpu, "FREE" if row.is_release else "ALLOC",
                   "REAL", row.start_ns + shift, row.end_ns + shift, row.address, row.size_bytes)
        for row in run.memory
        if row.rank == rank
    ]  # fmt: skip
    return step


def kernels_of(names: dict[str, int]) -> tuple[Kernel, ...]:
    """Kernels of these names."""
    return tuple(Kernel(name, 0.0, 0.0, 1, _WORKGROUP, _GRID, 0, 0, 64, 64, 0) for name in names)


def _recorded_parent(region: Region, parents: dict[int, Region]) -> int:
    """The nearest region around it that the database has; 0 = none."""
    number = region.parent
    while number and parents[number].domain not in _CATEGORIES:
        number = parents[number].parent
    return number
