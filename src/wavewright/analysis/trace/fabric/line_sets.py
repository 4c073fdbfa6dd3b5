"""Lines that workgroups touch: ranges of bytes of the first workgroup of a group, moved to those of the others.

From them follow the lines that XCDs read, the requests of the L1 caches, and how much workgroups share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Final

import numpy as np
import polars as pl

from wavewright.analysis.trace.fabric.alike import Alike
from wavewright.analysis.trace.fabric.workgroups import ATOMIC, STORE, Workgroups

_MERGED_AT: Final = 4_000_000  #: Ranges that are put together before they are merged.
_MOST_RANGES: Final = 16_000_000  #: That stay apart: more memory than a laptop should need.
_SAMPLES: Final = 32  #: Workgroups whose requests are counted where they lie differently in their lines.
_MOST_REUSE_WORKGROUPS: Final = 4_096  #: Up to which the lines that each of them shares are counted.
_MOST_REUSE_LINES: Final = 3_000_000  #: Of all workgroups together.
_DENSE: Final = 8  #: Units for each range, at most, that are marked one by one.
_AWAY: Final = 1 << 56  #: Keeps lines of different parts of a workgroup's time apart.

Ranges = tuple[np.ndarray, np.ndarray]  #: Starts and ends.


class TooScatteredError(Exception):
    """The touched lines are too many single pieces."""


@dataclass(frozen=True)
class Touched:
    """Bytes of one array that one group of workgroups touches, all of them moved alike."""

    group: Alike
    move: int
    array: int
    is_store: bool
    row: int  #: Of the code; -1 = of all rows.
    ranges: Ranges  #: Of the first workgroup of the group.

    def moves(self, members: np.ndarray | None) -> np.ndarray:
        """Different moves of the chosen workgroups; None = all."""
        return self.group.distinct_moves(self.move, members)

    @cached_property
    def key(self) -> bytes:
        """Equal for equal ranges."""
        return blake2b(b"".join(each.tobytes() for each in self.ranges)).digest()


def merged(begin: np.ndarray, end: np.ndarray) -> Ranges:
    """Ranges that cover the same, apart from each other and in order.

    >>> [list(map(int, each)) for each in merged(np.array([8, 0, 3]), np.array([9, 4, 8]))]
    [[0], [9]]
    """
    if not begin.size:
        return begin, end
    low = begin.min()
    if (extent := int(end.max() - low)) <= _DENSE * begin.size:  # a mark for each unit is quicker than sorting
        changes = np.bincount(begin - low, minlength=extent + 1) - np.bincount(end - low, minlength=extent + 1)
        edges = np.flatnonzero(np.diff(np.cumsum(changes) > 0, prepend=False)) + low
        return edges[::2], edges[1::2]
    order = np.argsort(begin, kind="stable")
    begin, reach = begin[order], np.maximum.accumulate(end[order])
    first = np.flatnonzero(np.concatenate(([True], begin[1:] > reach[:-1])))
    return begin[first], reach[np.append(first[1:], begin.size) - 1]


def lane_bytes(
    group: Alike, width_bytes: np.ndarray, numbers: np.ndarray, member: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First byte, end and activity of each lane in some executions of a group's first workgroup or of another one."""
    accesses = group.accesses
    begin = accesses.address[numbers]
    if member is not None:
        begin = begin + group.moves[group.move[numbers], member][:, None]
    return begin, begin + width_bytes[accesses.row[numbers]][:, None], accesses.active_lanes(numbers)


def touched(
    groups: Sequence[Alike], workgroups: Workgroups, bases: np.ndarray, *, by_row: bool = False
) -> list[Touched]:
    """Lines that each group touches; `bases`: addresses at which arrays start, in order."""
    parts = []
    for group in groups:
        accesses = group.accesses
        way = workgroups.direction[accesses.row]
        known_accesses = np.flatnonzero(accesses.is_known & (way != ATOMIC) & (accesses.active != 0))
        array = np.searchsorted(bases, accesses.first[known_accesses], side="right") - 1
        rows = accesses.row[known_accesses] if by_row else np.full(len(known_accesses), -1)
        keys = np.stack([group.move[known_accesses], array, way[known_accesses] == STORE, rows])
        kinds, kind = np.unique(keys, axis=1, return_inverse=True)
        for number, (move, its_array, is_store, row) in enumerate(kinds.T):
            chosen = known_accesses[kind.ravel() == number]
            begin, end, is_active = lane_bytes(group, workgroups.width_bytes, chosen)
            ranges = merged(begin[is_active], end[is_active])
            parts.append(Touched(group, int(move), int(its_array), bool(is_store), int(row), ranges))
    return parts


