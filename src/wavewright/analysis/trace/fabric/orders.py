"""Misses of caches of limited size, for orders of waves between two extremes: an interval, never one number.

A CU that lets the oldest wave go first asks for least, waves in lockstep ask for most. The core simulates; here the
work of one XCD is put together, and what it misses is compared with a cache that loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from wavewright import _core
from wavewright.analysis.trace.fabric.alike import Alike
from wavewright.analysis.trace.fabric.line_sets import lane_bytes
from wavewright.analysis.trace.fabric.workgroups import ATOMIC, STORE
from wavewright.facts.gpus.chiplets import CacheFacts

_LANES: Final = 64
_GROUP_LANES: Final = 16  #: That the vector L1 looks up together.
L1_SETS: Final = 4
_MOST_LOOKUPS: Final = 8_000_000  #: Of L1 by the workgroups of an XCD; of more workgroups a part is simulated,
_LOOKUPS_OF_PART: Final = 2_000_000  #: with so many lookups.
_MOST_KINDS: Final = 64  #: Ways in which workgroups lie in their lines.
_FULL_CACHES: Final = 4  #: Times that a part of the workgroups must fill L2, so that it says something about all.
#: Depth of the queue of a CU (0 = lockstep), steps that CUs start apart, and whether lines of L1 are kept.
ORDERS: Final = {"oldest first": (1, 0.0), "queues": (32, 0.0), "lockstep": (0, 0.0), "drift": (0, 12.0)}


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
    """The work of a dispatch as the core takes it."""

    steps: dict[str, pl.Series]
    kind_of: np.ndarray  #: By workgroup.
    first_move: np.ndarray
    lookups: np.ndarray  #: Of L1, by kind.

    def lookups_of(self, machine: Machine, order: np.ndarray) -> np.ndarray:
        """Lookups of L1 on one XCD until each of the workgroups has ended."""
        return np.cumsum(self.lookups[self.kind_of[order]]) // machine.xcds

    def columns(self, order: np.ndarray, *, is_stepped: bool) -> dict[str, pl.Series]:
        """Columns of the core for workgroups in the order in which they are launched."""
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
        way = direction[accesses.row]
        numbers = memory_executions(group, direction)
        blocks, of_execution = blocks_of_lines(group, numbers, way[numbers] == STORE, width_bytes, line, piece)
        steps, waves = _steps(group, numbers, way, of_execution)
        steps["first_block"] += counts["blocks"]
        kind_of[group.numbers] = len(lookups)
        move_count = len(group.moves)
        first_move[group.numbers] = counts["moves"] + np.arange(len(group.numbers)) * move_count
        parts = {
            **steps,
            "line": blocks,
            "line_count": np.ones(len(blocks), np.int64),
            "first_step": waves[:-1] + counts["steps"],
            "end_step": waves[1:] + counts["steps"],
            "first_wave": np.array([counts["waves"]]),
            "end_wave": np.array([counts["waves"] + len(waves) - 1]),
            "moves": (group.moves // line).T.ravel(),
        }
        for name, part in parts.items():
            tables.setdefault(name, []).append(part)
        counts["steps"] += len(steps["kind"])
        counts["blocks"] += len(blocks)
        counts["waves"] += len(waves) - 1
        counts["moves"] += move_count * len(group.numbers)
        lookups.append(len(blocks))
    columns = {
        name: pl.Series(np.concatenate(each), dtype=pl.Int64 if name in ("line", "moves") else pl.UInt32)
        for name, each in tables.items()
    }
    return MemoryWork(columns, kind_of, first_move, np.array(lookups))


def _by_alignment(groups: Sequence[Alike], line: int) -> Iterator[Alike]:
    """The groups, cut until the workgroups of each lie alike in their lines."""
    for group in groups:
        used = np.unique(group.move)
        rests = group.moves[used] % line
        if not rests.any():
            yield group
            continue
        kinds, kind = np.unique(rests, axis=1, return_inverse=True)
        for number, offset in enumerate(kinds.T):
            members = np.flatnonzero(kind.ravel() == number)
            reach = np.zeros(len(group.moves), np.int64)
            reach[used] = offset
            address = group.accesses.address + reach[group.move][:, None]
            moves = group.moves[:, members] - reach[:, None]
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
    """Lines that executions look up, and how many each does: of loads once per 16 lanes, of stores once per piece.

    Of the first workgroup of the group, or of one of its members.
    """
    begin, end, active = lane_bytes(group, width_bytes, numbers, member)
    last = end - 1
    unit = np.where(is_store, piece, line)[:, None]
    lane_group = np.where(is_store[:, None], 0, np.arange(_LANES) // _GROUP_LANES)
    turn = (np.arange(len(numbers))[:, None] * (_LANES // _GROUP_LANES) + lane_group)[active]
    units, number = np.unique(np.concatenate([(begin // unit)[active], (last // unit)[active]]), return_inverse=True)
    keys = np.unique(np.concatenate([turn, turn]) * len(units) + number)
    execution = keys // max(1, len(units)) // (_LANES // _GROUP_LANES)
    size = np.where(is_store, piece, line)[execution]
    return units[keys % max(1, len(units))] * size // line, np.bincount(execution, minlength=len(numbers))


def _steps(
    group: Alike, numbers: np.ndarray, way: np.ndarray, block_counts: np.ndarray
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Accesses and barriers of the waves, one wave behind the other, and where each wave starts."""
    accesses = group.accesses
    rows: list[tuple[int, int, int, int, int]] = []
    starts = [0]
    firsts = np.concatenate(([0], np.cumsum(block_counts)))
    places = accesses.place[numbers]
    for place in range(int(accesses.place.max()) + 1 if len(accesses.place) else 1):
        barriers, position = 0, 0
        for at in np.flatnonzero(places == place):
            execution = numbers[at]
            while barriers < accesses.barriers[execution]:
                rows.append((2, 1, 0, 0, 0))
                barriers += 1
            gap = max(1, int(accesses.position[execution]) - position)
            position = int(accesses.position[execution])
            kind = int(way[execution] == STORE)
            rows.append((kind, gap, int(group.move[execution]), int(firsts[at]), int(block_counts[at])))
        starts.append(len(rows))
    names = ("kind", "gap", "move", "first_block", "block_count")
    table = np.array(rows, np.int64).reshape(-1, len(names))
    return {name: table[:, at].copy() for at, name in enumerate(names)}, np.array(starts)


