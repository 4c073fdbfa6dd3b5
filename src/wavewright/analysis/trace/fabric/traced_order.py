"""Lines that the vector L1 asks of L2, when a CU makes its accesses in the order in which a trace shows them.

No order of waves is assumed here: the loads of the traced workgroups go through an L1 of the real size one by one, by
the times of their instructions. The answer is a range, because nobody has told how L1 chooses the set of a line, and a
trace does not tell how evenly workgroups fill the CUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.trace.fabric.alike import Alike
from wavewright.analysis.trace.fabric.orders import L1_SETS, ORDERS, Machine, blocks_of_lines, memory_executions
from wavewright.analysis.trace.fabric.workgroups import STORE, Workgroups

_MOST_STEPS: Final = 4_000_000  #: Traces with more instructions are not followed.
TRACED_BY_ASSUMPTION: Final = (
    "assumed: a traced CU got every workgroup that comes to it where they go round XCDs and CUs; "
    "L1 drops the line that was not used for longest, and CUs are filled evenly or not"
)


@dataclass(frozen=True)
class TracedRequests:
    """Lines that L1 asks of L2, mean of a workgroup: least and most over the ways in which L1 may choose sets."""

    workgroup_count: int  #: Traced workgroups that were followed.
    #: If workgroups share a CU as the traced ones do, or if CUs are filled evenly and some have one workgroup only.
    of_dispatch: tuple[float, float]


def traced_requests(workgroups: Workgroups, groups: list[Alike], machine: Machine) -> TracedRequests | None:
    """Requests of traced workgroups.

    None: no workgroup was traced from its start to its end, its waves went another way than those evaluated, the L1 is
    not known, or the trace is too long. Nothing tells which workgroups were traced: those are taken that a CU gets
    where workgroups go round XCDs and CUs.
    """
    waves_of_cus = _waves_of_cus(workgroups)
    if not waves_of_cus or not machine.caches.l1_ways or workgroups.trace.instruction_count > _MOST_STEPS:
        return None
    issues = _numbered(workgroups.trace.instructions.select("wave", "row", "time_cycles", "stall_cycles"))
    together, alone = np.zeros(len(_SET_CHOICES)), np.zeros(len(_SET_CHOICES))
    for cu, waves_of_workgroups in enumerate(waves_of_cus):
        loads_of_cu = []
        for turn, waves in enumerate(waves_of_workgroups):
            number = (turn * machine.cus + cu) * machine.xcds % workgroups.total
            loads = _loads(workgroups, groups, number, waves, issues, machine.caches.line_bytes)
            if loads is None:
                return None
            loads_of_cu.append(loads)
            alone += _requests([loads], machine.caches.l1_ways)
        together += _requests(loads_of_cu, machine.caches.l1_ways)
    count = sum(map(len, waves_of_cus))
    alone_share = _alone_share(workgroups.total, machine)
    filled_evenly = alone_share * alone + (1 - alone_share) * together
    sums = np.concatenate([together, filled_evenly])
    return TracedRequests(count, (float(sums.min()) / count, float(sums.max()) / count))


def _alone_share(workgroup_count: int, machine: Machine) -> float:
    """Share of the workgroups that have a CU for themselves, where all CUs of an XCD get equally many of them."""
    per_cu, fuller_cus = divmod(-(-workgroup_count // machine.xcds), machine.cus)
    alone_count = {0: fuller_cus, 1: machine.cus - fuller_cus}.get(per_cu, 0)  # the fuller ones have one workgroup more
    return alone_count / (per_cu * machine.cus + fuller_cus)


def _waves_of_cus(workgroups: Workgroups) -> list[list[list[int]]]:
    """Of each traced CU: the waves of each of its workgroups that is complete, by the start of the workgroup."""
    size = workgroups.start.wave_count
    waves = workgroups.trace.waves.filter(pl.col("instruction_count") > 0).sort("start_cycles", "wave")
    cus: dict[tuple[int, int], list[tuple[int, list[int]]]] = {}
    # Where the trace has no ids of workgroups, or gives one to several, waves that start one after another are one.
    for (se, cu, _), of_id in waves.group_by("se", "cu", "workgroup", maintain_order=True):
        numbers, starts = of_id["wave"].to_list(), of_id["start_cycles"].to_list()
        complete = [(starts[at], numbers[at : at + size]) for at in range(0, len(numbers) - size + 1, size)]
        cus.setdefault((int(str(se)), int(str(cu))), []).extend(complete)
    return [[numbers for _, numbers in sorted(of_cu)] for of_cu in cus.values() if of_cu]


def _numbered(instructions: pl.DataFrame) -> pl.DataFrame:
    """`wave`, `row`, `turn` (how often the wave executed the row before) and `time` of issue."""
    return instructions.select(
        "wave",
        pl.col("row").cast(pl.Int64),
        turn=pl.int_range(pl.len()).over("wave", "row"),
        time=pl.col("time_cycles") + pl.col("stall_cycles"),
    )


def _loads(
    workgroups: Workgroups, groups: list[Alike], number: int, waves: list[int], issues: pl.DataFrame, line_bytes: int
) -> pl.DataFrame | None:
    """Lines that a workgroup looks up, with the times that traced waves have; None = these went another way."""
    group = next(alike for alike in groups if number in alike.numbers)
    accesses = group.accesses
    executions = memory_executions(group, workgroups.direction)
    loads = executions[workgroups.direction[accesses.row[executions]] != STORE]
    member, is_store = int(np.flatnonzero(group.numbers == number)[0]), np.zeros(len(loads), bool)
    lines, counts = blocks_of_lines(group, loads, is_store, workgroups.width_bytes, line_bytes, line_bytes, member)
    loads_of_waves = pl.DataFrame(
        {"wave": np.array(waves)[accesses.place[loads]], "row": accesses.row[loads].astype(np.int64)},
        schema_overrides={"wave": issues.schema["wave"]},
    ).with_columns(turn=pl.int_range(pl.len()).over("wave", "row"))
    times = loads_of_waves.join(issues, on=["wave", "row", "turn"], how="left", maintain_order="left")
    if times["time"].null_count():
        return None
    return pl.DataFrame({"time": np.repeat(times["time"].to_numpy(), counts), "line": lines})


def _requests(loads: list[pl.DataFrame], ways: int) -> np.ndarray:
    """Lines that L1 does not have, when one CU makes these loads in the order of their times: by choice of sets."""
    lines = pl.concat(loads).sort("time", maintain_order=True)["line"].to_numpy()
    counts = []
    for set_numbers in _SET_CHOICES:
        numbers = set_numbers(lines)
        counts.append(sum(_misses(lines[numbers == number], ways) for number in range(L1_SETS)))
    return np.array(counts, np.float64)


def _misses(lines: np.ndarray, ways: int) -> int:
    """Lines that a set does not have; it drops the one that was not used for longest.

    The core's L2 stands for the set: of one wave, one load a step, in a GPU of one CU without L1 and one set of L2.
    """
    ones = pl.Series(np.ones(len(lines), np.uint32))
    zeros, steps = ones - 1, pl.Series(np.arange(len(lines), dtype=np.uint32))
    first, end = pl.Series([0], dtype=pl.UInt32), pl.Series([1], dtype=pl.UInt32)
    columns = {
        "kind": zeros, "gap": ones, "move": zeros, "first_block": steps, "block_count": ones,
        "line": pl.Series(lines, dtype=pl.Int64), "line_count": ones, "first_step": first,
        "end_step": pl.Series([len(lines)], dtype=pl.UInt32), "first_wave": first, "end_wave": end,
        "kind_of_workgroup": first, "first_move": pl.Series([0], dtype=pl.UInt64), "moves": pl.Series([0]),
    }  # fmt: skip
    single = dict.fromkeys(("xcds", "simulated_xcds", "cus", "residents", "l2_sets"), 1) | {"l2_ways": ways}
    sizes = single | dict.fromkeys(("l1_sets", "l1_ways", "last_level_lines"), 0)
    return _core.simulate_order(columns, sizes, ORDERS["lockstep"]._asdict() | {"seed": 1})["read_misses"]


def _folded(lines: np.ndarray) -> np.ndarray:
    """Set of each line by pairs of its bits: lines side by side fill the sets evenly."""
    bits: np.ndarray = np.bitwise_xor.reduce([lines >> bit for bit in range(0, 14, 2)])
    return bits % L1_SETS


def _hashed(lines: np.ndarray) -> np.ndarray:
    """Set of each line as if by chance: by bits of the product with 2^64 / golden ratio (Fibonacci hashing)."""
    product = lines.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (product >> np.uint64(40)) % np.uint64(L1_SETS)


#: Ways in which L1 may choose the set of a line, between which the truth is taken to lie: nobody has told it.
_SET_CHOICES: Final = (_folded, _hashed)
