"""Pairs of instructions that correspond in two sequences that are mostly the same; time grows with their length.

Two steps, as diff tools do it for text. Runs of instructions that occur once on each side are anchors (`_anchored`);
what lies between two anchors is matched along the shortest edit path, or a good one where that is too costly
(`_edited`, Myers 1986). Both go from strict to loose: equal texts, then texts that differ in registers and numbers only
(`shape_of`), then mnemonics. A part of the two sequences that is not matched yet is a gap.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

_REGISTERS = re.compile(r"\b([vsa]|ttmp)(\d{1,9}|\[\d{1,9}(?::\d{1,9})?\])")
_NUMBERS = re.compile(r"\b(0x[0-9a-fA-F]+|\d+(?:\.\d+)?)\b")
_RANGE = re.compile(r"\[(\d{1,9}):(\d{1,9})\]")
_WAIT = re.compile(r"\w*s_wait")
_LONG_RUN, _SHORT_RUN = 8, 3  #: Instructions of an anchor: long runs come first, they are hardly ever wrong.
_MNEMONIC_RUN = 6  #: Mnemonics of an anchor: more than of texts, because they repeat more often.
_ROUNDS = 8  #: Rounds of anchors: a run that is not unique in a gap can be unique in a part of it.
_SMALL_GAP = 24  #: In a gap of at most so many instructions no anchors are searched.
_NEAR = 64  #: A scheduler moves an instruction at most so many instructions from its place.
_UNREACHED = -(1 << 40)  #: A place that no edit path has come to: less than any place.
#: Edits after which the search for the shortest edit path settles for the best one so far and starts again there.
_EDIT_LIMIT = 64

Pair = tuple[int, int]  #: Place in the left sequence, place in the right one.


class _Gap(NamedTuple):
    """left[left_start:left_end] has not been matched with right[right_start:right_end] yet."""

    left_start: int
    left_end: int
    right_start: int
    right_end: int

    @property
    def is_large(self) -> bool:
        """True if looking for anchors pays."""
        return max(self.left_end - self.left_start, self.right_end - self.right_start) > _SMALL_GAP


class _Codes(NamedTuple):
    """Both sequences as numbers: the same number for instructions that count as equal."""

    left: list[int]
    right: list[int]


def align(left: Sequence[str], right: Sequence[str]) -> list[Pair]:
    """Pairs (index in left, index in right) of instructions that correspond; both indices only grow.

    >>> align(["s_nop 0", "v_mov_b32 v1, 0", "s_endpgm"], ["s_nop 0", "s_endpgm"])
    [(0, 0), (2, 1)]
    """
    if list(left) == list(right):
        return [(at, at) for at in range(len(left))]
    texts, shapes, mnemonics = (_numbered(left, right, key) for key in (str, shape_of, _mnemonic))
    pairs: list[Pair] = []
    gaps = [_Gap(0, len(left), 0, len(right))]
    strictest_first = (
        (texts, _LONG_RUN), (shapes, _LONG_RUN), (texts, _SHORT_RUN), (shapes, _SHORT_RUN), (mnemonics, _MNEMONIC_RUN)
    )  # fmt: skip
    for codes, run_length in strictest_first:
        gaps = _anchored(codes, run_length, gaps, pairs)
    for codes in (shapes, mnemonics):
        gaps = [part for gap in gaps for part in _edited(codes, gap, pairs)]
    return sorted(pairs)


def moved(left: Sequence[str], right: Sequence[str], pairs: Sequence[Pair]) -> list[Pair]:
    """Further pairs, of instructions that `align` left over because they stand in another order.

    What is left on each side is aligned again, with runs of at least three instructions that are unique there: blocks
    that moved. Then single instructions of equal text, shape or mnemonic are paired in their order if they stand
    near each other, as a compiler's scheduler leaves them.
    """
    matched = dict(pairs)
    for _ in range(_ROUNDS):
        left_places, right_places = _unmatched(matched, left, right)
        new_pairs = _runs([left[at] for at in left_places], [right[to] for to in right_places])
        matched.update((left_places[at], right_places[to]) for at, to in new_pairs)
        if not new_pairs:
            break
    for key in (str, shape_of, _mnemonic):
        matched.update(_nearby(matched, left, right, key))
    return sorted(matched.items() - dict(pairs).items())


def _unmatched(matched: dict[int, int], left: Sequence[str], right: Sequence[str]) -> tuple[list[int], list[int]]:
    """Places of the left and of the right sequence that belong to no pair."""
    used = set(matched.values())
    return [at for at in range(len(left)) if at not in matched], [to for to in range(len(right)) if to not in used]


def _nearby(
    matched: dict[int, int], left: Sequence[str], right: Sequence[str], key: Callable[[str], str]
) -> list[Pair]:
    """Pairs of what is left over, of equal key and in the same order, at most _NEAR away from where it should be."""
    left_places, right_places = _unmatched(matched, left, right)
    places_of_key: dict[str, list[int]] = {}  # the next one last
    for to in reversed(right_places):
        places_of_key.setdefault(key(right[to]), []).append(to)
    pairs = []
    shift = 0  # of the last pair before: where an instruction that did not move would stand
    for at in range(len(left) if left_places else 0):
        if at in matched:
            shift = matched[at] - at
            continue
        places = places_of_key.get(key(left[at]), [])
        while places and places[-1] < at + shift - _NEAR:
            places.pop()
        if places and places[-1] <= at + shift + _NEAR:
            pairs.append((at, places.pop()))
    return pairs


def _runs(left: Sequence[str], right: Sequence[str]) -> list[Pair]:
    """Pairs of runs that are unique on both sides, and of what little lies between two of them."""
    pairs: list[Pair] = []
    texts, shapes = (_numbered(left, right, key) for key in (str, shape_of))
    gaps = [_Gap(0, len(left), 0, len(right))]
    for codes, run_length in ((texts, _LONG_RUN), (shapes, _LONG_RUN), (texts, _SHORT_RUN), (shapes, _SHORT_RUN)):
        gaps = [part for gap in gaps for part in _anchored_once(codes, run_length, gap, pairs)]
    if pairs:
        inner = [gap for gap in gaps if not gap.is_large and gap.left_start and gap.right_start]
        for codes in (shapes, _numbered(left, right, _mnemonic)):
            inner = [part for gap in inner for part in _edited(codes, gap, pairs)]
    return pairs


def shape_of(text: str) -> str:
    """An instruction without register numbers and immediates; widths of register ranges stay, and so do waits."""
    if _WAIT.match(text):
        return text

    def without_numbers(match: re.Match[str]) -> str:
        span = _RANGE.fullmatch(match[2])
        return f"{match[1]}[{int(span[2]) - int(span[1]) + 1}]" if span else match[1]

    mnemonic, space, operands = _REGISTERS.sub(without_numbers, text).partition(" ")
    return mnemonic + space + re.sub(r"(?<!\[)" + _NUMBERS.pattern, "#", operands)


def _mnemonic(text: str) -> str:
    """Waits keep the names of their counters: a wait that lets more through is still the same wait."""
    return _NUMBERS.sub("#", text) if _WAIT.match(text) else text.partition(" ")[0]


def _numbered(left: Sequence[str], right: Sequence[str], key: Callable[[str], str]) -> _Codes:
    """Numbers in place of texts, the same for texts of the same key."""
    numbers: dict[str, int] = {}

    @cache
    def number(text: str) -> int:
        return numbers.setdefault(key(text), len(numbers))

    return _Codes([number(text) for text in left], [number(text) for text in right])


def _anchored(codes: _Codes, run_length: int, gaps: list[_Gap], pairs: list[Pair]) -> list[_Gap]:
    """Match runs that are unique on both sides of each gap, again and again: adds to `pairs`, returns what remains."""
    finished: list[_Gap] = []
    for _ in range(_ROUNDS):
        divided: list[_Gap] = []
        for gap in gaps:
            count_before = len(pairs)
            parts = _anchored_once(codes, run_length, gap, pairs) if gap.is_large else [gap]
            (divided if len(pairs) > count_before else finished).extend(parts)
        gaps = divided
    return finished + gaps


def _anchored_once(codes: _Codes, run_length: int, gap: _Gap, pairs: list[Pair]) -> list[_Gap]:
    """One round of `_anchored` in one gap: unique runs, made as long as both sides agree, and the gaps between them."""
    left, right = codes
    gaps = []
    left_done, right_done = gap.left_start, gap.right_start
    for at, to in _increasing(_unique_runs(codes, run_length, gap)):
        if at < left_done or to < right_done:
            continue  # inside the run before
        left_start, right_start = at, to
        while left_start > left_done and right_start > right_done and left[left_start - 1] == right[right_start - 1]:
            left_start, right_start = left_start - 1, right_start - 1
        left_end, right_end = at + run_length, to + run_length
        while left_end < gap.left_end and right_end < gap.right_end and left[left_end] == right[right_end]:
            left_end, right_end = left_end + 1, right_end + 1
        pairs.extend(zip(range(left_start, left_end), range(right_start, right_end), strict=True))
        gaps.append(_Gap(left_done, left_start, right_done, right_start))
        left_done, right_done = left_end, right_end
    gaps.append(_Gap(left_done, gap.left_end, right_done, gap.right_end))
    return [part for part in gaps if part.left_start < part.left_end and part.right_start < part.right_end]


def _unique_runs(codes: _Codes, run_length: int, gap: _Gap) -> list[Pair]:
    """Places of runs that occur once on each side of the gap, in the order of the left side."""

    def places_of_runs(side: list[int], start: int, end: int) -> dict[tuple[int, ...], int]:
        places: dict[tuple[int, ...], int] = {}
        for at in range(start, end - run_length + 1):
            run = tuple(side[at : at + run_length])
            places[run] = -1 if run in places else at  # -1 = it occurs several times
        return places

    left = places_of_runs(codes.left, gap.left_start, gap.left_end)
    right = places_of_runs(codes.right, gap.right_start, gap.right_end)
    return sorted((at, right[run]) for run, at in left.items() if at >= 0 and right.get(run, -1) >= 0)


def _increasing(pairs: list[Pair]) -> list[Pair]:
    """The longest part of the pairs in which both numbers grow (patience sorting)."""
    tops: list[int] = []  # of each pile: the right place of its last pair,
    top_pairs: list[int] = []  # and the number of that pair
    before: list[int] = []  # of each pair: the pair on the pile before; -1 = none
    for number, (_, to) in enumerate(pairs):
        pile = bisect_left(tops, to)
        before.append(top_pairs[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(to)
            top_pairs.append(number)
        else:
            tops[pile], top_pairs[pile] = to, number
    chosen = []
    number = top_pairs[-1] if top_pairs else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]


def _edited(codes: _Codes, gap: _Gap, pairs: list[Pair]) -> list[_Gap]:
    """Match a gap along a short edit path: adds to `pairs`, returns what it leaves out on both sides."""
    left, right = codes.left[gap.left_start : gap.left_end], codes.right[gap.right_start : gap.right_end]
    matches: list[Pair] = []
    start = (0, 0)
    while start[0] < len(left) and start[1] < len(right):
        path, start = _edit_path(left, right, start)
        matches += path
    gaps = []
    left_done, right_done = gap.left_start, gap.right_start
    for at, to in [*matches, (len(left), len(right))]:  # the end closes the last gap
        left_at, right_at = gap.left_start + at, gap.right_start + to
        if left_done < left_at and right_done < right_at:
            gaps.append(_Gap(left_done, left_at, right_done, right_at))
        if at < len(left):
            pairs.append((left_at, right_at))
        left_done, right_done = left_at + 1, right_at + 1
    return gaps


class _EditSearch:
    """Myers' search for the shortest edit path between two sequences, from `start` on, round by round.

    Places are counted from `start`: x in the left, y in the right. A diagonal is x - y; an edit leaves out one element
    and so goes on to a neighbouring diagonal.
    """

    def __init__(self, left: list[int], right: list[int], start: Pair) -> None:
        self.left, self.right, self.start = left, right, start
        self.rest = (len(left) - start[0], len(right) - start[1])
        self.furthest = {1: 0}  #: Diagonal -> how far (x) it was read; the entry starts the first round at (0, 0).
        self.history: list[dict[int, int]] = []  #: `furthest` before each round.

    def step(self, diagonal: int, edits: int, furthest: dict[int, int]) -> tuple[int, bool]:
        """The x at which the last of `edits` edits reaches a diagonal, and whether it left out one of the right."""
        insert, delete = furthest.get(diagonal + 1, _UNREACHED), furthest.get(diagonal - 1, _UNREACHED) + 1
        from_right = diagonal == -edits or (diagonal != edits and delete - 1 < insert)
        return (insert if from_right else delete), from_right

    def round(self, edits: int) -> Pair:
        """Read as far as one more edit allows; the furthest point reached."""
        self.history.append(dict(self.furthest))
        best, (first, second) = (0, 0), self.start
        for diagonal in range(-edits, edits + 1, 2):
            x, _ = self.step(diagonal, edits, self.furthest)
            y = x - diagonal
            if x < 0 or y < 0 or x > self.rest[0] or y > self.rest[1]:
                self.furthest[diagonal] = _UNREACHED
                continue
            while x < self.rest[0] and y < self.rest[1] and self.left[first + x] == self.right[second + y]:
                x, y = x + 1, y + 1
            self.furthest[diagonal] = x
            best = max(best, (x, y), key=sum)
        return best

    def matches(self, end: Pair) -> list[Pair]:
        """The equal elements along the path that reached `end` in the last round, found from its end."""
        x, y = end
        pairs = []
        for edits in range(len(self.history) - 1, -1, -1):
            edit_x, from_right = self.step(x - y, edits, self.history[edits])
            while x > (edit_x if edits else 0):
                x, y = x - 1, y - 1
                pairs.append((self.start[0] + x, self.start[1] + y))
            if edits:
                x, y = (x, y - 1) if from_right else (x - 1, y)
        return pairs[::-1]


def _edit_path(left: list[int], right: list[int], start: Pair) -> tuple[list[Pair], Pair]:
    """Matches along the shortest edit path from `start`, and where it ends: the end, or as far as the limit allows."""
    search = _EditSearch(left, right, start)
    end = (0, 0)
    for edits in range(_EDIT_LIMIT + 1):
        end = search.round(edits)
        if end == search.rest:
            break
    return search.matches(end), (start[0] + end[0], start[1] + end[1])