def interval(
    work: MemoryWork, machine: Machine, order: np.ndarray, names: Sequence[str] = tuple(ORDERS)
) -> Interval | None:
    """Bounds of what orders of waves change for workgroups launched in an order; None = it would take too long."""
    lookups = work.lookups_of(machine, order)
    limit = _MOST_LOOKUPS if lookups[-1] <= _MOST_LOOKUPS else _LOOKUPS_OF_PART
    most = int(np.searchsorted(lookups, limit, side="right"))
    if most < min(len(order), machine.xcds * machine.cus):
        return None
    launched_first = order[:most]
    least = _simulated(work, machine, launched_first, 0, 0.0, is_limited=False)
    touched_lines = least["read_misses"] + least["write_misses"]
    caches = machine.caches
    is_part = len(launched_first) < len(order)
    if not least["read_misses"] or (is_part and touched_lines * caches.line_bytes < _FULL_CACHES * caches.l2_bytes):
        return None
    runs = [_simulated(work, machine, launched_first, *ORDERS[name]) for name in names]
    refetched_shares = [run["read_misses"] / least["read_misses"] - 1 for run in runs]
    rates = [1 - (run["read_misses"] + run["write_misses"]) / max(1, run["reads"] + run["writes"]) for run in runs]
    return Interval(
        (max(0.0, min(refetched_shares)), max(refetched_shares)),
        (min(rates), max(rates)),
        len(launched_first),
        None if is_part else _from_hbm(work, machine, launched_first),
    )


def _from_hbm(work: MemoryWork, machine: Machine, order: np.ndarray) -> tuple[int, int] | None:
    """Lines that come from HBM: all XCDs share one Infinity Cache; None = not asked."""
    if not machine.last_level_lines or work.lookups_of(machine, order)[-1] * machine.xcds > _MOST_LOOKUPS:
        return None
    runs = [_simulated(work, machine, order, *ORDERS[name], xcds=machine.xcds) for name in ("lockstep", "drift")]
    lines = [run["last_level_misses"] for run in runs]
    return min(lines), max(lines)


def _simulated(
    work: MemoryWork,
    machine: Machine,
    order: np.ndarray,
    depth: int,
    drift: float,
    *,
    xcds: int = 1,
    is_limited: bool = True,
) -> _core.OrderMisses:
    """Misses of the first XCDs; one stands for all."""
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
    columns = work.columns(order, is_stepped=not depth)
    return _core.simulate_order(columns, sizes, {"depth": depth, "drift": drift, "seed": 1})