def units(parts: Iterable[Touched], unit: int, members: np.ndarray | None = None) -> Ranges:
    """Aligned units (lines) that the chosen workgroups touch together, as ranges of their numbers."""
    begins = [np.zeros(0, np.int64)]
    ends = [np.zeros(0, np.int64)]
    range_count = 0
    for part in parts:
        for begin, first, last in _moved(part, unit, part.moves(members)):
            step = max(1, _MERGED_AT // max(1, begin.size))
            for at in range(0, first.size, step):
                begins.append((begin[:, None] + first[at : at + step]).ravel())
                ends.append((begin[:, None] + last[at : at + step]).ravel())
                range_count += begins[-1].size
                if range_count > _MERGED_AT:
                    both = merged(np.concatenate(begins), np.concatenate(ends))
                    begins, ends, range_count = [both[0]], [both[1]], 0
                    if both[0].size > _MOST_RANGES:
                        raise TooScatteredError
    return merged(np.concatenate(begins), np.concatenate(ends))


def _moved(part: Touched, unit: int, moves: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Starts of ranges of units, and ranges to add to each: moves that overlap are one."""
    offsets = moves % unit
    for offset in np.unique(offsets):
        begin, end = merged((part.ranges[0] + offset) // unit, -(-(part.ranges[1] + offset) // unit))
        whole_moves = moves[offsets == offset] // unit
        lengths, kind, sizes = np.unique(end - begin, return_inverse=True, return_counts=True)
        of_lengths = np.split(begin[np.argsort(kind, kind="stable")], np.cumsum(sizes)[:-1])
        for length, its_begin in zip(lengths, of_lengths, strict=True):
            yield its_begin, *merged(whole_moves, whole_moves + length)


class UnitCounts:
    """Numbers of aligned units that workgroups touch together; sets that others have, further on, are counted once."""

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {}

    def __call__(self, parts: Sequence[Touched], unit: int, members: np.ndarray | None) -> int:
        """Of the chosen workgroups; None = of all."""
        moves = [part.moves(members) for part in parts]
        first = min((int(each[0]) for each in moves if each.size), default=0) // unit * unit
        key = blake2b(str((unit, len(parts))).encode())
        for part, each in zip(parts, moves, strict=True):
            key.update(part.key + (each - first).tobytes())
        digest = key.digest()
        if digest not in self._known:
            self._known[digest] = count(units(parts, unit, members))
        return self._known[digest]


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


def requests(group: Alike, workgroups: Workgroups, line: int, piece: int) -> tuple[float, float]:
    """Read and write requests of one workgroup of a group, as a mean: lines between two barriers, and pieces stored."""
    accesses = group.accesses
    way = workgroups.direction[accesses.row]
    is_counted = accesses.is_known & (accesses.active != 0)
    loads = np.flatnonzero(is_counted & (way != STORE) & (way != ATOMIC))
    stores = np.flatnonzero(is_counted & (way == STORE))
    kinds = ((loads, line, accesses.barriers[loads]), (stores, piece, np.arange(len(stores))))
    is_aligned = not (group.moves[np.unique(group.move[is_counted])] % line).any() if is_counted.any() else True
    sample_count = 1 if is_aligned else min(_SAMPLES, len(group.numbers))
    sums = np.zeros(2)
    for member in np.linspace(0, len(group.numbers) - 1, sample_count).astype(int):
        for kind, (numbers, unit, part) in enumerate(kinds):
            begin, end, is_active = lane_bytes(group, workgroups.width_bytes, numbers, int(member))
            away = part[:, None] * (_AWAY // unit)  # units of different parts count each
            sums[kind] += count(merged((begin // unit + away)[is_active], (-(-end // unit) + away)[is_active]))
    return float(sums[0] / sample_count), float(sums[1] / sample_count)


def workgroup_reuse(
    workgroups: Workgroups, parts: Sequence[Touched], line: int, xcds: np.ndarray, nothing: pl.DataFrame
) -> pl.DataFrame:
    """One row per workgroup, with the shares of its lines that others read; nothing where there are too many."""
    loads = [part for part in parts if not part.is_store]
    size = sum(len(part.group.numbers) * int((part.ranges[1] - part.ranges[0]).sum() // line + 1) for part in loads)
    if workgroups.total > _MOST_REUSE_WORKGROUPS or size > _MOST_REUSE_LINES or not loads:
        return nothing
    of_number: dict[int, list[np.ndarray]] = {number: [] for number in range(workgroups.total)}
    for part in loads:
        for number, move in zip(part.group.numbers.tolist(), part.group.moves[part.move].tolist(), strict=True):
            begin, end = merged((part.ranges[0] + move) // line, -(-(part.ranges[1] + move) // line))
            of_number[number].append(_numbers(begin, end))
    lines = [np.unique(np.concatenate(each)) if each else np.zeros(0, np.int64) for each in of_number.values()]
    lengths = np.array([len(each) for each in lines])
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


def _numbers(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The numbers in ranges."""
    sizes = end - begin
    starts = np.repeat(begin - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    return starts + np.arange(int(sizes.sum()))
