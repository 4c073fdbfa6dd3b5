"""Workgroups that do the same at other addresses: how far each execution is moved by the ids of its workgroup.

Ids are cut into digits: x = unit * digit + ..., and each digit moves an execution by a fixed distance. A few workgroups
give digits and distances, others, drawn at random, check them; where a check fails, every workgroup is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Final

import numpy as np

from wavewright.analysis.trace.fabric.workgroups import Accesses, Ids, OutOfBudgetError, Workgroups

_CHECKS: Final = 16  #: Workgroups of each part that are drawn.
_SHORT_STEPS: Final = 4_000  #: Instructions that tell digits; whether they are those of the whole wave is checked.
_MOST_KEPT: Final = 4  #: Workgroups whose accesses are kept.
_MANY_STEPS: Final = 100_000  #: Instructions of the drawn workgroups, above which one wave of each is evaluated.
_MOST_PARTS: Final = 6  #: Of an axis, whose workgroups do different things: tiles at an edge.
_MOST_DIGITS: Final = 8
_MOST_MOVES: Final = 20_000_000  #: Numbers of a table with the moves of each workgroup.
_MOST_SINGLE: Final = 20_000  #: Workgroups that are evaluated one by one.

Probed = tuple[int, np.ndarray]  #: What a workgroup does, as a key, and where: the first address of each execution.


@dataclass(frozen=True)
class Alike:
    """Workgroups that do the same."""

    numbers: np.ndarray  #: Of the workgroups.
    accesses: Accesses  #: Of the first of them.
    move: np.ndarray  #: By execution: the row of `moves` that moves it.
    moves: np.ndarray  #: Bytes by which executions of each of the workgroups are moved, from those of the first.
    _distinct: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def distinct_moves(self, move: int, members: np.ndarray | None = None) -> np.ndarray:
        """Different numbers of a row of `moves`, in order; `members` tells which workgroups, by their numbers."""
        if move not in self._distinct:
            self._distinct[move] = np.unique(self.moves[move], return_inverse=True)
        values, place = self._distinct[move]
        if members is None:
            return values
        is_there = np.zeros(len(values), bool)
        is_there[place[members[self.numbers]]] = True
        return values[is_there]


@dataclass(frozen=True)
class AllWorkgroups:
    """The accesses of all workgroups, as far as they are known."""

    groups: list[Alike]
    unknown_count: int  #: Workgroups of which nothing is known.
    checked_count: int  #: Workgroups that were drawn to check the others.
    is_complete: bool  #: Whether each workgroup was evaluated by itself.


class _Evaluated:
    """Workgroups, or single waves of them, each evaluated once."""

    def __init__(self, workgroups: Workgroups) -> None:
        self.workgroups = workgroups
        self._probed: dict[tuple[Ids, int | None, bool], Probed] = {}
        self._keys: dict[bytes, int] = {}
        self._last: dict[Ids, Accesses] = {}

    def __call__(self, ids: Ids, place: int | None = None, *, is_short: bool = False) -> Probed:
        """The work of a workgroup, or of its wave at a place, or of the first instructions of that."""
        if (ids, place, is_short) not in self._probed:
            accesses = self._accesses(ids, place, is_short=is_short)
            number = self._keys.setdefault(accesses.key(), len(self._keys))
            self._probed[ids, place, is_short] = (number, accesses.first)
        return self._probed[ids, place, is_short]

    def accesses(self, ids: Ids) -> Accesses:
        """The accesses of a workgroup; those that were asked for last are kept."""
        if ids not in self._last:
            while len(self._last) >= _MOST_KEPT:
                del self._last[next(iter(self._last))]
            self._last[ids] = self.workgroups.accesses(ids)
        self._last[ids] = self._last.pop(ids)
        return self._last[ids]

    def _accesses(self, ids: Ids, place: int | None, *, is_short: bool) -> Accesses:
        if place is None:
            return self.accesses(ids)
        if is_short:
            return self.workgroups.accesses(ids, (place,), _SHORT_STEPS)
        return self._last[ids].of_place(place) if ids in self._last else self.workgroups.accesses(ids, (place,))


def all_workgroups(workgroups: Workgroups) -> AllWorkgroups:
    """Groups of workgroups that do the same, and how each of them is moved."""
    probe = _Evaluated(workgroups)
    groups: list[Alike] = []
    unknown = checked_count = 0
    is_complete = False
    generator = np.random.default_rng(1)
    try:
        parts = [
            _parts(lambda at: probe((at, 0, 0)), workgroups.counts[0]),
            _parts(lambda at: probe((0, at, 0)), workgroups.counts[1]),
            _parts(lambda at: probe((0, 0, at)), workgroups.counts[2]),
        ]
    except OutOfBudgetError:
        return AllWorkgroups([], workgroups.total, 0, is_complete=False)
    for box in product(*parts):
        x, y, z = (np.arange(start, end, dtype=np.int64) for start, end in box)
        columns, rows, _ = workgroups.counts
        numbers = ((z[:, None, None] * rows + y[None, :, None]) * columns + x[None, None, :]).ravel()
        try:
            sample = generator.choice(len(numbers), min(_CHECKS, len(numbers)), replace=False)
            checked_count += len(sample) if len(numbers) > 1 else 0
            alike = None
            for is_short in (True, False):
                alike = alike or _moved(workgroups, probe, box, numbers, is_short=is_short)
                if alike is not None and len(numbers) > 1 and not _holds(workgroups, probe, alike, sample):
                    alike = None
            if alike is not None:
                groups.append(alike)
                continue
            single = _one_by_one(workgroups, probe, numbers)
        except OutOfBudgetError:
            single = None
        is_complete = is_complete or single is not None
        groups += single or []
        unknown += 0 if single is not None else len(numbers)
    return AllWorkgroups(groups, unknown, checked_count, is_complete)


def _parts(probe: Callable[[int], Probed], count: int) -> list[tuple[int, int]]:
    """Ranges of one axis in which the ends do the same."""
    parts: list[tuple[int, int]] = []
    start = 0
    while start < count and len(parts) < _MOST_PARTS:
        key, last = probe(start)[0], count - 1
        low, high = start, last  # the last that does the same lies in [low, high]
        if probe(last)[0] != key:
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if probe(middle)[0] == key else (low, middle)
            last = low
        parts.append((start, last + 1))
        start = last + 1
    return [*parts[:-1], (parts[-1][0], count)]


def _moved(
    workgroups: Workgroups, probe: _Evaluated, box: tuple[tuple[int, int], ...], numbers: np.ndarray, *, is_short: bool
) -> Alike | None:
    """The workgroups of a box, by digits of their ids; None = their ids do not move them like that."""
    corner = (box[0][0], box[1][0], box[2][0])
    _, first = probe(corner)
    ids = workgroups.ids(numbers)
    steps, digits = [], []
    for axis, (start, end) in enumerate(box):

        def probe_axis(at: int, place: int | None = None, axis: int = axis, start: int = start) -> np.ndarray | None:
            ids: Ids = tuple(start + at if each == axis else c for each, c in enumerate(corner))  # type: ignore[assignment]
            (its_key, its_first), (usual_key, usual) = (
                probe(at_ids, place, is_short=is_short and place is not None) for at_ids in (ids, corner)
            )
            return its_first - usual if its_key == usual_key else None

        found = _digits(probe_axis, end - start)
        if found is None:
            return None
        for unit, count, step in found:
            steps.append(step)
            digits.append((ids[axis] - start) // unit % count)
    if not steps:
        steps, digits = [np.zeros(len(first), np.int64)], [np.zeros(len(numbers), np.int64)]
    distances, move = np.unique(np.stack(steps), axis=1, return_inverse=True)
    if distances.shape[1] * len(numbers) > _MOST_MOVES:
        return None
    moves = distances.T @ np.stack(digits)
    return Alike(numbers, probe.accesses(corner), move.ravel(), moves)


def _digits(probe: Callable[..., np.ndarray | None], count: int) -> list[tuple[int, int, np.ndarray]] | None:
    """Units and counts of digits, and by how much each moves; None = an end of a digit does something else.

    The first wave of a workgroup tells the counts; whether they are those of the others is checked by workgroups drawn.
    """
    digits: list[tuple[int, int, np.ndarray]] = []
    unit = 1
    while unit < count:
        step = probe(unit)
        if step is None or len(digits) == _MOST_DIGITS:
            return None
        places = -(-count // unit)  # of a digit without end

        first_step = probe(unit, 0)

        def is_straight(at: int, unit: int = unit, first_step: np.ndarray | None = first_step) -> bool:
            there = probe(at * unit, 0)
            return there is not None and first_step is not None and bool((there == at * first_step).all())

        low = 1
        while 2 * low < places and is_straight(2 * low):
            low *= 2
        high = min(2 * low, places - 1)
        if high > low and is_straight(high):
            low = high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if is_straight(middle) else (low, middle)
        digits.append((unit, low + 1, step))
        unit *= low + 1
    return digits


def _holds(workgroups: Workgroups, probe: _Evaluated, alike: Alike, sample: np.ndarray) -> bool:
    """True if workgroups that were drawn, or a wave of each where waves are long, do what the moves say."""
    corner: Ids = tuple(int(each) for each in workgroups.ids(alike.numbers[:1])[:, 0])  # type: ignore[assignment]
    is_long = alike.accesses.step_count * len(sample) > _MANY_STEPS
    for turn, (ids, at) in enumerate(zip(workgroups.ids(alike.numbers[sample]).T, sample, strict=True)):
        place = turn % workgroups.start.wave_count if is_long else None
        of_place = slice(None) if place is None else alike.accesses.place == place
        key, first = probe(corner, place)
        its_key, its_first = probe(tuple(int(each) for each in ids), place)  # type: ignore[arg-type]
        if its_key != key or (its_first != first + alike.moves[alike.move[of_place], at]).any():
            return False
    return True


def _one_by_one(workgroups: Workgroups, probe: _Evaluated, numbers: np.ndarray) -> list[Alike] | None:
    """Groups of workgroups that were all evaluated; None = there are too many."""
    if len(numbers) > _MOST_SINGLE:
        return None
    by_key: dict[int, list[tuple[int, Ids, np.ndarray]]] = {}
    for number, ids in zip(numbers, workgroups.ids(numbers).T, strict=True):
        own_ids: Ids = tuple(int(each) for each in ids)  # type: ignore[assignment]
        key, first = probe(own_ids)
        by_key.setdefault(key, []).append((int(number), own_ids, first))
        if sum(len(each) * len(each[0][2]) for each in by_key.values()) > _MOST_MOVES:
            return None
    groups = []
    for members in by_key.values():
        table = np.stack([first for _, _, first in members]) - members[0][2]
        moves, move = np.unique(table, axis=1, return_inverse=True)
        its_numbers = np.array([number for number, _, _ in members], np.int64)
        groups.append(Alike(its_numbers, probe.accesses(members[0][1]), move.ravel(), moves.T))
    return groups
