"""Workgroups that do the same, and the bytes by which their ids move the addresses of each execution.

A grid can have millions of workgroups; a few hundred are evaluated. Each axis is cut into parts in which workgroups do
the same (`_parts`: tiles at an edge do less). In a box of such parts the ids are cut into digits, x = unit * digit +
..., and each digit moves an execution by a fixed distance: a tile number that the code splits by division and remainder
has two digits (`_by_digits`). Workgroups drawn at random check that (`_holds`); where a check fails, every workgroup of
the box is evaluated (`_one_by_one`), or counts as unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from wavewright.analysis.trace.fabric.workgroups import Accesses, Ids, OutOfBudgetError, Workgroups

_CHECKS: Final = 16  #: Workgroups of each box that are drawn at random to check it.
_SHORT_STEPS: Final = 4_000  #: The first instructions of a wave, from which digits are guessed; `_holds` checks them.
_MOST_CACHED: Final = 4  #: So many workgroups keep their accesses in memory: those of large waves are large.
_MANY_STEPS: Final = 100_000  #: If the drawn workgroups have more instructions, only one wave of each is evaluated.
_MOST_PARTS: Final = 6  #: Parts that an axis is cut into at most; the last one takes the rest.
_MOST_DIGITS: Final = 8  #: Digits of the ids of an axis at most.
_MOST_MOVES: Final = 20_000_000  #: Numbers of a table with the moves of each workgroup: 160 MB.
_MOST_SINGLE: Final = 20_000  #: Workgroups of a box that are evaluated one by one at most.

Span = tuple[int, int]  #: Ids of one axis from the first to before the second.
Box = tuple[Span, ...]  #: A span of each axis.


@dataclass(frozen=True)
class Alike:
    """Workgroups that do the same: the members of the group."""

    numbers: np.ndarray  #: Of the members.
    accesses: Accesses  #: Of the first member.
    move: np.ndarray  #: By execution: the row of `moves` that moves it.
    moves: np.ndarray  #: [rows x members]: bytes by which executions are moved, from those of the first member.
    _distinct: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def distinct_moves(self, move: int, is_chosen: np.ndarray | None = None) -> np.ndarray:
        """Different numbers of a row of `moves`, in order; `is_chosen` tells of which workgroups, by their numbers."""
        if move not in self._distinct:
            self._distinct[move] = np.unique(self.moves[move], return_inverse=True)
        values, place = self._distinct[move]
        if is_chosen is None:
            return values
        is_there = np.zeros(len(values), bool)
        is_there[place[is_chosen[self.numbers]]] = True
        return values[is_there]


@dataclass(frozen=True)
class AllWorkgroups:
    """The accesses of all workgroups, as far as they are known."""

    groups: list[Alike]
    unknown_count: int  #: Workgroups of which nothing is known.
    checked_count: int  #: Workgroups that were drawn to check the others.
    is_complete: bool  #: Whether each workgroup was evaluated by itself.


class _Probed(NamedTuple):
    """The work of a workgroup, and its place in memory."""

    key: int  #: Equal for workgroups that do the same.
    first_addresses: np.ndarray  #: By execution: of its first active lane.


class _Evaluations:
    """Workgroups, or single waves of them, each evaluated once."""

    def __init__(self, workgroups: Workgroups) -> None:
        self.workgroups = workgroups
        self._probed: dict[tuple[Ids, int | None, bool], _Probed] = {}
        self._keys: dict[bytes, int] = {}
        self._cached: dict[Ids, Accesses] = {}  #: The one that was asked for last stands last.

    def probe(self, ids: Ids, place: int | None = None, *, is_short: bool = False) -> _Probed:
        """The work of a workgroup, or of its wave at a place, or (`is_short`) of the first instructions of that."""
        question = ids, place, is_short
        if question not in self._probed:
            accesses = self._accesses(ids, place, is_short=is_short)
            key = self._keys.setdefault(accesses.key(), len(self._keys))
            self._probed[question] = _Probed(key, accesses.first)
        return self._probed[question]

    def accesses(self, ids: Ids) -> Accesses:
        """The accesses of a workgroup; those that were asked for last are cached."""
        accesses = self._cached.pop(ids, None) or self.workgroups.accesses(ids)
        while len(self._cached) >= _MOST_CACHED:
            del self._cached[next(iter(self._cached))]
        self._cached[ids] = accesses
        return accesses

    def _accesses(self, ids: Ids, place: int | None, *, is_short: bool) -> Accesses:
        if place is None:
            return self.accesses(ids)
        if is_short:
            return self.workgroups.accesses(ids, (place,), _SHORT_STEPS)
        return self._cached[ids].of_place(place) if ids in self._cached else self.workgroups.accesses(ids, (place,))


def all_workgroups(workgroups: Workgroups) -> AllWorkgroups:
    """Groups of workgroups that do the same, and how each of them is moved."""
    evaluations = _Evaluations(workgroups)
    groups: list[Alike] = []
    unknown_count = checked_count = 0
    is_complete = False
    generator = np.random.default_rng(1)
    try:
        spans = [
            _parts(lambda x: evaluations.probe((x, 0, 0)).key, workgroups.counts[0]),
            _parts(lambda y: evaluations.probe((0, y, 0)).key, workgroups.counts[1]),
            _parts(lambda z: evaluations.probe((0, 0, z)).key, workgroups.counts[2]),
        ]
    except OutOfBudgetError:
        return AllWorkgroups([], workgroups.total, 0, is_complete=False)
    for box in product(*spans):
        numbers = _numbers(workgroups, box)
        has_others = len(numbers) > 1
        try:
            sample = generator.choice(len(numbers), min(_CHECKS, len(numbers)), replace=False)
            checked_count += len(sample) if has_others else 0
            # The first instructions are tried first; the check tells where later ones have other digits.
            alikes = (
                _by_digits(workgroups, evaluations, box, numbers, is_short=is_short) for is_short in (True, False)
            )
            holding = (
                alike
                for alike in alikes
                if alike and (not has_others or _holds(workgroups, evaluations, alike, sample))
            )
            if (alike := next(holding, None)) is not None:
                groups.append(alike)
                continue
            single = _one_by_one(workgroups, evaluations, numbers)
        except OutOfBudgetError:
            single = None
        is_complete = is_complete or single is not None
        groups += single or []
        unknown_count += 0 if single is not None else len(numbers)
    return AllWorkgroups(groups, unknown_count, checked_count, is_complete)


def _numbers(workgroups: Workgroups, box: Box) -> np.ndarray:
    """Numbers of the workgroups of a box, which count x first."""
    x, y, z = (np.arange(start, end, dtype=np.int64) for start, end in box)
    columns, rows, _ = workgroups.counts
    numbers: np.ndarray = (z[:, None, None] * rows + y[None, :, None]) * columns + x[None, None, :]
    return numbers.ravel()


def _parts(key_at: Callable[[int], int], count: int) -> list[Span]:
    """Spans of one axis at whose ends workgroups do the same; where that changes is found by bisection."""
    parts: list[Span] = []
    start = 0
    while start < count and len(parts) < _MOST_PARTS:
        key, last = key_at(start), count - 1
        if key_at(last) != key:
            low, high = start, last  # the last that does the same lies in [low, high)
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if key_at(middle) == key else (low, middle)
            last = low
        parts.append((start, last + 1))
        start = last + 1
    return [*parts[:-1], (parts[-1][0], count)]


class _Digit(NamedTuple):
    """A digit of the ids of one axis: id // unit % size."""

    unit: int
    size: int
    step: np.ndarray  #: By execution: bytes by which the digit moves it when it grows by one.


