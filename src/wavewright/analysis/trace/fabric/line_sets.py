"""Lines that workgroups touch, together and each of them, and the requests that they make.

The bytes that the first workgroup of a group touches are a few ranges; moved to the others they cover those of all
(`units`). So the lines that an XCD reads are counted without a list of every line. Sets of lines are ranges throughout:
two arrays of starts and ends, apart from each other and in order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from wavewright.analysis.trace.fabric.alike import Alike
from wavewright.analysis.trace.fabric.workgroups import ATOMIC, STORE, Workgroups

_MERGED_AT: Final = 4_000_000  #: Ranges are merged as soon as there are so many of them.
_MOST_RANGES: Final = 16_000_000  #: Ranges after merging: more take more memory than a laptop should need.
_SAMPLES: Final = 32  #: Members of a group whose requests are counted, where they lie differently in their lines.
_MOST_REUSE_WORKGROUPS: Final = 4_096  #: Shared lines are counted of at most so many workgroups,
_MOST_REUSE_LINES: Final = 3_000_000  #: and of at most so many lines of all of them.
_DENSE: Final = 8  #: With at most so many units per range, units are marked one by one.
_PHASE_BYTES: Final = 1 << 56  #: Distance that keeps accesses of different phases apart: more than any buffer has.

Ranges = tuple[np.ndarray, np.ndarray]  #: Starts and ends.


class TooScatteredError(Exception):
    """The touched lines are too many single pieces."""


@dataclass(frozen=True)
class Touched:
    """Bytes of one array that one group of workgroups touches, all of them moved alike."""

    group: Alike
    move: int  #: Row of `Alike.moves`.
    array: int  #: Place of the array in the order of addresses; -1 = below all.
    is_store: bool
    row: int  #: Of the code; -1 = of all rows.
    ranges: Ranges  #: Bytes, of the first workgroup of the group.

    def moves(self, is_chosen: np.ndarray | None) -> np.ndarray:
        """Different moves of the chosen workgroups (by their numbers); None = of all."""
        return self.group.distinct_moves(self.move, is_chosen)

    @cached_property
    def key(self) -> bytes:
        """Equal for equal ranges."""
        return blake2b(b"".join(numbers.tobytes() for numbers in self.ranges)).digest()


def merged(start: np.ndarray, end: np.ndarray) -> Ranges:
    """Ranges that cover the same, apart from each other and in order.

    >>> [list(map(int, each)) for each in merged(np.array([8, 0, 3]), np.array([9, 4, 8]))]
    [[0], [9]]
    """
    if not start.size:
        return start, end
    low = start.min()
    extent = int(end.max() - low)
    if extent <= _DENSE * start.size:  # a mark for each unit is quicker than sorting
        changes = np.bincount(start - low, minlength=extent + 1) - np.bincount(end - low, minlength=extent + 1)
        edges = np.flatnonzero(np.diff(np.cumsum(changes) > 0, prepend=False)) + low
        return edges[::2], edges[1::2]
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    first = np.flatnonzero(np.concatenate(([True], start[1:] > reach[:-1])))
    return start[first], reach[np.append(first[1:], start.size) - 1]


def lane_bytes(
    group: Alike, width_bytes: np.ndarray, numbers: np.ndarray, member: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First byte, end and activity of each lane in executions of a group's first workgroup, or of another member."""
    accesses = group.accesses
    start = accesses.address[numbers]
    if member is not None:
        start = start + group.moves[group.move[numbers], member][:, None]
    return start, start + width_bytes[accesses.row[numbers]][:, None], accesses.active_lanes(numbers)


