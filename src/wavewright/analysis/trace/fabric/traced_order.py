"""Requests of the vector L1 to L2 in the order in which a trace shows the accesses of a CU: no scheduler is assumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.trace.fabric.alike import Alike
from wavewright.analysis.trace.fabric.orders import L1_SETS, Machine, blocks_of_lines, memory_executions
from wavewright.analysis.trace.fabric.workgroups import STORE, Workgroups

_MOST_STEPS: Final = 4_000_000  #: Instructions of the traced waves.
Bounds = tuple[float, float]
TRACED_BY_ASSUMPTION: Final = (
    "assumed: a traced CU got every workgroup that comes to it where they go round XCDs and CUs; "
    "L1 drops the line that was not used for longest, and CUs are filled evenly or not"
)


@dataclass(frozen=True)
class TracedRequests:
    """Lines that L1 asks of L2, mean of a workgroup, least and most."""

    workgroup_count: int  #: That were traced.
    together: Bounds  #: Of all workgroups of a traced CU, in the traced order; the sets of L1 may be chosen so or so.
    alone: Bounds  #: If each of them had the CU for itself.
    of_dispatch: Bounds  #: Where CUs are filled evenly, some may have one workgroup only.


def traced_requests(workgroups: Workgroups, groups: list[Alike], machine: Machine) -> TracedRequests | None:
    """Requests of traced workgroups; None = none was traced from its start to its end, or its L1 is not known.

    Nothing tells which workgroups were traced: those are taken that a CU gets where workgroups go round XCDs and CUs.
    """
    of_cus = _workgroups_of_cus(workgroups)
    if not of_cus or not machine.caches.l1_ways or workgroups.trace.instruction_count > _MOST_STEPS:
        return None
    instructions = _numbered(workgroups.trace.instructions.select("wave", "row", "time_cycles", "stall_cycles"))
    together, alone = np.zeros(len(_SETS)), np.zeros(len(_SETS))
    for cu, members in enumerate(of_cus):
        accesses = []
        for turn, waves in enumerate(members):
            number = (turn * machine.cus + cu) * machine.xcds % workgroups.total
            loads = _accesses(workgroups, groups, number, waves, instructions, machine)
            if loads is None:
                return None
            accesses.append(loads)
            alone += _requests([loads], machine)
        together += _requests(accesses, machine)
    count = sum(map(len, of_cus))
    each, more = divmod(-(-workgroups.total // machine.xcds), machine.cus)
    by_itself = more if each == 0 else machine.cus - more if each == 1 else 0
    share = by_itself / (each * machine.cus + more)
    evenly = share * alone + (1 - share) * together
    bounds = [
        (float(sums.min()) / count, float(sums.max()) / count)
        for sums in (together, alone, np.concatenate([together, evenly]))
    ]
    return TracedRequests(count, *bounds)


def _workgroups_of_cus(workgroups: Workgroups) -> list[list[list[int]]]:
    """Of each traced CU: the waves of its workgroups, one workgroup after the other."""
    size = workgroups.start.wave_count
    waves = workgroups.trace.waves.filter(pl.col("instruction_count") > 0).sort("start_cycles", "wave")
    cus: dict[tuple[int, int], list[tuple[int, list[int]]]] = {}
    for (se, cu, _), of_workgroup in waves.group_by("se", "cu", "workgroup", maintain_order=True):
        numbers, starts = of_workgroup["wave"].to_list(), of_workgroup["start_cycles"].to_list()
        members = [(starts[at], numbers[at : at + size]) for at in range(0, len(numbers) - size + 1, size)]
        cus.setdefault((int(str(se)), int(str(cu))), []).extend(members)
    return [[members for _, members in sorted(each)] for each in cus.values() if each]


def _numbered(instructions: pl.DataFrame) -> pl.DataFrame:
    """With `turn`: executions of the row by the wave before."""
    return instructions.select(
        "wave",
        pl.col("row").cast(pl.Int64),
        turn=pl.int_range(pl.len()).over("wave", "row"),
        time=pl.col("time_cycles") + pl.col("stall_cycles"),
    )


def _accesses(
    workgroups: Workgroups, groups: list[Alike], number: int, waves: list[int], instructions: pl.DataFrame, at: Machine
) -> pl.DataFrame | None:
    """Lookups of a workgroup with their times; None = its waves went another way than traced ones."""
    group = next(each for each in groups if number in each.numbers)
    accesses = group.accesses
    loads = memory_executions(group, workgroups.direction)
    loads = loads[workgroups.direction[accesses.row[loads]] != STORE]
    member, line = int(np.flatnonzero(group.numbers == number)[0]), at.caches.line_bytes
    lines, counts = blocks_of_lines(
        group, loads, np.zeros(len(loads), bool), workgroups.width_bytes, line, line, member
    )
    executions = pl.DataFrame(
        {"wave": np.array(waves)[accesses.place[loads]], "row": accesses.row[loads].astype(np.int64)},
        schema_overrides={"wave": instructions.schema["wave"]},
    ).with_columns(turn=pl.int_range(pl.len()).over("wave", "row"))
    times = executions.join(instructions, on=["wave", "row", "turn"], how="left", maintain_order="left")
    if times["time"].null_count():
        return None
    return pl.DataFrame({"time": np.repeat(times["time"].to_numpy(), counts), "line": lines})


def _requests(accesses: list[pl.DataFrame], machine: Machine) -> np.ndarray:
    """Lines that L1 does not have, when one CU makes these accesses in the order of their times, by way of its sets."""
    lines = pl.concat(accesses).sort("time", maintain_order=True)["line"].to_numpy()
    ways = machine.caches.l1_ways or 0
    numbers = (set_numbers(lines) for set_numbers in _SETS)
    return np.array(
        [sum(_misses(lines[number == each], ways) for each in range(L1_SETS)) for number in numbers], np.float64
    )


def _misses(lines: np.ndarray, ways: int) -> int:
    """Lines that a set does not have; it drops the one that was not used for longest."""
    ones = pl.Series(np.ones(len(lines), np.uint32))
    zeros, steps = ones - 1, pl.Series(np.arange(len(lines), dtype=np.uint32))
    first, end = pl.Series([0], dtype=pl.UInt32), pl.Series([1], dtype=pl.UInt32)
    columns = {
        "kind": zeros, "gap": ones, "move": zeros, "first_block": steps, "block_count": ones,
        "line": pl.Series(lines, dtype=pl.Int64), "line_count": ones, "first_step": first,
        "end_step": pl.Series([len(lines)], dtype=pl.UInt32), "first_wave": first, "end_wave": end,
        "kind_of_workgroup": first, "first_move": pl.Series([0], dtype=pl.UInt64), "moves": pl.Series([0]),
    }  # fmt: skip
    of_one = dict.fromkeys(("xcds", "simulated_xcds", "cus", "residents", "l2_sets"), 1) | {"l2_ways": ways}
    sizes = of_one | dict.fromkeys(("l1_sets", "l1_ways", "last_level_lines"), 0)
    return _core.simulate_order(columns, sizes, {"depth": 0, "drift": 0.0, "seed": 1})["read_misses"]


def _folded(lines: np.ndarray) -> np.ndarray:
    """Sets that lines side by side fill evenly."""
    bits: np.ndarray = np.bitwise_xor.reduce([lines >> bit for bit in range(0, 14, 2)])
    return bits % L1_SETS


def _hashed(lines: np.ndarray) -> np.ndarray:
    """Sets by chance."""
    product = lines.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (product >> np.uint64(40)) % np.uint64(L1_SETS)


_SETS: Final = (_folded, _hashed)  #: Nobody has told how the vector L1 chooses.
