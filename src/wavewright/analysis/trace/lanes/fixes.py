"""Layouts of LDS that would take fewer cycles: padded rows and XOR swizzles, tried on the known patterns of a kernel.

Accesses whose addresses overlap use the same array, and a layout moves all of them: reads and writes together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wavewright import _core
from wavewright.facts.lanes import LdsRuleFact

PADDING_DWORDS_MAX = 16  #: Longest padding of a row that is tried.
_DWORD_BYTES = 4
_ROW_DWORDS_MIN = 2  #: Shortest row that is tried.
_COMMON_DIFFERENCES = 16  #: Row lengths that patterns suggest, at most; powers of two are tried as well.
_ROW_SHIFTS = 4  #: Bits of the row's number that a swizzle may leave out, 0 to 3.
_LANE_DISTANCES = (1, 2, 4, 8, 16, 32)  #: The addresses of lanes so far apart suggest row lengths.
_SAMPLE_PATTERNS = 128  #: Patterns of an access in the first round; its best layouts are counted with all patterns.
_LANES_PER_CALL = 1 << 21  # Bounds the memory of the patterns that candidates make.
_FIXES_PER_KIND = 3  #: Layouts that are proposed at most, of padding and of XOR each.


@dataclass(frozen=True, eq=False)
class LdsAccessPatterns:
    """Known patterns of one access of one row; the forms with two offsets have two accesses."""

    row: int  #: Of the code.
    rule: LdsRuleFact
    dwords: NDArray[np.uint32]  #: [patterns x lanes]: byte address from the start of LDS / 4.
    active: NDArray[np.uint64]  #: [patterns]: mask of lanes.
    executions: NDArray[np.int64]  #: [patterns].

    def extra_cycles(self, dwords: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Extra cycles of all executions in each layout; `dwords` is [layouts x patterns x lanes]."""
        cycles_by_layout: NDArray[np.int64] = self.extra_cycles_of_patterns(dwords).sum(axis=1)
        return cycles_by_layout

    def extra_cycles_of_patterns(self, dwords: NDArray[np.uint32] | None = None) -> NDArray[np.int64]:
        """The same for each pattern: [layouts x patterns]; None = one layout, the patterns as they are."""
        dwords, rule = self.dwords[None] if dwords is None else dwords, self.rule
        addresses, active = pl.Series(dwords.reshape(-1)), pl.Series(np.tile(self.active, dwords.shape[0]))
        costs = _core.lds_costs(addresses, active, rule.width_dwords, rule.banks, rule.phases)
        extra = pl.DataFrame(costs)["extra_cycles"].to_numpy().astype(np.int64)
        return extra.reshape(-1, self.active.size) * self.executions