def touched(
    groups: Sequence[Alike], workgroups: Workgroups, bases: np.ndarray, *, by_row: bool = False
) -> list[Touched]:
    """Bytes that each group touches; `bases`: addresses at which arrays start, in order."""
    parts = []
    for group in groups:
        accesses = group.accesses
        direction = workgroups.direction[accesses.row]
        known_accesses = np.flatnonzero(accesses.is_known & (direction != ATOMIC) & (accesses.active != 0))
        array = np.searchsorted(bases, accesses.first[known_accesses], side="right") - 1
        rows = accesses.row[known_accesses] if by_row else np.full(len(known_accesses), -1)
        keys = np.stack([group.move[known_accesses], array, direction[known_accesses] == STORE, rows])
        distinct_keys, key_number = np.unique(keys, axis=1, return_inverse=True)
        for number, (move, array_number, is_store, row) in enumerate(distinct_keys.T):
            chosen = known_accesses[key_number.ravel() == number]
            start, end, is_active = lane_bytes(group, workgroups.width_bytes, chosen)
            ranges = merged(start[is_active], end[is_active])
            parts.append(Touched(group, int(move), int(array_number), bool(is_store), int(row), ranges))
    return parts


def units(parts: Iterable[Touched], unit: int, is_chosen: np.ndarray | None = None) -> Ranges:
    """Aligned units (lines) of `unit` bytes that the chosen workgroups touch together, as ranges of their numbers.

    Raises `TooScatteredError`.
    """
    starts = [np.zeros(0, np.int64)]
    ends = [np.zeros(0, np.int64)]
    range_count = 0
    for part in parts:
        for start, low, high in _moved(part, unit, part.moves(is_chosen)):
            step = max(1, _MERGED_AT // max(1, start.size))
            for at in range(0, low.size, step):
                starts.append((start[:, None] + low[at : at + step]).ravel())
                ends.append((start[:, None] + high[at : at + step]).ravel())
                range_count += starts[-1].size
                if range_count > _MERGED_AT:
                    both = merged(np.concatenate(starts), np.concatenate(ends))
                    starts, ends, range_count = [both[0]], [both[1]], 0
                    if both[0].size > _MOST_RANGES:
                        raise TooScatteredError
    return merged(np.concatenate(starts), np.concatenate(ends))


def _moved(part: Touched, unit: int, moves: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The units of a part in all moves: each start plus each of the ranges [low, high) that come with it.

    Ranges of one length are moved together: moves that lie closer than the length are one range then.
    """
    offsets = moves % unit  # workgroups that lie alike in their units
    for offset in np.unique(offsets):
        start, end = merged((part.ranges[0] + offset) // unit, -(-(part.ranges[1] + offset) // unit))
        whole_moves = moves[offsets == offset] // unit
        lengths, length_number, counts = np.unique(end - start, return_inverse=True, return_counts=True)
        starts_by_length = np.split(start[np.argsort(length_number, kind="stable")], np.cumsum(counts)[:-1])
        for length, starts in zip(lengths, starts_by_length, strict=True):
            yield starts, *merged(whole_moves, whole_moves + length)


class UnitCounts:
    """Numbers of aligned units that workgroups touch together, each counted once.

    Many XCDs touch the same as another one some lines further on: a digest of ranges and moves finds them.
    """

    def __init__(self) -> None:
        self._cached: dict[bytes, int] = {}

    def count(self, parts: Sequence[Touched], unit: int, is_chosen: np.ndarray | None) -> int:
        """Units of the chosen workgroups; None = of all."""
        moves = [part.moves(is_chosen) for part in parts]
        first = min((int(of_part[0]) for of_part in moves if of_part.size), default=0) // unit * unit
        key = blake2b(str((unit, len(parts))).encode())
        for part, of_part in zip(parts, moves, strict=True):
            key.update(part.key + (of_part - first).tobytes())
        digest = key.digest()
        if digest not in self._cached:
            self._cached[digest] = count(units(parts, unit, is_chosen))
        return self._cached[digest]


def count(ranges: Ranges) -> int:
    """Units in ranges."""
    return int((ranges[1] - ranges[0]).sum())


def by_array(parts: Iterable[Touched], *, is_store: bool) -> dict[int, list[Touched]]:
    """The loads or the stores of each array."""
    arrays: dict[int, list[Touched]] = defaultdict(list)
    for part in parts:
        if part.is_store is is_store:
            arrays[part.array].append(part)
    return dict(sorted(arrays.items()))


class Requests(NamedTuple):
    """Requests of the vector L1 caches to L2."""

    reads: float
    writes: float


def requests(group: Alike, workgroups: Workgroups, line: int, piece: int) -> Requests:
    """Requests of one workgroup of a group, as a mean over members that lie differently in their lines.

    Read are the different lines between two barriers, as if L1 kept them so long; each store writes its pieces.
    """
    accesses = group.accesses
    direction = workgroups.direction[accesses.row]
    is_counted = accesses.is_known & (accesses.active != 0)
    loads = np.flatnonzero(is_counted & (direction != STORE) & (direction != ATOMIC))
    stores = np.flatnonzero(is_counted & (direction == STORE))
    is_aligned = not (group.moves[np.unique(group.move[is_counted])] % line).any() if is_counted.any() else True
    sample_count = 1 if is_aligned else min(_SAMPLES, len(group.numbers))

    def mean(numbers: np.ndarray, phases: np.ndarray, unit: int) -> float:
        """Different units of executions in a phase, added up over the phases."""
        total = 0
        for member in np.linspace(0, len(group.numbers) - 1, sample_count).astype(int):
            start, end, is_active = lane_bytes(group, workgroups.width_bytes, numbers, int(member))
            away = phases[:, None] * (_PHASE_BYTES // unit)
            total += count(merged((start // unit + away)[is_active], (-(-end // unit) + away)[is_active]))
        return total / sample_count

    return Requests(mean(loads, accesses.barriers[loads], line), mean(stores, np.arange(len(stores)), piece))


def workgroup_reuse(
    workgroups: Workgroups, parts: Sequence[Touched], line: int, xcds: np.ndarray, nothing: pl.DataFrame
) -> pl.DataFrame:
    """One row per workgroup, with the shares of its lines that others read; `nothing` where there are too many."""
    loads = [part for part in parts if not part.is_store]
    size = sum(len(part.group.numbers) * int((part.ranges[1] - part.ranges[0]).sum() // line + 1) for part in loads)
    if workgroups.total > _MOST_REUSE_WORKGROUPS or size > _MOST_REUSE_LINES or not loads:
        return nothing
    lines_by_number = {number: [np.zeros(0, np.int64)] for number in range(workgroups.total)}
    for part in loads:
        for number, move in zip(part.group.numbers.tolist(), part.group.moves[part.move].tolist(), strict=True):
            start, end = merged((part.ranges[0] + move) // line, -(-(part.ranges[1] + move) // line))
            lines_by_number[number].append(_numbers(start, end))
    lines = [np.unique(np.concatenate(parts)) for parts in lines_by_number.values()]
    lengths = np.array(list(map(len, lines)))
    numbers = np.arange(workgroups.total)
    columns = {"line": np.concatenate(lines), "number": np.repeat(numbers, lengths), "xcd": np.repeat(xcds, lengths)}
    on_xcd, anywhere = pl.len().over("line", "xcd") > 1, pl.len().over("line") > 1
    sums = (
        pl.DataFrame(columns)
        .with_columns(on_xcd=on_xcd, elsewhere=anywhere & ~on_xcd)
        .group_by("number")
        .agg(shared_share=pl.col("on_xcd").mean(), away_share=pl.col("elsewhere").mean())
    )
    x, y, z = workgroups.ids(numbers)
    table = pl.DataFrame({"number": numbers, "x": x, "y": y, "z": z, "xcd": xcds, "lines_count": lengths})
    return table.join(sums, on="number", how="left", maintain_order="left").with_columns(
        pl.col("shared_share", "away_share").fill_null(0.0)
    )


def _numbers(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The numbers in ranges."""
    sizes = end - start
    return np.repeat(start - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes) + np.arange(int(sizes.sum()))
