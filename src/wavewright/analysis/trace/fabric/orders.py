"""Lines that caches of limited size miss, when the workgroups of a dispatch are launched in some order.

The answer is an interval, because nobody knows in which order CUs serve their waves: a CU that lets the oldest wave go
first asks L2 for least, waves in lockstep ask for most. `work_of` makes the steps of all waves from groups of
workgroups that do the same (`alike`), `interval` lets the native core simulate one XCD in several orders of waves, and
compares the misses with those of a cache that loses nothing. How near this comes to counters:
docs/reference/traffic.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.trace.fabric.alike import Alike
from wavewright.analysis.trace.fabric.line_sets import lane_bytes
from wavewright.analysis.trace.fabric.workgroups import ATOMIC, STORE
from wavewright.facts.gpus.chiplets import CacheFacts

_LANES: Final = 64  #: Addresses of an execution, as the evaluator returns them.
_GROUP_LANES: Final = 16  #: Lanes that the vector L1 looks up together.
_LANE_GROUPS: Final = _LANES // _GROUP_LANES
L1_SETS: Final = 4  #: Bytes of L1 / (bytes of a line x ways): 32 KiB / (128 x 64) on gfx942 and gfx950.
_MOST_LOOKUPS: Final = 8_000_000  #: Lookups of L1 by the workgroups of an XCD. Of more, only the first are simulated,
_LOOKUPS_OF_PART: Final = 2_000_000  #: up to this many lookups.
_MOST_KINDS: Final = 64  #: Ways in which workgroups lie in their lines, at most.
_FULL_CACHES: Final = 4  #: The first workgroups stand for all only if they touch so many times the bytes of L2.
_LOAD, _STORE, _BARRIER = range(3)  # cpp/include/wavewright/cache_orders.hpp: StepKind


class WaveOrder(NamedTuple):
    """An order in which CUs serve their waves (`Order` of cache_orders.hpp)."""

    depth: int  #: Memory instructions that a CU takes in order, then those of the oldest wave; 0 = lockstep.
    drift: float  #: Of lockstep: steps by which CUs start apart at most.


ORDERS: Final = {
    "oldest first": WaveOrder(depth=1, drift=0.0),
    "queues": WaveOrder(depth=32, drift=0.0),
    "lockstep": WaveOrder(depth=0, drift=0.0),
    "drift": WaveOrder(depth=0, drift=12.0),  # fitted to published rates, see docs/reference/traffic.md
}
#: The orders of waves that lose most lines of L2.
EXTREMES: Final = ("lockstep", "drift")


@dataclass(frozen=True)
class Machine:
    """The caches of the GPU and its limits on waves."""

    caches: CacheFacts
    xcds: int
    cus: int  #: Of an XCD.
    residents: int  #: Workgroups of a CU at a time.
    last_level_lines: int = 0  #: Of the Infinity Cache, where not everything fits; 0 = HBM is not asked about.


@dataclass(frozen=True)
class Interval:
    """Bounds of what orders of waves change."""

    refetched_share: tuple[float, float]  #: Lines read again, of those that a cache without limits reads.
    hit_rate: tuple[float, float]  #: Of L2.
    simulated_count: int  #: Workgroups.
    hbm_lines: tuple[int, int] | None  #: Of the whole dispatch, that the Infinity Cache misses; None = not asked.


@dataclass(frozen=True)
class MemoryWork:
    """The work of a dispatch as the core takes it (`Work` of cache_orders.hpp). Workgroups of a kind do the same."""

    steps: dict[str, pl.Series]  #: Columns of steps, lines, waves, kinds and moves, one after the other.
    kind_of: np.ndarray  #: By workgroup: its kind,
    first_move: np.ndarray  #: and the place of its first move in the column `moves`.
    lookups: np.ndarray  #: Of L1, by kind.

    def lookups_of(self, machine: Machine, order: np.ndarray) -> np.ndarray:
        """Lookups of L1 on one XCD until each of the workgroups has ended."""
        return np.cumsum(self.lookups[self.kind_of[order]]) // machine.xcds

    def columns(self, order: np.ndarray, *, is_stepped: bool) -> dict[str, pl.Series]:
        """Columns of the core for workgroups in the order in which they are launched.

        `is_stepped`: waves in lockstep make one access a step, however many instructions stand between two.
        """
        gap = pl.Series(np.ones(len(self.steps["gap"]), np.uint32)) if is_stepped else self.steps["gap"]
        workgroups = {
            "kind_of_workgroup": pl.Series(self.kind_of[order], dtype=pl.UInt32),
            "first_move": pl.Series(self.first_move[order], dtype=pl.UInt64),
        }
        return self.steps | workgroups | {"gap": gap}


def work_of(
    groups: Sequence[Alike], direction: np.ndarray, width_bytes: np.ndarray, caches: CacheFacts, total: int
) -> MemoryWork | None:
    """The work of all workgroups; None = they lie in too many ways in their lines, or some are not known."""
    line, piece = caches.line_bytes, caches.write_request_bytes or caches.line_bytes
    if sum(len(group.numbers) for group in groups) < total:
        return None
    tables: dict[str, list[np.ndarray]] = {}
    kind_of, first_move = np.zeros(total, np.uint32), np.zeros(total, np.uint64)
    counts = dict.fromkeys(("steps", "blocks", "waves", "moves"), 0)
    lookups: list[int] = []
    for group in _by_alignment(groups, line):
        if len(lookups) == _MOST_KINDS:
            return None
        accesses = group.accesses
        directions = direction[accesses.row]
        numbers = memory_executions(group, direction)
        blocks, of_execution = blocks_of_lines(group, numbers, directions[numbers] == STORE, width_bytes, line, piece)
        steps, wave_starts = _steps(group, numbers, directions, of_execution)
        steps["first_block"] += counts["blocks"]
        kind_of[group.numbers] = len(lookups)
        move_count, wave_count = len(group.moves), len(wave_starts) - 1
        first_move[group.numbers] = counts["moves"] + np.arange(len(group.numbers)) * move_count
        parts = {
            **steps,
            "line": blocks,
            "line_count": np.ones(len(blocks), np.int64),
            "first_step": wave_starts[:-1] + counts["steps"],
            "end_step": wave_starts[1:] + counts["steps"],
            "first_wave": np.array([counts["waves"]]),
            "end_wave": np.array([counts["waves"] + wave_count]),
            "moves": (group.moves // line).T.ravel(),
        }
        for name, part in parts.items():
            tables.setdefault(name, []).append(part)
        counts["steps"] += len(steps["kind"])
        counts["blocks"] += len(blocks)
        counts["waves"] += wave_count
        counts["moves"] += move_count * len(group.numbers)
        lookups.append(len(blocks))
    columns = {
        name: pl.Series(np.concatenate(arrays), dtype=pl.Int64 if name in ("line", "moves") else pl.UInt32)
        for name, arrays in tables.items()
    }
    return MemoryWork(columns, kind_of, first_move, np.array(lookups))


def _by_alignment(groups: Sequence[Alike], line: int) -> Iterator[Alike]:
    """The groups, cut until members are moved by whole lines: then all of them look up equally many lines.

    The part of a move that is no whole line goes into the addresses of the new group.
    """
    for group in groups:
        used_moves = np.unique(group.move)
        rests = group.moves[used_moves] % line
        if not rests.any():
            yield group
            continue
        distinct_rests, rest_of_member = np.unique(rests, axis=1, return_inverse=True)
        for number, rest in enumerate(distinct_rests.T):
            members = np.flatnonzero(rest_of_member.ravel() == number)
            rest_of_move = np.zeros(len(group.moves), np.int64)
            rest_of_move[used_moves] = rest
            address = group.accesses.address + rest_of_move[group.move][:, None]
            moves = group.moves[:, members] - rest_of_move[:, None]
            yield Alike(group.numbers[members], replace(group.accesses, address=address), group.move, moves)


def memory_executions(group: Alike, direction: np.ndarray) -> np.ndarray:
    """Executions whose addresses are known, but for atomics."""
    accesses = group.accesses
    return np.flatnonzero(accesses.is_known & (direction[accesses.row] != ATOMIC) & (accesses.active != 0))


def blocks_of_lines(
    group: Alike,
    numbers: np.ndarray,
    is_store: np.ndarray,
    width_bytes: np.ndarray,
    line: int,
    piece: int,
    member: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Lines that executions look up, and how many each does: loads a line once per 16 lanes, stores each piece once.

    Of the first workgroup of the group, or of one of its members.
    """
    start, end, active = lane_bytes(group, width_bytes, numbers, member)
    size = np.where(is_store, piece, line)
    unit_bytes, last = size[:, None], end - 1
    lane_group = np.where(is_store[:, None], 0, np.arange(_LANES) // _GROUP_LANES)
    turn = (np.arange(len(numbers))[:, None] * _LANE_GROUPS + lane_group)[active]
    touched_units = np.concatenate([(start // unit_bytes)[active], (last // unit_bytes)[active]])
    units, unit_number = np.unique(touched_units, return_inverse=True)
    # Each lookup, a pair of turn and unit, as one integer: so the lanes of a turn look up each of their units once.
    lookups = np.unique(np.concatenate([turn, turn]) * len(units) + unit_number)
    turn_of_lookup, unit_of_lookup = np.divmod(lookups, max(1, len(units)))
    execution = turn_of_lookup // _LANE_GROUPS
    lines = units[unit_of_lookup] * size[execution] // line
    return lines, np.bincount(execution, minlength=len(numbers))


class _MemoryStep(NamedTuple):
    """A memory access or a barrier of a wave (`Step` of cache_orders.hpp)."""

    kind: int
    gap: int  #: Instructions since the step before.
    move: int  #: The move of the workgroup that moves its lines.
    first_block: int
    block_count: int


def _steps(
    group: Alike, numbers: np.ndarray, directions: np.ndarray, block_counts: np.ndarray
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Accesses and barriers of the waves, one wave behind the other, and where each wave starts."""
    accesses = group.accesses
    steps: list[_MemoryStep] = []
    starts = [0]
    first_blocks = np.concatenate(([0], np.cumsum(block_counts)))
    places = accesses.place[numbers]
    for place in range(int(accesses.place.max()) + 1 if len(accesses.place) else 1):
        barriers, position = 0, 0
        for at in np.flatnonzero(places == place):
            execution = numbers[at]
            while barriers < accesses.barriers[execution]:
                steps.append(_MemoryStep(_BARRIER, gap=1, move=0, first_block=0, block_count=0))
                barriers += 1
            gap = max(1, int(accesses.position[execution]) - position)
            position = int(accesses.position[execution])
            kind = _STORE if directions[execution] == STORE else _LOAD
            blocks = int(first_blocks[at]), int(block_counts[at])
            steps.append(_MemoryStep(kind, gap, int(group.move[execution]), *blocks))
        starts.append(len(steps))
    table = np.array(steps, np.int64).reshape(-1, len(_MemoryStep._fields))
    return {name: table[:, at].copy() for at, name in enumerate(_MemoryStep._fields)}, np.array(starts)


def interval(
    work: MemoryWork, machine: Machine, order: np.ndarray, names: Sequence[str] = tuple(ORDERS)
) -> Interval | None:
    """Bounds of what orders of waves change for workgroups launched in an order.

    None: fewer workgroups than CUs can be simulated in time, those that can do not fill L2 often enough to say
    something about all, or nothing is read.
    """
    lookups = work.lookups_of(machine, order)
    limit = _MOST_LOOKUPS if lookups[-1] <= _MOST_LOOKUPS else _LOOKUPS_OF_PART
    simulated_count = int(np.searchsorted(lookups, limit, side="right"))
    if simulated_count < min(len(order), machine.xcds * machine.cus):
        return None
    launched_first = order[:simulated_count]
    least = _simulated(work, machine, launched_first, ORDERS["lockstep"], is_limited=False)
    touched_bytes = (least["read_misses"] + least["write_misses"]) * machine.caches.line_bytes
    is_part = simulated_count < len(order)
    if not least["read_misses"] or (is_part and touched_bytes < _FULL_CACHES * machine.caches.l2_bytes):
        return None
    runs = [_simulated(work, machine, launched_first, ORDERS[name]) for name in names]
    refetched_shares = [run["read_misses"] / least["read_misses"] - 1 for run in runs]
    rates = [1 - (run["read_misses"] + run["write_misses"]) / max(1, run["reads"] + run["writes"]) for run in runs]
    return Interval(
        (max(0.0, min(refetched_shares)), max(refetched_shares)),
        (min(rates), max(rates)),
        simulated_count,
        None if is_part else _from_hbm(work, machine, launched_first),
    )


def _from_hbm(work: MemoryWork, machine: Machine, order: np.ndarray) -> tuple[int, int] | None:
    """Lines that come from HBM, with all XCDs simulated, which share one Infinity Cache; None = not asked."""
    if not machine.last_level_lines or work.lookups_of(machine, order)[-1] * machine.xcds > _MOST_LOOKUPS:
        return None
    runs = [_simulated(work, machine, order, ORDERS[name], xcds=machine.xcds) for name in EXTREMES]
    lines = [run["last_level_misses"] for run in runs]
    return min(lines), max(lines)


def _simulated(
    work: MemoryWork,
    machine: Machine,
    order: np.ndarray,
    wave_order: WaveOrder,
    *,
    xcds: int = 1,
    is_limited: bool = True,
) -> _core.OrderMisses:
    """Misses of the first XCDs, of which one stands for all; unless caches are limited, L2 loses nothing."""
    caches = machine.caches
    has_l1 = is_limited and bool(caches.l1_bytes and caches.l1_ways)
    sizes: dict[str, Any] = {
        "xcds": machine.xcds,
        "simulated_xcds": xcds,
        "cus": machine.cus,
        "residents": machine.residents,
        "last_level_lines": machine.last_level_lines if xcds == machine.xcds else 0,
        "l1_sets": L1_SETS if has_l1 else 0,
        "l1_ways": caches.l1_ways if has_l1 else 0,
        "l2_sets": caches.l2_bytes // caches.line_bytes // caches.l2_ways if is_limited else 0,
        "l2_ways": caches.l2_ways if is_limited else 0,
    }
    columns = work.columns(order, is_stepped=not wave_order.depth)
    return _core.simulate_order(columns, sizes, wave_order._asdict() | {"seed": 1})