@dataclass(frozen=True)
class Layout:
    """New places of the dwords of an array: rows are padded, or pieces of a row swap by XOR with the row's number."""

    first_dword: int  #: Of the array; rows are counted from here.
    row_dwords: int  #: Length of a row.
    padding_dwords: int = 0  #: Behind each row; 0 for an XOR swizzle.
    xor_unit_dwords: int = 1  #: Pieces that stay together: the widest access.
    xor_bits: int = 0  #: Bits of the row's number that change the piece's number; 0 for padding.
    row_shift: int = 0  #: Bits of the row's number below those.

    @property
    def added_share(self) -> float:
        """LDS that the padding needs more, as a share of the array."""
        return self.padding_dwords / self.row_dwords

    def moved(self, dwords: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The dwords' places in this layout.

        >>> Layout(0, 32, padding_dwords=1).moved(np.array([0, 31, 32, 64], np.uint32)).tolist()
        [0, 31, 33, 66]
        >>> Layout(0, 32, xor_bits=5).moved(np.array([0, 32, 64, 65], np.uint32)).tolist()
        [0, 33, 66, 67]
        """
        row = (dwords - np.uint32(self.first_dword)) // np.uint32(self.row_dwords)
        if self.padding_dwords:
            return dwords + row * np.uint32(self.padding_dwords)
        place = dwords - np.uint32(self.first_dword)
        piece = (row >> np.uint32(self.row_shift)) & np.uint32((1 << self.xor_bits) - 1)
        return (place ^ (piece * np.uint32(self.xor_unit_dwords))) + np.uint32(self.first_dword)


@dataclass(frozen=True)
class LayoutFix:
    """A layout with its gain over all accesses of the array, in cycles of all executions."""

    layout: Layout
    extra_cycles: int  #: That are left.
    removed_cycles: int
    added_bytes: int  #: Of LDS, per workgroup.
    extra_cycles_by_access: tuple[int, ...]  #: That are left, in the order of `ArrayFixes.accesses`.

    @property
    def kind(self) -> str:
        """`padding` or `xor`."""
        return "padding" if self.layout.padding_dwords else "xor"

    @property
    def text(self) -> str:
        """The change to make."""
        layout = self.layout
        rows = f"rows of {layout.row_dwords} dwords"
        if self.kind == "padding":
            return f"pad {rows} by {layout.padding_dwords} dword{'s' if layout.padding_dwords > 1 else ''}"
        unit, mask = layout.xor_unit_dwords, (1 << layout.xor_bits) - 1
        number = f"(row >> {layout.row_shift})" if layout.row_shift else "row"
        column = "column" if unit == 1 else f"column / {unit}"
        return f"in {rows}, XOR ({column}) with ({number} & {mask}), columns counted in dwords"


@dataclass(frozen=True)
class ArrayFixes:
    """The layouts that help one array of LDS, the best first."""

    first_byte: int  #: Of LDS.
    end_byte: int
    accesses: tuple[int, ...]  #: Positions in what was given to `find_fixes`.
    extra_cycles: int  #: Of all its accesses now.
    fixes: tuple[LayoutFix, ...]
    reason: str  #: Why there are no fixes; empty where there are.


def find_fixes(
    accesses: Sequence[LdsAccessPatterns],
    *,
    lds_bytes: int = 0,
    lds_bytes_max: int | None = None,
    period_dwords: int = 0,
) -> list[ArrayFixes]:
    """Arrays by address, each with layouts that take fewer extra cycles in sum and fit into the LDS of a workgroup.

    `lds_bytes` is what a workgroup has now. Addresses that are certain only up to multiples of `period_dwords`, where
    it is not 0, allow only layouts that this cannot change, and padding is taken to fill all of `lds_bytes`. Accesses
    whose patterns are not known are not counted. No layout moves an access out of its alignment or tears it apart.
    """
    ready = [_with_active_only(access) for access in accesses]
    room = None if lds_bytes_max is None else lds_bytes_max - lds_bytes
    if period_dwords:
        all_positions = [position for position, access in enumerate(ready) if access.active.size]
        return [_array_fixes(ready, all_positions, room, period_dwords, lds_bytes)] if all_positions else []
    return [_array_fixes(ready, members, room) for members in _arrays(ready)]


def _with_active_only(access: LdsAccessPatterns) -> LdsAccessPatterns:
    """Equal patterns once, patterns without lanes not at all; inactive lanes get an address that an active lane has."""
    lanes = np.arange(access.dwords.shape[1], dtype=np.uint64)
    is_active = (access.active[:, None] >> lanes) & np.uint64(1) == 1
    any_active = is_active.any(axis=1)
    is_active, active, executions = is_active[any_active], access.active[any_active], access.executions[any_active]
    dwords = access.dwords[any_active]
    if not active.size:
        return replace(access, dwords=dwords, active=active, executions=executions)
    first = np.take_along_axis(dwords, is_active.argmax(axis=1)[:, None], axis=1)
    dwords = np.where(is_active, dwords, first).astype(np.uint32)
    keys = np.concatenate([dwords, active.view(np.uint32).reshape(-1, 2)], axis=1)
    _, index, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    summed = np.bincount(inverse.reshape(-1), weights=executions).astype(np.int64)
    return replace(access, dwords=dwords[index], active=active[index], executions=summed)


def _arrays(accesses: Sequence[LdsAccessPatterns]) -> Iterator[list[int]]:
    """Accesses whose ranges of addresses overlap."""
    ranges = sorted(
        (int(access.dwords.min()), int(access.dwords.max()) + access.rule.width_dwords, position)
        for position, access in enumerate(accesses)
        if access.active.size
    )
    members: list[int] = []
    end = 0
    for first, last, position in ranges:
        if members and first >= end:
            yield sorted(members)
            members = []
        members.append(position)
        end = max(end, last)
    if members:
        yield sorted(members)


def _array_fixes(
    accesses: Sequence[LdsAccessPatterns],
    members: list[int],
    room_bytes: int | None,
    period_dwords: int = 0,
    lds_bytes: int = 0,
) -> ArrayFixes:
    users = [accesses[position] for position in members]
    unit = _unit_dwords(users)
    first = min(int(access.dwords.min()) for access in users) // unit * unit
    end = max(int(access.dwords.max()) + access.rule.width_dwords for access in users)
    current_cycles = sum(int(access.extra_cycles_of_patterns().sum()) for access in users)
    array = ArrayFixes(first * _DWORD_BYTES, end * _DWORD_BYTES, tuple(members), current_cycles, (), "")
    if current_cycles == 0:
        return replace(array, reason="its accesses take no extra cycles")
    layouts = [
        layout
        for layout in _layouts(users, first, end)
        if (not period_dwords or _is_periodic(layout, period_dwords))
        and (room_bytes is None or max(_added_bytes(layout, end), int(lds_bytes * layout.added_share)) <= room_bytes)
    ]
    counted = _counted(users, _promising(users, layouts, end), current_cycles, end)
    fixes = [fix for fix in counted if fix.removed_cycles > 0]
    if not fixes:
        why = "no padding of 1 to 16 dwords and no XOR swizzle takes fewer cycles for all accesses together"
        return replace(array, reason=why)
    return replace(array, fixes=tuple(_best(fixes)))


def _layouts(users: Sequence[LdsAccessPatterns], first: int, end: int) -> Iterator[Layout]:
    unit = _unit_dwords(users)
    for row_dwords in sorted(_row_lengths(users, end - first)):
        if _tears(users, first, row_dwords):
            continue
        for padding in range(unit, PADDING_DWORDS_MAX + 1, unit):
            yield Layout(first, row_dwords, padding_dwords=padding)
        pieces = row_dwords // unit
        if row_dwords % unit or _tears(users, first, unit):
            continue
        banks = max(access.rule.banks for access in users)
        bits_max = min((pieces & -pieces).bit_length(), (banks // unit).bit_length()) - 1
        for bits in range(1, bits_max + 1):
            for shift in range(_ROW_SHIFTS):
                yield Layout(first, row_dwords, xor_unit_dwords=unit, xor_bits=bits, row_shift=shift)


def _is_periodic(layout: Layout, period_dwords: int) -> bool:
    """True if an array that lies multiples of the period further is served alike."""
    rows, rest = divmod(period_dwords, layout.row_dwords)
    return rest == 0 and (layout.padding_dwords > 0 or rows % (1 << (layout.row_shift + layout.xor_bits)) == 0)


def _unit_dwords(users: Sequence[LdsAccessPatterns]) -> int:
    """Alignment of the widest access."""
    return max(1, max(access.rule.alignment_bytes for access in users) // _DWORD_BYTES)


def _row_lengths(users: Sequence[LdsAccessPatterns], span: int) -> set[int]:
    """Differences between lanes that occur most, and powers of two."""
    counts: Counter[int] = Counter()
    for access in users:
        sample = access.dwords[:_SAMPLE_PATTERNS].astype(np.int64)
        for distance in _LANE_DISTANCES:
            if distance < sample.shape[1]:
                values, times = np.unique(np.abs(sample[:, distance:] - sample[:, :-distance]), return_counts=True)
                counts.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
    suggested = [length for length, _ in counts.most_common() if _ROW_DWORDS_MIN <= length < span]
    powers = {1 << bit for bit in range(1, span.bit_length()) if 1 << bit < span}
    return powers | set(suggested[:_COMMON_DIFFERENCES])


def _tears(users: Sequence[LdsAccessPatterns], first: int, row_dwords: int) -> bool:
    """True if an access crosses the end of a row."""
    for access in users:
        column = (access.dwords - np.uint32(first)) % np.uint32(row_dwords)
        if (column + access.rule.width_dwords > row_dwords).any():
            return True
    return False


def _added_bytes(layout: Layout, end: int) -> int:
    """Padding of all rows; a swizzle fills up the pieces that swap with each other."""
    dwords = end - layout.first_dword
    if layout.padding_dwords:
        return -(-dwords // layout.row_dwords) * layout.padding_dwords * _DWORD_BYTES
    return -dwords % (layout.xor_unit_dwords << layout.xor_bits) * _DWORD_BYTES


def _promising(users: Sequence[LdsAccessPatterns], layouts: list[Layout], end: int) -> list[Layout]:
    """The few layouts of each kind that take the fewest cycles for a sample of the patterns."""
    sampled = [_sampled(access) for access in users]
    totals = sum((_totals(access, layouts) for access in sampled), np.zeros(len(layouts), np.int64))
    ranked = sorted(range(len(layouts)), key=lambda at: (int(totals[at]), _added_bytes(layouts[at], end), at))
    counts: Counter[bool] = Counter()
    chosen = []
    for at in ranked:
        is_padding = layouts[at].padding_dwords > 0
        counts[is_padding] += 1
        if counts[is_padding] <= 4 * _FIXES_PER_KIND:
            chosen.append(layouts[at])
    return chosen


def _sampled(access: LdsAccessPatterns) -> LdsAccessPatterns:
    """The patterns that take the most extra cycles now, and some of all."""
    if access.active.size <= _SAMPLE_PATTERNS:
        return access
    costly = np.argsort(-access.extra_cycles_of_patterns()[0], kind="stable")[: _SAMPLE_PATTERNS // 2]
    picked = np.union1d(costly, np.linspace(0, access.active.size - 1, _SAMPLE_PATTERNS // 2, dtype=np.int64))
    active, executions = access.active[picked], access.executions[picked]
    return replace(access, dwords=access.dwords[picked], active=active, executions=executions)


def _totals(access: LdsAccessPatterns, layouts: Sequence[Layout]) -> NDArray[np.int64]:
    """Extra cycles of an access in each layout."""
    per_call = max(1, _LANES_PER_CALL // max(1, access.dwords.size))
    parts = [np.zeros(0, np.int64)]
    for start in range(0, len(layouts), per_call):
        moved = np.stack([layout.moved(access.dwords) for layout in layouts[start : start + per_call]])
        parts.append(access.extra_cycles(moved))
    return np.concatenate(parts)


def _counted(users: Sequence[LdsAccessPatterns], layouts: Sequence[Layout], now: int, end: int) -> Iterator[LayoutFix]:
    """The layouts with their cycles over all patterns; `now` = the cycles without one."""
    by_access = np.stack([_totals(access, layouts) for access in users])
    for at, layout in enumerate(layouts):
        cycles = tuple(by_access[:, at].tolist())
        yield LayoutFix(layout, sum(cycles), now - sum(cycles), _added_bytes(layout, end), cycles)


def _best(fixes: Sequence[LayoutFix]) -> list[LayoutFix]:
    """Of each kind those that no other beats in both cycles and bytes; equal ones once, the simplest.

    What removes less than half of what the best removes is not worth a line.
    """
    least_removed = max(fix.removed_cycles for fix in fixes) / 2

    def rank(fix: LayoutFix) -> tuple[int, int, int, int, int]:
        layout = fix.layout
        return (fix.extra_cycles, fix.added_bytes, layout.row_shift, layout.xor_bits, layout.row_dwords)

    chosen = []
    for kind in ("xor", "padding"):
        bytes_least: int | None = None
        front = []
        for fix in sorted((fix for fix in fixes if fix.kind == kind), key=rank):
            if fix.removed_cycles >= least_removed and (bytes_least is None or fix.added_bytes < bytes_least):
                front.append(fix)
                bytes_least = fix.added_bytes
        chosen += front[:_FIXES_PER_KIND]
    return sorted(chosen, key=rank)