def _by_digits(
    workgroups: Workgroups, evaluations: _Evaluations, box: Box, numbers: np.ndarray, *, is_short: bool
) -> Alike | None:
    """The workgroups of a box, moved by digits of their ids; None = their ids do not move them like that."""
    corner: Ids = (box[0][0], box[1][0], box[2][0])
    ids = workgroups.ids(numbers)
    steps, digits = [], []
    for axis, (start, end) in enumerate(box):

        def distances(at: int, place: int | None = None, axis: int = axis) -> np.ndarray | None:
            """Bytes from the corner to the workgroup `at` places along the axis; None = it does something else."""
            moved_ids: Ids = (*corner[:axis], corner[axis] + at, *corner[axis + 1 :])  # type: ignore[assignment]
            is_part = is_short and place is not None
            first, moved = (evaluations.probe(id_, place, is_short=is_part) for id_ in (corner, moved_ids))
            return moved.first_addresses - first.first_addresses if moved.key == first.key else None

        digits_of_axis = _digits(distances, end - start)
        if digits_of_axis is None:
            return None
        for digit in digits_of_axis:
            steps.append(digit.step)
            digits.append((ids[axis] - start) // digit.unit % digit.size)
    if not steps:  # a single workgroup: nothing moves it
        execution_count = len(evaluations.probe(corner).first_addresses)
        steps, digits = [np.zeros(execution_count, np.int64)], [np.zeros(len(numbers), np.int64)]
    # Executions that all digits move alike share a row of `moves`.
    distinct_steps, move = np.unique(np.stack(steps), axis=1, return_inverse=True)
    if distinct_steps.shape[1] * len(numbers) > _MOST_MOVES:
        return None
    return Alike(numbers, evaluations.accesses(corner), move.ravel(), distinct_steps.T @ np.stack(digits))


def _digits(distances: Callable[..., np.ndarray | None], count: int) -> list[_Digit] | None:
    """The digits of `count` ids, the fastest first; None = an end of a digit does something else.

    A digit ends where distances stop to grow in proportion to the id. The first wave of a workgroup tells where;
    whether that holds for the others is checked by workgroups drawn.
    """
    digits: list[_Digit] = []
    unit = 1
    while unit < count:
        step = distances(unit)
        if step is None or len(digits) == _MOST_DIGITS:
            return None
        values = -(-count // unit)  # values that the digit has if it is the last one
        step_of_first_wave = distances(unit, 0)

        def is_straight(at: int, unit: int = unit, step: np.ndarray | None = step_of_first_wave) -> bool:
            distance = distances(at * unit, 0)
            return distance is not None and step is not None and bool((distance == at * step).all())

        low = 1  # the largest value that is known to lie on the line; doubled, then bisected
        while 2 * low < values and is_straight(2 * low):
            low *= 2
        high = min(2 * low, values - 1)
        if high > low and is_straight(high):
            low = high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if is_straight(middle) else (low, middle)
        digits.append(_Digit(unit, low + 1, step))
        unit *= low + 1
    return digits


def _holds(workgroups: Workgroups, evaluations: _Evaluations, alike: Alike, sample: np.ndarray) -> bool:
    """True if workgroups that were drawn, or a wave of each where waves are long, do what the moves say."""
    corner: Ids = tuple(workgroups.ids(alike.numbers[:1])[:, 0].tolist())
    is_long = alike.accesses.step_count * len(sample) > _MANY_STEPS
    for turn, (ids, member) in enumerate(zip(workgroups.ids(alike.numbers[sample]).T, sample, strict=True)):
        place = turn % workgroups.start.wave_count if is_long else None
        of_place = slice(None) if place is None else alike.accesses.place == place
        first, other = evaluations.probe(corner, place), evaluations.probe(tuple(ids.tolist()), place)
        moved_addresses = first.first_addresses + alike.moves[alike.move[of_place], member]
        if other.key != first.key or (other.first_addresses != moved_addresses).any():
            return False
    return True


def _one_by_one(workgroups: Workgroups, evaluations: _Evaluations, numbers: np.ndarray) -> list[Alike] | None:
    """Groups of workgroups that were all evaluated; None = there are too many."""
    if len(numbers) > _MOST_SINGLE:
        return None
    by_key: dict[int, list[tuple[int, Ids, np.ndarray]]] = {}
    move_count = 0
    for number, ids in zip(numbers.tolist(), workgroups.ids(numbers).T, strict=True):
        own_ids: Ids = tuple(ids.tolist())
        key, addresses = evaluations.probe(own_ids)
        by_key.setdefault(key, []).append((number, own_ids, addresses))
        move_count += len(addresses)
        if move_count > _MOST_MOVES:
            return None
    groups = []
    for members in by_key.values():
        own_numbers, (first_ids, *_), member_addresses = zip(*members, strict=True)
        moves, move = np.unique(np.stack(member_addresses) - member_addresses[0], axis=1, return_inverse=True)
        accesses = evaluations.accesses(first_ids)
        groups.append(Alike(np.array(own_numbers, np.int64), accesses, move.ravel(), moves.T))
    return groups
