"""Simulated runs that say what cannot be: each function damages the events of a run as recorders and users do."""

from __future__ import annotations

import dataclasses
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from synth.runs.events import Region, SimulatedRun

__all__ = ["DAMAGES", "gpu_clock_shifted", "rank_missing", "rank_twice"]


def negative_durations(run: SimulatedRun) -> SimulatedRun:
    """Every 7th kernel and call ends before it begins."""

    def backwards(number: int, start: int, end: int) -> tuple[int, int]:
        return (end, start) if number % 7 == 3 else (start, end)

    return _timed(run, backwards)


def overlapping_kernels(run: SimulatedRun) -> SimulatedRun:
    """Every 5th kernel lasts half as long again, into the next of its stream."""
    works = [
        work._replace(end_ns=work.end_ns + (work.end_ns - work.start_ns) // 2) if number % 5 == 2 else work
        for number, work in enumerate(run.works)
    ]
    return dataclasses.replace(run, works=works)


def waits_in_a_circle(run: SimulatedRun) -> SimulatedRun:
    """Streams wait for events that are recorded only later, behind the work that waits."""
    records: dict[int, list[tuple[int, str]]] = {}
    regions = []
    for number, region in enumerate(run.regions):
        if region.name == "hipEventRecord":  # every record has another event
            handle = hex(0x7F20_0001_0000 + 64 * number)
            records.setdefault(region.rank, []).append((region.start_ns, handle))
            regions.append(_with_argument(region, "event", handle))
        else:
            regions.append(region)
    for number, region in enumerate(regions):
        if region.name == "hipStreamWaitEvent":
            later = [handle for start, handle in records.get(region.rank, []) if start > region.start_ns]
            if later:
                regions[number] = _with_argument(region, "event", later[min(1, len(later) - 1)])
    return dataclasses.replace(run, regions=regions)


def kernels_before_their_launch(run: SimulatedRun) -> SimulatedRun:
    """Every 6th kernel runs before the call that launched it: clocks of CPU and GPU disagree."""
    calls = {(region.rank, region.number): region.start_ns for region in run.regions}
    works = []
    for number, work in enumerate(run.works):
        start = calls[work.rank, work.number] - 3_000
        length = min(work.end_ns - work.start_ns, 2_000)
        works.append(work._replace(start_ns=start, end_ns=start + length) if number % 6 == 1 else work)
    return dataclasses.replace(run, works=works)


def clock_jump(run: SimulatedRun) -> SimulatedRun:
    """In the middle the clock of rank 0 jumps back by a third of the run."""
    middle, jump = run.start_ns + run.span_ns // 2, run.span_ns // 3

    works, regions = list(run.works), list(run.regions)
    for number, work in enumerate(works):
        if work.rank == 0 and work.start_ns >= middle:
            works[number] = work._replace(start_ns=work.start_ns - jump, end_ns=work.end_ns - jump)
    for number, region in enumerate(regions):
        if region.rank == 0 and region.start_ns >= middle:
            regions[number] = region._replace(start_ns=region.start_ns - jump, end_ns=region.end_ns - jump)
    return dataclasses.replace(run, works=works, regions=regions)


def fewer_collectives(run: SimulatedRun) -> SimulatedRun:
    """The last rank lacks its first two collectives: its recording began late."""
    last = len(run.program.ranks) - 1
    is_lost = {id(work) for work in [w for w in run.works if w.rank == last and w.kind == "communication"][:2]}
    return dataclasses.replace(run, works=[work for work in run.works if id(work) not in is_lost])


def far_times(run: SimulatedRun) -> SimulatedRun:
    """A kernel and a call of every rank are at the ends of 64-bit time."""
    works = [
        work._replace(start_ns=-(2**62), end_ns=2**62 - 1) if number % 40 == 11 else work
        for number, work in enumerate(run.works)
    ]
    return dataclasses.replace(run, works=works)


DAMAGES: dict[str, Callable[[SimulatedRun], SimulatedRun]] = {
    "negative durations": negative_durations,
    "overlapping kernels": overlapping_kernels,
    "waits in a circle": waits_in_a_circle,
    "kernels before their launch": kernels_before_their_launch,
    "clock jump": clock_jump,
    "fewer collectives": fewer_collectives,
    "far times": far_times,
}
"""Name -> what damages the events of a run."""


def gpu_clock_shifted(run: SimulatedRun, shift_ns: int) -> SimulatedRun:
    """The clock of the GPUs is ahead of that of the CPUs, or behind it if negative."""
    works = [work._replace(start_ns=work.start_ns + shift_ns, end_ns=work.end_ns + shift_ns) for work in run.works]
    return dataclasses.replace(run, works=works)


def rank_missing(folder: Path) -> None:
    """Remove the file of the last rank."""
    max(folder.iterdir()).unlink()


def rank_twice(folder: Path) -> None:
    """Copy the file of the first rank."""
    first = min(folder.iterdir())
    shutil.copy(first, first.with_name(f"again_{first.name}"))


def _timed(run: SimulatedRun, change: Callable[[int, int, int], tuple[int, int]]) -> SimulatedRun:
    works, regions = [], []
    for number, work in enumerate(run.works):
        start, end = change(number, work.start_ns, work.end_ns)
        works.append(work._replace(start_ns=start, end_ns=end))
    for number, region in enumerate(run.regions):
        start, end = region.start_ns, region.end_ns
        if region.domain == "HIP":
            start, end = change(number, start, end)
        regions.append(region._replace(start_ns=start, end_ns=end))
    return dataclasses.replace(run, works=works, regions=regions)


def _with_argument(region: Region, name: str, value: str) -> Region:
    arguments = tuple((kind, other, value if other == name else old) for kind, other, old in region.arguments)
    return region._replace(arguments=arguments)
