"""Live registers by their definition, lane by lane: a second account that shares nothing with the native pass.

A lane is active or not. A register is live before a row if, for a lane that is active or for one that is not, some way
from there leads to a read of the register in this lane, with no write of it in this lane before; and if some way from
the start to the row has written it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

NEXT, BRANCH, JUMP, END, CALL, BACK, ANYWHERE = range(7)
#: Mask change -> whether the lane was active -> whether it may be active behind the row.
MASKS = {
    0: {True: {True}, False: {False}},
    1: {True: {True, False}, False: {False}},
    2: {True: {True}, False: {True, False}},
    3: {True: {True, False}, False: {True, False}},
}
WRITES_ALL, READS_ALL, MAY_NOT_WRITE = 1, 2, 4
VECTOR = 256


@dataclass(frozen=True)
class SmallRow:
    """One row; registers by number, from 256 on vector registers."""

    flow: int = NEXT
    target: int = -1
    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    mask_change: int = 0
    habits: int = 0


def followers(rows: list[SmallRow], row: int) -> set[int]:
    """Rows that may come next, of code without calls."""
    here = rows[row]
    after = {row + 1} & set(range(len(rows))) if here.flow in (NEXT, BRANCH) else set()
    return after | ({here.target} if here.flow in (BRANCH, JUMP) else set())


def live_before(rows: list[SmallRow], given: set[int]) -> list[set[int]]:
    """Registers that are live before every row."""
    registers = {number for row in rows for number in row.reads | row.writes}
    written = _written(rows, given)
    return [
        {
            register
            for register in registers & written[row]
            if any(_reaches_read(rows, row, register, active) for active in (True, False))
        }
        for row in range(len(rows))
    ]


def _reaches_read(rows: list[SmallRow], start: int, register: int, active: bool) -> bool:
    seen, waiting = {(start, active)}, [(start, active)]
    while waiting:
        row, is_active = waiting.pop()
        here, is_vector = rows[row], register >= VECTOR
        if register in here.reads and (is_active or not is_vector or here.habits & READS_ALL):
            return True
        is_written = is_active or not is_vector or here.habits & WRITES_ALL
        if register in here.writes and is_written and not here.habits & MAY_NOT_WRITE:
            continue
        for after, active_then in product(followers(rows, row), MASKS[here.mask_change][is_active]):
            if (after, active_then) not in seen:
                seen.add((after, active_then))
                waiting.append((after, active_then))
    return False


def _written(rows: list[SmallRow], given: set[int]) -> list[set[int]]:
    """Registers that something may have written before every row; nothing for rows that cannot be reached."""
    written: list[set[int]] = [set() for _ in rows]
    reached = {0}
    written[0] = set(given)
    changed = True
    while changed:
        changed = False
        for row in sorted(reached):
            for after in followers(rows, row):
                more = written[row] | rows[row].writes
                if after not in reached or more - written[after]:
                    reached.add(after)
                    written[after] |= more
                    changed = True
    return written


def reached_rows(rows: list[SmallRow]) -> set[int]:
    """Rows that control can come to."""
    reached, waiting = {0}, [0]
    while waiting:
        for after in followers(rows, waiting.pop()) - reached:
            reached.add(after)
            waiting.append(after)
    return reached


def live_counts(rows: list[SmallRow], given: set[int]) -> list[tuple[int, int]]:
    """Live vector and scalar registers of every row: the larger of before, and behind with those written."""
    before = live_before(rows, given)
    written = _written(rows, given)
    reached = reached_rows(rows)
    counts = []
    for row, here in enumerate(rows):
        behind = set(here.writes)
        for register in written[row] | here.writes:
            for active, after in product((True, False), followers(rows, row)):
                if _reaches_read(rows, after, register, active):
                    behind.add(register)
        counts.append(
            tuple(
                max(sum(is_vector == (number >= VECTOR) for number in side) for side in (before[row], behind))
                if row in reached
                else 0
                for is_vector in (True, False)
            )
        )
    return counts  # type: ignore[return-value]
