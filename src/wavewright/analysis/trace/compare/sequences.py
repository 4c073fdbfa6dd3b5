"""Matches two sequences of instructions that are mostly the same, in time that grows with their length."""

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
_ROUNDS = 8
_SMALL_GAP = 24
_NEAR = 64
_NOWHERE = -(1 << 40)
#: Edits after which the search for the shortest edit path settles for the best one so far and starts again there.
_EDIT_LIMIT = 64


class _Gap(NamedTuple):
    """left[begin:end] has not been matched with right[first:last] yet."""

    begin: int
    end: int
    first: int
    last: int


def align(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs (index in left, index in right) of instructions that correspond; both indices only grow.

    Runs of instructions that are unique on both sides are matched first, longest context first: equal texts, then
    texts that differ in registers and numbers only, then mnemonics. What lies between is matched by the shortest
    edit path, or a good one where the shortest is too costly to find.

    >>> align(["s_nop 0", "v_mov_b32 v1, 0", "s_endpgm"], ["s_nop 0", "s_endpgm"])
    [(0, 0), (2, 1)]
    """
    if list(left) == list(right):
        return [(at, at) for at in range(len(left))]
    texts, shapes, words = (_numbered(left, right, key) for key in (str, shape_of, _mnemonic))
    pairs: list[tuple[int, int]] = []
    gaps = [_Gap(0, len(left), 0, len(right))]
    for codes, width in ((texts, 8), (shapes, 8), (texts, 3), (shapes, 3), (words, 6)):
        gaps = _anchored(codes, width, gaps, pairs)
    for codes in (shapes, words):
        gaps = [part for gap in gaps for part in _edited(codes, gap, pairs)]
    return sorted(pairs)


def moved(left: Sequence[str], right: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Further pairs, of instructions that `align` left over because they stand in another order.

    What is left on each side is aligned again, with runs of at least three instructions that are unique there: blocks
    that moved. Then single instructions of equal text, shape or mnemonic are paired in their order if they stand
    near each other, as a compiler's scheduler leaves them.
    """
    matched = dict(pairs)
    for _ in range(_ROUNDS):
        unmatched = _left_over(matched, left, right)
        again = _runs([left[at] for at in unmatched[0]], [right[to] for to in unmatched[1]])
        matched.update((unmatched[0][at], unmatched[1][to]) for at, to in again)
        if not again:
            break
    for key in (str, shape_of, _mnemonic):
        matched.update(_nearby(matched, left, right, key))
    return sorted(matched.items() - dict(pairs).items())


def _left_over(matched: dict[int, int], left: Sequence[str], right: Sequence[str]) -> tuple[list[int], list[int]]:
    used = set(matched.values())
    return [at for at in range(len(left)) if at not in matched], [to for to in range(len(right)) if to not in used]


def _nearby(
    matched: dict[int, int], left: Sequence[str], right: Sequence[str], key: Callable[[str], str]
) -> list[tuple[int, int]]:
    """Pairs of what is left over, of equal key and in the same order, at most _NEAR away from where it should be."""
    ours, theirs = _left_over(matched, left, right)
    waiting: dict[str, list[int]] = {}
    for to in reversed(theirs):
        waiting.setdefault(key(right[to]), []).append(to)
    pairs = []
    shift = 0
    for at in range(len(left) if ours else 0):
        if at in matched:
            shift = matched[at] - at
            continue
        places = waiting.get(key(left[at]), [])
        while places and places[-1] < at + shift - _NEAR:
            places.pop()
        if places and places[-1] <= at + shift + _NEAR:
            pairs.append((at, places.pop()))
    return pairs


def _runs(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of runs that are unique on both sides, and of what little lies between two of them."""
    pairs: list[tuple[int, int]] = []
    texts, shapes = (_numbered(left, right, key) for key in (str, shape_of))
    gaps = [_Gap(0, len(left), 0, len(right))]
    for codes, width in ((texts, 8), (shapes, 8), (texts, 3), (shapes, 3)):
        gaps = [part for gap in gaps for part in _anchored_once(codes, width, gap, pairs)]
    if pairs:
        words = _numbered(left, right, _mnemonic)
        inner = [gap for gap in gaps if not _is_large(gap) and gap.begin and gap.first]
        for codes in (shapes, words):
            inner = [part for gap in inner for part in _edited(codes, gap, pairs)]
    return pairs


def shape_of(text: str) -> str:
    """An instruction without register numbers and immediates; widths of register ranges stay, waits stay whole."""
    if _WAIT.match(text):
        return text

    def without_numbers(match: re.Match[str]) -> str:
        span = _RANGE.fullmatch(match[2])
        return f"{match[1]}[{int(span[2]) - int(span[1]) + 1}]" if span else match[1]

    folded = _REGISTERS.sub(without_numbers, text)
    mnemonic, space, operands = folded.partition(" ")
    return mnemonic + space + re.sub(r"(?<!\[)" + _NUMBERS.pattern, "#", operands)


def _mnemonic(text: str) -> str:
    """Waits keep the names of their counters: a wait that lets more through is still the same wait."""
    return _NUMBERS.sub("#", text) if _WAIT.match(text) else text.partition(" ")[0]


def _numbered(left: Sequence[str], right: Sequence[str], key: Callable[[str], str]) -> tuple[list[int], list[int]]:
    """Numbers in place of texts, the same for texts of the same key."""
    numbers: dict[str, int] = {}

    @cache
    def number(text: str) -> int:
        return numbers.setdefault(key(text), len(numbers))

    return [number(text) for text in left], [number(text) for text in right]


def _anchored(
    codes: tuple[list[int], list[int]], width: int, gaps: list[_Gap], pairs: list[tuple[int, int]]
) -> list[_Gap]:
    """Match runs of `width` that are unique on both sides of each gap, again and again; gives the gaps that remain."""
    finished: list[_Gap] = []
    for _ in range(_ROUNDS):
        divided: list[_Gap] = []
        for gap in gaps:
            count_before = len(pairs)
            parts = _anchored_once(codes, width, gap, pairs) if _is_large(gap) else [gap]
            (divided if len(pairs) > count_before else finished).extend(parts)
        gaps = divided
    return finished + gaps


def _is_large(gap: _Gap) -> bool:
    """True if looking for anchors pays; in small gaps the shortest edit path is found at once."""
    return max(gap.end - gap.begin, gap.last - gap.first) > _SMALL_GAP


def _anchored_once(
    codes: tuple[list[int], list[int]], width: int, gap: _Gap, pairs: list[tuple[int, int]]
) -> list[_Gap]:
    left, right = codes
    spans = []
    done = (gap.begin, gap.first)
    for at, to in _increasing(_unique_runs(codes, width, gap)):
        if at < done[0] or to < done[1]:
            continue  # inside the run before
        begin, first = at, to
        while begin > done[0] and first > done[1] and left[begin - 1] == right[first - 1]:
            begin, first = begin - 1, first - 1
        end, last = at + width, to + width
        while end < gap.end and last < gap.last and left[end] == right[last]:
            end, last = end + 1, last + 1
        spans.append(_Gap(begin, end, first, last))
        done = (end, last)
    gaps, done = [], (gap.begin, gap.first)
    for span in spans:
        pairs.extend(zip(range(span.begin, span.end), range(span.first, span.last), strict=True))
        gaps.append(_Gap(done[0], span.begin, done[1], span.first))
        done = (span.end, span.last)
    gaps.append(_Gap(done[0], gap.end, done[1], gap.last))
    return [part for part in gaps if part.begin < part.end and part.first < part.last]


def _unique_runs(codes: tuple[list[int], list[int]], width: int, gap: _Gap) -> list[tuple[int, int]]:
    """Places of runs of `width` that occur once on each side of the gap, in the order of the left side."""
    sides = []
    for side, begin, end in ((codes[0], gap.begin, gap.end), (codes[1], gap.first, gap.last)):
        places: dict[tuple[int, ...], int] = {}
        for at in range(begin, end - width + 1):
            run = tuple(side[at : at + width])
            places[run] = -1 if run in places else at
        sides.append(places)
    left, right = sides
    shared = ((at, right.get(run, -1)) for run, at in left.items() if at >= 0)
    return sorted((at, to) for at, to in shared if to >= 0)


def _increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs in which both numbers grow (patience sorting)."""
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for number, (_, to) in enumerate(pairs):
        pile = bisect_left(tops, to)
        before.append(top_pairs[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(to)
            top_pairs.append(number)
        else:
            tops[pile], top_pairs[pile] = to, number
    chosen = []
    at = top_pairs[-1] if top_pairs else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]


def _edited(codes: tuple[list[int], list[int]], gap: _Gap, pairs: list[tuple[int, int]]) -> list[_Gap]:
    """Match a gap along a short edit path; gives what it leaves out on both sides."""
    left, right = codes[0][gap.begin : gap.end], codes[1][gap.first : gap.last]
    gaps: list[_Gap] = []
    done_left = done_right = 0

    def leave(upto_left: int, upto_right: int) -> None:
        if done_left < upto_left and done_right < upto_right:
            begin, first = gap.begin + done_left, gap.first + done_right
            gaps.append(_Gap(begin, gap.begin + upto_left, first, gap.first + upto_right))

    start = (0, 0)
    while start[0] < len(left) and start[1] < len(right):
        matches, start = _edit_path(left, right, start)
        for at, to in matches:
            leave(at, to)
            pairs.append((gap.begin + at, gap.first + to))
            done_left, done_right = at + 1, to + 1
    leave(len(left), len(right))
    return gaps


class _Search:
    """Myers' search for the shortest edit path between two sequences, from (begin, first) on, step by step.

    `furthest` holds for each diagonal (elements of the left minus elements of the right) how far the left was read.
    """

    def __init__(self, left: list[int], right: list[int], begin: int, first: int) -> None:
        self.left, self.right, self.begin, self.first = left, right, begin, first
        self.rest = (len(left) - begin, len(right) - first)
        self.furthest = {1: 0}
        self.history: list[dict[int, int]] = []

    def step(self, diagonal: int, edits: int, reached: dict[int, int]) -> tuple[int, bool]:
        """Where the last edit on to this diagonal ends (in the left), and whether it took one from the right."""
        insert, delete = reached.get(diagonal + 1, _NOWHERE), reached.get(diagonal - 1, _NOWHERE) + 1
        from_right = diagonal == -edits or (diagonal != edits and delete - 1 < insert)
        return (insert if from_right else delete), from_right

    def round(self, edits: int) -> tuple[int, int]:
        """Read as far as one more edit allows; the furthest point reached."""
        self.history.append(dict(self.furthest))
        best = (0, 0)
        for diagonal in range(-edits, edits + 1, 2):
            x, _ = self.step(diagonal, edits, self.furthest)
            y = x - diagonal
            if x < 0 or y < 0 or x > self.rest[0] or y > self.rest[1]:
                self.furthest[diagonal] = _NOWHERE
                continue
            while x < self.rest[0] and y < self.rest[1] and self.left[self.begin + x] == self.right[self.first + y]:
                x, y = x + 1, y + 1
            self.furthest[diagonal] = x
            best = max(best, (x, y), key=sum)
        return best

    def matches(self, end: tuple[int, int]) -> list[tuple[int, int]]:
        """The equal elements along the path that reached `end` in the last round."""
        x, y = end
        pairs = []
        for edits in range(len(self.history) - 1, -1, -1):
            reached = self.history[edits]
            diagonal = x - y
            to, from_right = self.step(diagonal, edits, reached)
            stop = to if edits else 0
            while x > stop:
                x, y = x - 1, y - 1
                pairs.append((self.begin + x, self.first + y))
            if edits:
                x, y = (x, y - 1) if from_right else (x - 1, y)
        return pairs[::-1]


def _edit_path(
    left: list[int], right: list[int], start: tuple[int, int]
) -> tuple[list[tuple[int, int]], tuple[int, int]]:
    """Matches along the shortest edit path from `start`, and where it ends: the end, or as far as the limit allows."""
    search = _Search(left, right, *start)
    end = (0, 0)
    for edits in range(_EDIT_LIMIT + 1):
        end = search.round(edits)
        if end == search.rest:
            break
    return search.matches(end), (start[0] + end[0], start[1] + end[1])
